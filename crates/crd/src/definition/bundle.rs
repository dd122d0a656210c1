//! Certificates in PEM, as far as it takes to tell some from none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Why a bundle, in base64, holds no certificate; in the words of Kubernetes' client.
pub(super) fn fault(bundle: &str) -> Option<String> {
    let bytes = STANDARD.decode(bundle).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let blocks: Vec<(&str, Option<Vec<u8>>)> = blocks(&text);
    let is_certificate = |block: &&(&str, Option<Vec<u8>>)| block.0 == "CERTIFICATE";
    let good = |(_, der): &(&str, Option<Vec<u8>>)| der.as_deref().is_some_and(is_certificate_der);
    if blocks.iter().filter(is_certificate).any(good) {
        return None;
    }
    let why = match blocks.iter().find(is_certificate) {
        Some(_) => "failed to parse certificate: x509: malformed certificate",
        None => "unable to parse bytes as PEM block",
    };
    Some(format!("unable to load root certificates: {why}"))
}

/// The blocks of a file: their labels, and what is in them where that is base64.
fn blocks(text: &str) -> Vec<(&str, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((label, body)) = after.split_once("-----") else { break };
        let end = format!("-----END {label}-----");
        let Some((body, more)) = body.split_once(&end) else {
            rest = after;
            continue;
        };
        let packed: String = body.split_whitespace().collect();
        found.push((label, STANDARD.decode(packed).ok()));
        rest = more;
    }
    found
}

/// A sequence of three parts, the first of which is a sequence, and nothing after it.
fn is_certificate_der(der: &[u8]) -> bool {
    let Some((0x30, inner, [])) = part(der) else { return false };
    let Some((0x30, _, rest)) = part(inner) else { return false };
    let Some((0x30, _, rest)) = part(rest) else { return false };
    matches!(part(rest), Some((0x03, _, [])))
}

/// The first value: its tag, its content, and what follows.
fn part(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(*first & 0x7f))?;
        let length = length.iter().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)));
        (length?, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}
