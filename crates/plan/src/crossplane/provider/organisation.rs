//! Who publishes a package, from the reference of its image.

use std::collections::BTreeMap;

use crate::Name;

/// A registry and the first part of the path in it: whoever may push there is one party.
pub(in crate::crossplane) fn organisation(image: &str) -> Option<Name> {
    let place = match image.split_once('@') {
        Some((place, digest)) => is_digest(digest).then_some(place)?,
        None => image,
    };
    let path_start = place.rfind('/').map_or(0, |slash| slash + 1);
    let (repository, tag) = match place.get(path_start..)?.find(':') {
        Some(colon) => (place.get(..path_start + colon)?, place.get(path_start + colon + 1..)),
        None => (place, None),
    };
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return None;
    }
    let (registry, path) = match repository.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (host, path),
        _ => ("", repository),
    };
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-./".contains(letter);
    if !(2..=255).contains(&path.len()) || !path.chars().all(allowed) || !is_host(registry) {
        return None;
    }
    let registry = if registry == "docker.io" { "index.docker.io" } else { registry };
    let path = path.split('/').next().filter(|first| !first.is_empty())?;
    Some(Name::new(format!("{registry}/{path}")))
}

fn is_digest(digest: &str) -> bool {
    digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit()))
}

fn is_tag(tag: &str) -> bool {
    (1..=127).contains(&tag.len()) && tag.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

fn is_host(registry: &str) -> bool {
    registry.chars().all(|c| c.is_ascii_alphanumeric() || "-.:[]".contains(c))
}

/// Which organisations count as one. Being one party is an equivalence: nobody is trusted half.
#[derive(Clone, Debug, Default)]
pub(in crate::crossplane) struct Trust {
    /// Organisations to the least of those that they are one with.
    parties: BTreeMap<Name, Name>,
}

impl Trust {
    pub(in crate::crossplane) fn new(groups: &[Vec<Name>]) -> Self {
        let mut parties: BTreeMap<Name, Name> = BTreeMap::new();
        for group in groups {
            // As images name them: a registry may have two names.
            let group: Vec<Name> =
                group.iter().map(|name| organisation(&format!("{name}/any")).unwrap_or_else(|| name.clone())).collect();
            let party = |name: &Name| parties.get(name).unwrap_or(name).clone();
            let merged: Vec<Name> = group.iter().map(party).collect();
            let Some(least) = merged.iter().min().cloned() else { continue };
            for name in group {
                parties.insert(name, least.clone());
            }
            for party in parties.values_mut().filter(|party| merged.contains(party)) {
                party.clone_from(&least);
            }
        }
        Self { parties }
    }

    /// Who publishes an image, as one name for all that count as one.
    pub(in crate::crossplane) fn party(&self, image: &str) -> Option<Name> {
        let organisation = organisation(image)?;
        Some(self.parties.get(&organisation).cloned().unwrap_or(organisation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organisation_is_a_registry_and_the_first_part_of_a_path() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (image, expected) in [
            ("xpkg.crossplane.io/crossplane-contrib/provider-aws:v1", Some("xpkg.crossplane.io/crossplane-contrib")),
            ("xpkg.crossplane.io/crossplane-contrib/a/b:v1", Some("xpkg.crossplane.io/crossplane-contrib")),
            ("crossplane/provider-aws", Some("/crossplane")),
            ("provider-aws", Some("/provider-aws")),
            ("localhost/acme/p", Some("localhost/acme")),
            ("reg.corp:5000/acme/p:1.0", Some("reg.corp:5000/acme")),
            (&format!("reg.corp/acme/p@{digest}"), Some("reg.corp/acme")),
            (&format!("reg.corp/acme/p:v1@{digest}"), Some("reg.corp/acme")),
            ("docker.io/acme/p", Some("index.docker.io/acme")),
            ("reg.corp/acme/p@sha256:00", None),
            ("reg.corp/acme/p:no good", None),
            ("reg.corp/Acme/p", None),
            ("reg corp/acme/p.x", None),
            ("reg.corp//p", None),
            ("", None),
        ] {
            assert_eq!(organisation(image).as_deref(), expected, "{image}");
        }
    }

    #[test]
    fn trust_is_an_equivalence() {
        let group = |names: &[&str]| names.iter().map(|&name| Name::new(name)).collect::<Vec<_>>();
        let trust = Trust::new(&[
            group(&["r.io/b", "r.io/a"]),
            group(&["r.io/d", "r.io/c"]),
            group(&["r.io/c", "r.io/b"]),
            group(&[]),
        ]);
        let party = |org: &str| trust.party(&format!("r.io/{org}/p"));
        for org in ["a", "b", "c", "d"] {
            assert_eq!(party(org), party("a"), "{org}");
        }
        assert_ne!(party("e"), party("a"));
        assert_eq!(trust.party("not an image"), None);
        let trust = Trust::new(&[group(&["docker.io/acme", "/acme"])]);
        assert_eq!(trust.party("docker.io/acme/p"), trust.party("acme/p"), "as users write it");
    }
}
