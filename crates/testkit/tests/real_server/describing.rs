//! The OpenAPI documents of the embedded server: everything but the prose is Kubernetes'.

use anyhow::{Context, Result, ensure};
use rolewright_server::{Server, Settings, admin};
use rolewright_testkit::apiserver::Client;
use rolewright_testkit::openapi::without_prose;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

pub(crate) fn documents_are_the_servers(client: &mut Client) -> Result<()> {
    let ours = Ours::start()?;
    let our_index = ours.get("/openapi/v3")?;
    let answer = client.get("/openapi/v3")?;
    ensure!(answer.status == 200, "{answer:?}");
    let (mut schemas, mut operations, mut found) = (0, 0, Vec::new());
    for (name, place) in our_index["paths"].as_object().context("no index")? {
        let our = without_prose(ours.get(address(place)?)?);
        let place = answer.body["paths"].get(name).with_context(|| format!("Kubernetes has no `{name}`"))?;
        let their = without_prose(client.get(address(place)?)?.body);
        schemas += our["components"]["schemas"].as_object().map_or(0, Map::len);
        let items = our["paths"].as_object().context("no paths")?.values().filter_map(Value::as_object);
        operations += items.map(|item| item.keys().filter(|key| *key != "parameters").count()).sum::<usize>();
        differences(name, &our, &their, &mut found);
    }
    ensure!(found.is_empty(), "ours and theirs:\n{}", found.join("\n"));
    ensure!(schemas > 1000 && operations > 690, "only {schemas} schemas and {operations} operations");
    Ok(())
}

fn address(place: &Value) -> Result<&str> {
    place["serverRelativeURL"].as_str().context("no address")
}

/// The embedded server, in this process.
struct Ours {
    runtime: Runtime,
    client: kube::Client,
}

impl Ours {
    fn start() -> Result<Self> {
        let runtime = Runtime::new()?;
        let client = {
            let _entered = runtime.enter();
            kube::Client::new(Server::start(Settings::default())?.router_as(admin()), "default")
        };
        Ok(Self { runtime, client })
    }

    fn get(&self, path: &str) -> Result<Value> {
        let request = http::Request::get(path).body(Vec::new())?;
        let text = self.runtime.block_on(self.client.request_text(request))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Every place where two documents differ.
fn differences(at: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(our), Value::Object(their)) => {
            for (key, value) in our {
                match their.get(key) {
                    Some(other) => differences(&format!("{at} > {key}"), value, other, found),
                    None => found.push(format!("{at} > {key}: only ours")),
                }
            }
            let missing = their.keys().filter(|key| !our.contains_key(*key));
            found.extend(missing.map(|key| format!("{at} > {key}: only theirs")));
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{at}: {ours} is {theirs}")),
    }
}
