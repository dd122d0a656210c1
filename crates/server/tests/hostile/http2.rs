//! Abuse of HTTP/2, frame by frame.

use anyhow::{Context, Result, ensure};
use rolewright_server::tls::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::raw::{PATIENCE, ours};
use crate::{no_panics, turn};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET /healthz`, compressed as little as may be.
fn get() -> Vec<u8> {
    let mut block = vec![0x82, 0x87, 0x04, 8];
    block.extend_from_slice(b"/healthz");
    block.extend_from_slice(&[0x01, 9]);
    block.extend_from_slice(b"localhost");
    block
}

/// The frames of an attack; the streams are numbered by the client.
fn attacks() -> Vec<(&'static str, Vec<u8>)> {
    let streams = |count: u32| (0..count).map(|number| 2 * number + 1);
    let rapid: Vec<u8> = streams(20_000)
        .flat_map(|id| {
            [frame(HEADERS, END_STREAM | END_HEADERS, id, &get()), frame(RESET, 0, id, &8_u32.to_be_bytes())].concat()
        })
        .collect();
    let unfinished: Vec<u8> = streams(5000).flat_map(|id| frame(HEADERS, END_HEADERS, id, &get())).collect();
    let endless: Vec<u8> = frame(HEADERS, END_STREAM, 1, &get())
        .into_iter()
        .chain((0..20_000).flat_map(|_| frame(CONTINUATION, 0, 1, &[0x00, 1, b'a', 1, b'b'])))
        .collect();
    let bomb: Vec<u8> = {
        // One large field in the table, and references to it.
        let mut block = get();
        block.extend_from_slice(&[0x40, 1, b'x', 127, 0x81, 0x1e]);
        block.extend_from_slice(&[b'y'; 4000]);
        block.extend(std::iter::repeat_n(0xbe, 12_000));
        frame(HEADERS, END_STREAM | END_HEADERS, 1, &block)
    };
    vec![
        ("many streams", streams(5000).flat_map(|id| frame(HEADERS, END_STREAM | END_HEADERS, id, &get())).collect()),
        ("streams without an end", unfinished),
        ("rapid resets", rapid),
        ("headers without an end", endless),
        ("a bomb of headers", bomb),
        ("pings", (0..50_000).flat_map(|_| frame(PING, 0, 0, &[0; 8])).collect()),
        ("settings", (0..20_000).flat_map(|_| frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255])).collect()),
        ("empty data", (0..20_000).flat_map(|_| frame(DATA, 0, 1, &[])).collect()),
        ("a window too wide", (0..4).flat_map(|_| frame(WINDOW, 0, 0, &0x7fff_ffff_u32.to_be_bytes())).collect()),
        ("a frame too large", frame(DATA, 0, 1, &vec![0; 1 << 20])),
        ("rubbish", vec![0xff; 100_000]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn abuse_of_http2_harms_nobody_else() -> Result<()> {
    let _turn = turn().await;
    let (server, place, _end) = ours(Limits::default()).await?;
    let before = crate::watches::resident();
    for (title, frames) in attacks() {
        let stream = place.connect("h2").await?;
        let (mut reader, mut writer) = tokio::io::split(stream);
        // WHY: read beside writing, or both ends wait for each other.
        let reading = tokio::spawn(async move {
            let mut answer = Vec::new();
            let _ = reader.read_to_end(&mut answer).await;
            answer
        });
        let sent = async {
            // A connection that is closed on the attacker is an answer as well.
            let _ = writer.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await;
            let _ = writer.write_all(&frames).await;
            let _ = writer.flush().await;
            place.lives().await.with_context(|| format!("during {title}"))?;
            let _ = writer.shutdown().await;
            anyhow::Ok(())
        };
        timeout(PATIENCE, sent).await.with_context(|| format!("{title}: no end"))??;
        let answer = timeout(PATIENCE, reading).await.with_context(|| format!("{title}: no end"))??;
        let kinds = frame_kinds(&answer);
        let calm = ["many streams", "pings", "settings", "streams without an end"];
        ensure!(
            calm.contains(&title) || kinds.contains(&GO_AWAY) || kinds.contains(&RESET) || answer.len() < 200,
            "{title}: {kinds:?}"
        );
        place.lives().await.with_context(|| format!("after {title}"))?;
    }
    let grown = crate::watches::resident().saturating_sub(before);
    ensure!(grown < 96 << 20, "{grown} bytes more after all attacks");
    server.end();
    no_panics();
    Ok(())
}

fn frame_kinds(mut bytes: &[u8]) -> std::collections::BTreeSet<u8> {
    let mut kinds = std::collections::BTreeSet::new();
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        kinds.insert(*kind);
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        bytes = rest.get(length..).unwrap_or_default();
    }
    kinds
}
