//! What kubectl prints, without what differs from run to run.

/// The text with ids, versions, times, ages, addresses and tokens replaced, and columns by two spaces.
pub(super) fn plain(text: &str, address: &str) -> String {
    let text = text.replace(address, "<server>");
    let lines: Vec<String> = text.lines().map(|line| columns(&words(&long_times(&versions(line))))).collect();
    lines.join("\n")
}

/// Names and types of fields in an explanation, without the prose between them.
pub(super) fn fields(text: &str) -> String {
    let mut prose = false;
    let kept = text.lines().filter(|line| {
        prose = match *line {
            "DESCRIPTION:" => true,
            _ if !line.starts_with(' ') && line.ends_with(':') || line.starts_with("FIELD") => false,
            _ => prose,
        };
        let field = line.contains("\t<") || line.contains("enum: ") || line.starts_with("  ENUM");
        !prose && (field || !line.starts_with("    ")) && !line.trim().is_empty()
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Runs of spaces are as wide as the widest cell, which may be an age.
fn columns(line: &str) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut out = line.get(..indent).unwrap_or_default().to_owned();
    let mut spaces = 0;
    for c in line.trim_start_matches(' ').trim_end().chars() {
        if c == ' ' {
            spaces += 1;
            continue;
        }
        out.push_str(match spaces {
            0 => "",
            1 => " ",
            _ => "  ",
        });
        spaces = 0;
        out.push(c);
    }
    out
}

/// `resourceVersion: "12"`, in YAML or JSON.
fn versions(line: &str) -> String {
    let Some((before, after)) = line.split_once("resourceVersion") else { return line.to_owned() };
    let (between, value) = after.split_at(after.find(|c: char| !"\": ".contains(c)).unwrap_or(after.len()));
    let rest = value.trim_start_matches(|c: char| c.is_ascii_digit());
    let version = if rest.len() < value.len() { "<version>" } else { "" };
    format!("{before}resourceVersion{between}{version}{}", versions(rest))
}

/// `Mon, 16 Nov 2026 04:05:06 +0000`
fn long_times(line: &str) -> String {
    const LENGTH: usize = "Mon, 16 Nov 2026 04:05:06".len();
    match line.split_once(" +0000") {
        Some((before, after)) if before.len() >= LENGTH => {
            let start = before.get(..before.len() - LENGTH).unwrap_or_default();
            format!("{start}<time>{}", long_times(after))
        }
        _ => line.to_owned(),
    }
}

/// Replaces what a word is by itself.
fn words(line: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let part = |c: char| c.is_ascii_alphanumeric() || "-.:_+".contains(c);
    for c in line.chars().chain(['\n']) {
        if part(c) {
            word.push(c);
            continue;
        }
        out.push_str(&replaced(&word));
        word.clear();
        if c != '\n' {
            out.push(c);
        }
    }
    out
}

fn replaced(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':']);
    let kind = if is_uid(bare) {
        "<uid>"
    } else if is_time(bare) {
        "<time>"
    } else if is_age(bare) {
        "<age>"
    } else if is_address(bare) {
        "<address>"
    } else if bare.starts_with("eyJ") && bare.matches('.').count() == 2 {
        "<token>"
    } else {
        return word.to_owned();
    };
    format!("{kind}{}", word.strip_prefix(bare).unwrap_or_default())
}

fn is_uid(word: &str) -> bool {
    let lengths: Vec<usize> = word.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// `2026-11-16T04:05:06Z`
fn is_time(word: &str) -> bool {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape.starts_with("0000-00-00T00:00:00")
}

/// `5s`, `2m10s`, `3d`
fn is_age(word: &str) -> bool {
    let mut digits = 0;
    let fits = |c: char| match c {
        '0'..='9' => {
            digits += 1;
            true
        }
        's' | 'm' | 'h' | 'd' => std::mem::take(&mut digits) > 0,
        _ => false,
    };
    word.ends_with(['s', 'm', 'h', 'd']) && word.chars().all(fits)
}

/// Of four numbers, as services have.
fn is_address(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.len() == 4 && word.starts_with("10.") && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_replaced() {
        for (text, want) in [
            ("a   5s", "a  <age>"),
            ("NAME    AGE", "NAME  AGE"),
            ("  a 2m10s b", "  a <age> b"),
            ("uid: 0dd6ae29-6e59-4fee-9a1e-4ef4a0b3e7c6", "uid: <uid>"),
            ("  resourceVersion: \"123\"", "  resourceVersion: \"<version>\""),
            ("{\"resourceVersion\":\"123\",\"x\":5}", "{\"resourceVersion\":\"<version>\",\"x\":5}"),
            ("the resourceVersion of 5 pods", "the resourceVersion of 5 pods"),
            ("at 2026-11-16T04:05:06Z.", "at <time>."),
            ("Created: Mon, 16 Nov 2026 04:05:06 +0000", "Created: <time>"),
            ("https://127.0.0.1:5/x", "https://<server>/x"),
            ("10.96.1.1 v1.2.3.4", "<address> v1.2.3.4"),
            ("md5s 5", "md5s 5"),
        ] {
            assert_eq!(plain(text, "127.0.0.1:5"), want);
        }
    }
}
