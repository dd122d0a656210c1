//! Which entries of a kubeconfig are ours, by a mark that each of them carries.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

/// The lists whose entries have names, and what each entry holds.
const LISTS: [(&str, &str); 3] = [("clusters", "cluster"), ("contexts", "context"), ("users", "user")];

/// The extension that only we write.
const MARK: &str = "rolewright.io/up";

/// Whose an entry of ours is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command::up) struct Mark {
    pub(in crate::command::up) server: String,
    /// The folder that keeps its cluster; without one, the entry is good as long as the process lives.
    pub(in crate::command::up) data: Option<String>,
    pub(in crate::command::up) process: u32,
}

impl Mark {
    fn of(list: (&str, &str), entry: &Value) -> Option<Self> {
        let extensions = entry.get(list.1)?.get("extensions")?.as_array()?;
        let mark = extensions.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(MARK))?;
        let mark = mark.get("extension")?;
        Some(Self {
            server: mark.get("server")?.as_str()?.to_owned(),
            data: mark.get("data").and_then(Value::as_str).map(str::to_owned),
            process: u32::try_from(mark.get("process")?.as_u64()?).ok()?,
        })
    }

    fn to_json(&self) -> Value {
        json!({ "name": MARK, "extension": { "server": self.server, "data": self.data, "process": self.process } })
    }
}

/// What we add.
pub(in crate::command::up) struct Ours {
    /// That of the cluster, the context and the user.
    pub(in crate::command::up) name: String,
    pub(super) mark: Mark,
    /// In the order of [`LISTS`].
    entries: Vec<Value>,
}

impl Ours {
    /// The entries of a kubeconfig that has no others.
    pub(in crate::command::up) fn new(name: String, mark: Mark, config: &Value) -> Self {
        let entry = |(list, held): (&str, &str)| {
            let mut entry = config.get(list).and_then(|list| list.get(0)).cloned().unwrap_or_default();
            if let Some(fields) = entry.get_mut(held).and_then(Value::as_object_mut) {
                fields.insert("extensions".to_owned(), json!([mark.to_json()]));
            }
            entry
        };
        Self { name, entries: LISTS.into_iter().map(entry).collect(), mark }
    }

    /// Whether another one cannot live where we do: it has our address, or our folder.
    pub(super) fn replaces(&self, other: &Mark) -> bool {
        other.server == self.mark.server || other.data.is_some() && other.data == self.mark.data
    }
}

/// A kubeconfig without entries of ours that are dead, and the same with those of now.
pub(super) fn merged(before: &Value, ours: &Ours, is_dead: impl Fn(&Mark) -> bool) -> Result<(Value, Value)> {
    let fields = match before {
        Value::Null => Map::new(),
        Value::Object(fields) if is_config(fields) => fields.clone(),
        _ => bail!("it is no kubeconfig; hint: choose another with --kubeconfig"),
    };
    for (list, _) in LISTS {
        if fields.get(list).is_some_and(|entries| !entries.is_array() && !entries.is_null()) {
            bail!("its `{list}` is no list; hint: choose another with --kubeconfig");
        }
    }
    let base = match before {
        Value::Null => Value::Null,
        _ => without_those(before, is_dead),
    };
    for (list, held) in LISTS {
        if entries(&base, list).iter().any(|entry| is_named(entry, &ours.name)) {
            bail!(
                "its {held} `{}` is not ours; hint: rename that one, or choose another with --kubeconfig, or another --port",
                ours.name
            );
        }
    }
    let mut merged = base.as_object().cloned().unwrap_or_default();
    for (name, value) in [("apiVersion", "v1"), ("kind", "Config")] {
        merged.entry(name).or_insert_with(|| json!(value));
    }
    for ((list, _), entry) in LISTS.into_iter().zip(&ours.entries) {
        let all = [entries(&base, list), std::slice::from_ref(entry)].concat();
        merged.insert(list.to_owned(), Value::Array(all));
    }
    let current = merged.get("current-context").and_then(Value::as_str).unwrap_or_default();
    if current.is_empty() {
        merged.insert("current-context".to_owned(), json!(ours.name));
    }
    Ok((base, Value::Object(merged)))
}

/// Whatever kubectl would take for one; nothing at all is one without entries.
fn is_config(fields: &Map<String, Value>) -> bool {
    match fields.get("kind") {
        Some(kind) => kind == "Config",
        None => fields.is_empty() || LISTS.iter().any(|(list, _)| fields.contains_key(*list)),
    }
}

/// A kubeconfig without the entries of this mark.
pub(super) fn without(config: &Value, mark: &Mark) -> Value {
    without_those(config, |found| found == mark)
}

fn without_those(config: &Value, goes: impl Fn(&Mark) -> bool) -> Value {
    let mut config = config.clone();
    let Some(fields) = config.as_object_mut() else { return config };
    let current = fields.get("current-context").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut is_gone = false;
    for (list, held) in LISTS {
        let Some(entries) = fields.get_mut(list).and_then(Value::as_array_mut) else { continue };
        entries.retain(|entry| {
            let goes = Mark::of((list, held), entry).is_some_and(|mark| goes(&mark));
            is_gone |= goes && list == "contexts" && is_named(entry, &current);
            !goes
        });
    }
    if is_gone {
        fields.insert("current-context".to_owned(), json!(""));
    }
    config
}

/// Whether there is nothing in it that anybody could use.
pub(super) fn is_empty(config: &Value) -> bool {
    LISTS.iter().all(|(list, _)| entries(config, list).is_empty())
}

fn entries<'a>(config: &'a Value, list: &str) -> &'a [Value] {
    config.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_named(entry: &Value, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(name: &str) -> Value {
        json!({
            "clusters": [{"name": name, "cluster": {"server": "https://127.0.0.1:6443"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "users": [{"name": name, "user": {"token": "t"}}],
            "current-context": name,
        })
    }

    fn mark(port: u16, data: Option<&str>, process: u32) -> Mark {
        Mark { server: format!("https://127.0.0.1:{port}"), data: data.map(str::to_owned), process }
    }

    fn ours(name: &str, mark: Mark) -> Ours {
        Ours::new(name.to_owned(), mark, &config(name))
    }

    fn add(before: &Value, ours: &Ours) -> Value {
        merged(before, ours, |mark| ours.replaces(mark)).unwrap().1
    }

    #[test]
    fn others_stay_and_ours_comes_and_goes() {
        let mut theirs = config("prod");
        theirs["kind"] = json!("Config");
        theirs["apiVersion"] = json!("v1");
        theirs["preferences"] = json!({"colors": true});
        let ours = ours("rolewright", mark(6443, None, 7));
        let mut both = add(&theirs, &ours);
        assert_eq!((&both["current-context"], both["users"].as_array().unwrap().len()), (&json!("prod"), 2));
        assert_eq!(add(&both, &ours), both, "a second time changes nothing");
        both["contexts"][1]["context"]["namespace"] = json!("shop");
        assert_eq!(without(&both, &ours.mark), theirs, "also after somebody changed a part of it");
        assert_eq!(without(&both, &mark(6443, None, 8)), both, "what another process put there");
    }

    #[test]
    fn what_has_no_current_context_gets_ours() {
        let ours = ours("rolewright", mark(6443, None, 7));
        for before in [Value::Null, json!({}), json!({"clusters": null, "current-context": ""})] {
            let both = add(&before, &ours);
            assert_eq!(both["current-context"], "rolewright");
            let after = without(&both, &ours.mark);
            assert!(after["current-context"] == "" && is_empty(&after), "{after}");
        }
    }

    #[test]
    fn what_is_left_for_nothing_goes() {
        let dead = ours("rolewright-1", mark(1, Some("/data"), 6));
        let other = ours("rolewright-2", mark(2, Some("/other"), 6));
        let before = add(&add(&Value::Null, &dead), &other);
        let both = add(&before, &ours("rolewright-3", mark(3, Some("/data"), 7)));
        let names: Vec<&Value> = both["contexts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["rolewright-2", "rolewright-3"], "its folder is ours now");
        assert_eq!(both["current-context"], "rolewright-3", "it was the current one");
    }

    #[test]
    fn what_is_no_kubeconfig_or_has_another_of_our_name_is_left_alone() {
        let alone = |list: &str| json!({ list: config("rolewright")[list] });
        for (before, words) in [
            (json!([1]), "it is no kubeconfig; hint: "),
            (json!({"replicas": 3}), "it is no kubeconfig; hint: "),
            (json!({"kind": "List", "clusters": []}), "it is no kubeconfig; hint: "),
            (json!({"clusters": "all"}), "its `clusters` is no list; hint: "),
            (alone("clusters"), "its cluster `rolewright` is not ours; hint: "),
            (alone("contexts"), "its context `rolewright` is not ours; hint: "),
            (alone("users"), "its user `rolewright` is not ours; hint: "),
        ] {
            let error = merged(&before, &ours("rolewright", mark(6443, None, 7)), |_| true).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
