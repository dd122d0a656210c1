//! What goes wrong is said in words that help.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tokio::net::TcpListener;

use crate::place::Place;
use crate::process::Manager;

/// Errors at the start end the process, with code 4 and one line.
pub(crate) async fn at_start(place: &Place) -> Result<()> {
    let (admin, stranger) = (place.kubeconfig(None)?, place.stranger()?);
    let nobody = place.kubeconfig_of("https://127.0.0.1:1")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let taken = listener.local_addr()?.to_string();
    let cases = [
        (&stranger, &[][..], "does not accept our credentials: Unauthorized"),
        (&nobody, &[], "the cluster `https://127.0.0.1:1/` cannot be reached: Connection refused"),
        (&admin, &["--context", "nowhere"], "the kubeconfig cannot be used: failed to load current context: nowhere"),
        (
            &admin,
            &["--lease-renew-deadline", "60"],
            "the duration of the lease must be longer than the deadline to renew",
        ),
        (
            &admin,
            &["--log-level", "loud=very"],
            "`loud=very` is no filter for logs: error parsing level filter: expected one of \"off\", \"error\", \"warn\", \
            \"info\", \"debug\", \"trace\", or a number 0-5; hint: `info`",
        ),
        (
            &admin,
            &["--otlp-endpoint", "https://a:4318"],
            "`https://a:4318` is no plain HTTP address of a collector; hint: ",
        ),
    ];
    for (kubeconfig, arguments, expected) in cases {
        let ended = Manager::spawn(run("127.0.0.1:0", kubeconfig, arguments))?.ended().await?;
        ensure!(ended.code == Some(4) && ended.last().contains(expected), "{expected}: {ended:#?}");
        ensure!(ended.last().starts_with("error: "), "{ended:#?}");
    }
    let ended = Manager::spawn(run(&taken, &admin, &["--lease-name", "taken"]))?.ended().await?;
    drop(listener);
    let expected = format!("error: the port is in use: cannot listen on `{taken}`");
    let is_told =
        ended.last().starts_with(&expected) && ended.last().ends_with("; hint: --listen ADDRESS chooses another");
    ensure!(ended.code == Some(4) && is_told, "{ended:#?}");
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/taken";
    ensure!(place.get(lease).await?.is_none(), "who cannot start takes no lease");
    Ok(())
}

fn run(listen: &str, kubeconfig: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
    command.args(["run", "--listen", listen]).args(arguments).arg("--kubeconfig").arg(kubeconfig);
    command
}

/// What may be mended while it runs is said once, and tried again.
pub(crate) async fn at_work(place: &Place) -> Result<()> {
    let manager = Manager::start(&place.kubeconfig(Some("nobody"))?, &["--lease-name", "at-work"])?;
    let line = manager.says("cannot watch clusterroles").await?;
    let message = line["message"].as_str().context("a text")?;
    ensure!(message.contains("User \"nobody\" cannot list resource \"clusterroles\""), "{line}");
    let command =
        "rolewright manifests rbac --modules aggregation --aggregation exclusive --namespace default --lease at-work";
    ensure!(line["level"] == "ERROR" && line["hint"].as_str().is_some_and(|hint| hint.contains(command)), "{line}");
    let line = manager.says("the lease could not be read or written").await?;
    let error = line["error"].as_str().context("a text")?;
    ensure!(error.contains("User \"nobody\" cannot get resource \"leases\""), "{line}");
    ensure!(
        error.contains("`rolewright manifests rbac --namespace default --lease at-work` prints the role"),
        "{line}"
    );
    let (status, why) = manager.ask("/readyz").await?;
    ensure!(status == 503 && why.contains("clusterroles: ") && why.contains("cannot list resource"), "{why}");
    manager.end_well().await?;

    let manager = Manager::start(&place.kubeconfig(None)?, &["--lease-namespace", "nowhere"])?;
    let line = manager.says("the lease could not be read or written").await?;
    let error = line["error"].as_str().context("a text")?;
    ensure!(error.contains("namespaces \"nowhere\" not found") && error.contains("--lease-namespace"), "{line}");
    manager.end_well().await
}
