//! What an applier no longer wants goes, unless somebody else does.

use super::Request;
use super::element::Element;
use super::entries::Entry;
use super::merge::without;
use super::set::Set;
use super::to_set::{to_set, with_named_fields};
use super::versions::{Form, Unconverted};
use crate::strategy::Object;

/// Takes out what the manager applied last time and not this time, unless somebody else owns it.
pub(super) fn prune<'a>(
    request: &Request<'a>,
    merged: Object,
    last: &Entry<'a>,
    fields: &Set,
    others: &[Entry<'a>],
) -> Result<Object, String> {
    if nothing_goes(request, last, fields, others) {
        return Ok(merged);
    }
    let own = Form::own(request, &merged);
    let then = |why: Unconverted, what: &str| match why {
        Unconverted::Missing => format!("{what}: no such version"),
        Unconverted::Failed(why) => format!("{what}: {why}"),
    };
    let merged = own
        .at(request, last.version)
        .map_err(|why| then(why, "failed to convert merged object to last applied version"))?;
    let set = with_named_fields(merged.place, &last.set);
    let mut pruned = merged.with(without(merged.place, &merged.object, &set));
    let fields_of = |form: &Form<'_, '_>| with_named_fields(form.place, &to_set(form.place, &form.object));

    // What somebody owns comes back, in each version in which somebody does.
    let mut versions: Vec<&str> = others.iter().map(|entry| entry.version).chain([request.api_version]).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.sort_by_key(|version| *version != last.version);
    let all = fields_of(&merged);
    let mut whole = merged.clone();
    for version in versions {
        let failed = |why, what: &str| {
            then(why, &format!("failed add back owned items: failed to convert {what} object at version {version}"))
        };
        let at = whole.at(request, version).map_err(|why| failed(why, "merged"))?;
        let kept = pruned.at(request, version).map_err(|why| failed(why, "pruned"))?;
        let owners = others.iter().filter(|entry| entry.version == version).map(|entry| entry.set.clone());
        let own = (version == request.api_version).then(|| fields.clone());
        let owned = Set::union_all(owners.chain(own).collect());
        let mut unowned = if version == last.version { all.clone() } else { fields_of(&at) };
        unowned.subtract(&fields_of(&kept).union(with_named_fields(at.place, &owned)));
        pruned = at.with(without(at.place, &at.object, &unowned));
        // No copy where nobody used another version.
        if version != whole.version {
            whole = at.into_owned();
        }
    }

    let pruned = pruned.at(request, last.version).map_err(|why| {
        then(why, "failed add back dangling items: failed to convert pruned object to last applied version")
    })?;
    let mut gone = all;
    gone.subtract(&fields_of(&pruned));
    let pruned = merged.with(without(merged.place, &merged.object, &gone.intersection(&set)));
    let pruned = pruned.at(request, request.api_version).map_err(|why| match why {
        Unconverted::Missing => "no such version".to_owned(),
        Unconverted::Failed(why) => why,
    })?;
    Ok(pruned.object.into_owned())
}

/// Whether everything that was applied last time is applied again, in the one version that everybody uses. Items of
/// keyed lists must say something of their own: one that says nothing is lost with the fields that nobody owns.
fn nothing_goes(request: &Request<'_>, last: &Entry<'_>, fields: &Set, others: &[Entry<'_>]) -> bool {
    others.iter().chain([last]).all(|entry| entry.version == request.api_version) && holds(fields, &last.set)
}

fn holds(fields: &Set, part: &Set) -> bool {
    part.nodes.iter().all(|node| {
        fields.get(&node.element).is_some_and(|held| {
            let told_apart = !matches!(node.element, Element::Key(_)) || !held.children.is_empty();
            held.member >= node.member && told_apart && holds(&held.children, &node.children)
        })
    })
}
