//! Image references: whether one means `latest`.

/// How often an image is pulled when nobody said it.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") { "Always" } else { "IfNotPresent" }
}

/// The tag of a well-formed reference; `latest` where neither tag nor digest is given.
fn tag(image: &str) -> Option<&str> {
    let is_identifier = image.len() == 64 && image.bytes().all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9'));
    if is_identifier {
        return None;
    }
    let (domain, remainder) = split_domain(image);
    let remote = remainder.split(':').next().unwrap_or_default();
    if remote.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let (named, digest) = match remainder.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (remainder, None),
    };
    let last_segment = named.rfind('/').map_or(0, |slash| slash + 1);
    let (path, tag) = match named.get(last_segment..)?.find(':') {
        Some(colon) => (named.get(..last_segment + colon)?, Some(named.get(last_segment + colon + 1..)?)),
        None => (named, None),
    };
    if !is_name(domain, path) || !tag.is_none_or(is_tag) || !digest.is_none_or(is_digest) {
        return None;
    }
    match (tag, digest) {
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

/// The domain, where the first segment looks like one.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest))
            if first == "localhost"
                || first.contains(['.', ':'])
                || first.bytes().any(|byte| byte.is_ascii_uppercase()) =>
        {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn is_name(domain: Option<&str>, path: &str) -> bool {
    let fits = |length: usize| length <= 255;
    let path_is_good = path.split('/').all(is_path_component);
    match domain {
        // The domain and the path of official images count too.
        None => path_is_good && fits(path.len() + if path.contains('/') { 0 } else { "library/".len() }),
        Some("docker.io" | "index.docker.io") if !path.contains('/') => path_is_good && fits(path.len() + 8),
        Some(domain) if is_domain(domain) => path_is_good && fits(path.len()),
        Some(domain) => path_is_good && is_path_component(domain) && fits(domain.len() + 1 + path.len()),
    }
}

fn is_domain(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let good = !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
            return good && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_number));
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_component = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    host.split('.').all(is_component) && port.is_none_or(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lower-case letters and digits with single dots, one or two underscores, or dashes between them.
fn is_path_component(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !text.starts_with(is_letter) || !text.ends_with(is_letter) {
        return false;
    }
    text.split(is_letter).all(|gap| matches!(gap, "" | "." | "_" | "__") || gap.bytes().all(|byte| byte == b'-'))
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=128).contains(&text.len())
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, digits)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    digits.len() == length && digits.bytes().all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9'))
}
