//! When somebody wants us to end.

use tokio::signal::unix::{SignalKind, signal};

/// Done at Ctrl-C or SIGTERM.
pub(crate) async fn ended() {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
