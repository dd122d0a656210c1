//! Our context in somebody's kubeconfig: it comes and goes, and everything else stays as it is.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rolewright_api::document::yaml;
use rolewright_server::kubeconfig::write_private;
use serde_json::{Value, json};

/// The lists whose entries have names.
const LISTS: [&str; 3] = ["clusters", "contexts", "users"];

/// Adds our entries to a file; returns whether its current context is ours.
pub(super) fn merge(path: &Path, ours: &Value, name: &str) -> Result<bool> {
    let path = target(path);
    let _lock = Lock::take(&path)?;
    let (merged, is_current) =
        merged(read(&path)?, ours, name).with_context(|| format!("cannot use the kubeconfig `{}`", path.display()))?;
    write(&path, &merged)?;
    Ok(is_current)
}

/// Takes our entries out of a file again, if they are still those that were put there.
pub(super) fn remove(path: &Path, ours: &Value, name: &str) -> Result<()> {
    let path = target(path);
    let _lock = Lock::take(&path)?;
    let before = read(&path)?;
    if entry(&before, "clusters", name) != entry(ours, "clusters", name) {
        return Ok(());
    }
    let after = without(before, name);
    // A file that held nothing else was made by us.
    let is_empty = LISTS.iter().all(|list| after.get(list).and_then(Value::as_array).is_none_or(Vec::is_empty));
    if is_empty {
        return fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()));
    }
    write(&path, &after)
}

/// What a link leads to: it is the file that is replaced, not the link.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn read(path: &Path) -> Result<Value> {
    match fs::read(path) {
        Ok(bytes) => {
            let yaml = yaml::parse(&bytes).map_err(anyhow::Error::msg);
            let yaml = yaml.with_context(|| format!("the kubeconfig `{}` is not YAML", path.display()))?;
            yaml.node.into_value().map_err(|number| anyhow!("the kubeconfig `{}` holds `{number}`", path.display()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(error).with_context(|| format!("cannot read the kubeconfig `{}`", path.display())),
    }
}

fn write(path: &Path, config: &Value) -> Result<()> {
    write_private(path, yaml::write(config).as_bytes()).with_context(|| {
        format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", path.display())
    })
}

fn entry<'a>(config: &'a Value, list: &str, name: &str) -> Option<&'a Value> {
    config.get(list)?.as_array()?.iter().find(|entry| is_named(entry, name))
}

fn is_named(entry: &Value, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

/// The file with our entries, and whether its current context is ours.
fn merged(before: Value, ours: &Value, name: &str) -> Result<(Value, bool)> {
    let mut config = match before {
        Value::Null => json!({ "apiVersion": "v1", "kind": "Config" }),
        config @ Value::Object(_) => config,
        _ => bail!("it is no kubeconfig; hint: choose another with --kubeconfig"),
    };
    let theirs = entry(&config, "clusters", name).and_then(|known| known.pointer("/cluster/server")?.as_str());
    if let Some(server) = theirs.filter(|server| !server.starts_with("https://127.0.0.1:")) {
        bail!("its `{name}` is another cluster, `{server}`; hint: rename that one, or choose another file");
    }
    let Some(fields) = config.as_object_mut() else { bail!("it is no kubeconfig") };
    for list in LISTS {
        let entries = fields.entry(list).or_insert_with(|| json!([]));
        if entries.is_null() {
            *entries = json!([]);
        }
        let Some(entries) = entries.as_array_mut() else { bail!("its `{list}` is no list") };
        entries.retain(|entry| !is_named(entry, name));
        entries.extend(entry(ours, list, name).cloned());
    }
    let current = fields.get("current-context").and_then(Value::as_str).unwrap_or_default();
    let is_current = current.is_empty() || current == name;
    if is_current {
        fields.insert("current-context".to_owned(), json!(name));
    }
    Ok((config, is_current))
}

fn without(mut config: Value, name: &str) -> Value {
    if let Some(fields) = config.as_object_mut() {
        for list in LISTS {
            if let Some(entries) = fields.get_mut(list).and_then(Value::as_array_mut) {
                entries.retain(|entry| !is_named(entry, name));
            }
        }
        if fields.get("current-context").and_then(Value::as_str) == Some(name) {
            fields.insert("current-context".to_owned(), json!(""));
        }
    }
    config
}

/// What kubectl takes before it changes the same file.
struct Lock(PathBuf);

impl Lock {
    fn take(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        for _ in 0..100 {
            match File::options().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Self(lock)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!(
                            "cannot write beside the kubeconfig `{}`; hint: choose another with --kubeconfig",
                            path.display()
                        )
                    });
                }
            }
        }
        bail!(
            "somebody is changing the kubeconfig `{}`; hint: if nobody is, remove `{}`",
            path.display(),
            lock.display()
        )
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(name: &str, server: &str) -> Value {
        json!({
            "clusters": [{"name": name, "cluster": {"server": server}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "users": [{"name": name, "user": {"token": "t"}}],
            "current-context": name,
        })
    }

    #[test]
    fn others_stay_and_ours_comes_and_goes() {
        let ours = config("rolewright", "https://127.0.0.1:6443");
        let mut theirs = config("prod", "https://prod.example.com");
        theirs["preferences"] = json!({"colors": true});
        let (merged_once, is_current) = merged(theirs.clone(), &ours, "rolewright").unwrap();
        assert!(!is_current);
        assert_eq!(merged_once["current-context"], "prod");
        assert_eq!(merged_once["users"].as_array().unwrap().len(), 2);
        let (again, _) = merged(merged_once.clone(), &ours, "rolewright").unwrap();
        assert_eq!(again, merged_once, "a second time changes nothing");
        assert_eq!(without(merged_once, "rolewright"), theirs);
    }

    #[test]
    fn a_file_without_a_current_context_gets_ours() {
        let ours = config("rolewright", "https://127.0.0.1:6443");
        for before in [Value::Null, json!({"clusters": null, "current-context": ""})] {
            let (merged, is_current) = merged(before, &ours, "rolewright").unwrap();
            assert!(is_current);
            assert_eq!(merged["current-context"], "rolewright");
        }
    }

    #[test]
    fn what_is_no_kubeconfig_or_holds_another_of_our_name_is_left_alone() {
        let ours = config("rolewright", "https://127.0.0.1:6443");
        let cases = [
            (json!([1]), "it is no kubeconfig"),
            (json!({"clusters": "all"}), "`clusters` is no list"),
            (config("rolewright", "https://prod.example.com"), "is another cluster, `https://prod.example.com`"),
        ];
        for (before, words) in cases {
            let error = merged(before, &ours, "rolewright").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
