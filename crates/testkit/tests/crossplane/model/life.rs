//! What may happen on any day.

use anyhow::Result;
use rolewright_testkit::random::Random;
use serde_json::{Value, json};

use super::world::{DEFINITIONS, NAMESPACES, PROVIDERS, made};
use crate::place::Place;
use crate::platform::{managed, namespace, served};

/// Something that Crossplane, a user, or somebody who should not, does.
pub(super) async fn act(users: &Place, dice: &mut Random) -> Result<()> {
    let definition = dice.of(&DEFINITIONS);
    let provider = dice.of(&PROVIDERS);
    match dice.below(20) {
        0..3 => drop(users.apply(&definition.object()).await?),
        3 => users.delete(&definition.object()).await?,
        4..7 => {
            users.apply(&provider.object()).await?;
            if !dice.one_in(3) {
                provider.establish(users).await?;
            }
            if !dice.one_in(3) {
                let deployment = provider.deployment(if dice.one_in(2) { "default" } else { "special" });
                users.apply(&provider.owned(users, deployment).await?).await?;
            }
        }
        7 => users.delete(&provider.object()).await?,
        8 => {
            let state = dice.of(&["Active", "Inactive"]);
            users.merge(&provider.object(), &json!({"spec": {"desiredState": state}})).await?;
        }
        9 => users.delete(&provider.deployment("")).await?,
        10 => {
            let refs: Vec<Value> = provider.status()["objectRefs"].as_array().into_iter().flatten().cloned().collect();
            let some: Vec<&Value> = refs.iter().filter(|_| dice.one_in(2)).collect();
            users.report(&provider.object(), &json!({"objectRefs": some})).await?;
        }
        11 => match provider.managed.first().filter(|_| dice.one_in(2)) {
            Some(name) => users.delete(&managed(name)).await?,
            None => users.delete(&served(dice.of::<&str>(provider.served))).await?,
        },
        12..15 => {
            let value = if dice.one_in(3) { Value::Null } else { json!("xrd-enabled") };
            let (key, value) = match definition.name() {
                long if long.len() > 63 => {
                    ("rbac.crossplane.io/xrds".to_owned(), value.as_str().map_or(Value::Null, |_| json!(long)))
                }
                name => (format!("rbac.crossplane.io/{name}"), value),
            };
            users
                .merge(&namespace(dice.of::<&str>(&NAMESPACES)), &json!({"metadata": {"annotations": {key: value}}}))
                .await?;
        }
        15 => {
            let paused = if dice.one_in(2) { json!("true") } else { Value::Null };
            let object = if dice.one_in(2) { definition.object() } else { provider.object() };
            users.merge(&object, &json!({"metadata": {"annotations": {"rolewright.io/paused": paused}}})).await?;
        }
        wound => hurt(users, dice, wound).await?,
    }
    Ok(())
}

/// Somebody lays hands on what the managers made.
async fn hurt(users: &Place, dice: &mut Random, wound: usize) -> Result<()> {
    let made = made(users).await?;
    if made.is_empty() {
        return Ok(());
    }
    let object = dice.of(&made);
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    let labels: Vec<&String> = labels.map(|(key, _)| key).filter(|key| key.starts_with("rbac.")).collect();
    match wound {
        16 => users.delete(object).await?,
        17 if object["kind"] == "ClusterRole" => drop(users.merge(object, &json!({"rules": []})).await?),
        17 => drop(users.merge(object, &json!({"subjects": []})).await?),
        18 if !labels.is_empty() => {
            let gone = json!({"metadata": {"labels": {dice.of(&labels).as_str(): null, "theirs": "yes"}}});
            users.merge(object, &gone).await?;
        }
        _ => drop(users.merge(object, &json!({"metadata": {"ownerReferences": null}})).await?),
    }
    Ok(())
}
