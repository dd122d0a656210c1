//! A cluster as it is now: all objects of some kinds, read once.

use std::fmt;

use kube::api::ListParams;
use kube::{Api, Client};
use rolewright_plan::{Event, Kind, Live};

use crate::raw::{Raw, resource};
use crate::served::Versions;

/// How many objects are read at once.
const PAGE: u32 = 500;

/// What was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// News for an engine: all objects of each kind, or that it is not served.
    pub events: Vec<Event>,
    /// What could not be read, so that an answer may be wrong.
    pub missing: Vec<Missing>,
}

/// Objects that we may not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Of which kind.
    pub kind: &'static Kind,
    /// The server's words.
    pub why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be read: {}", self.kind.plural, self.why)
    }
}

/// Reads all objects of these kinds. What we may not read is missing; if the server does not answer, there is no answer.
pub async fn load(client: &Client, kinds: impl IntoIterator<Item = &'static Kind>) -> kube::Result<Loaded> {
    let versions = Versions::default();
    let mut loaded = Loaded::default();
    for kind in kinds {
        let Some(version) = versions.find(client, kind).await? else {
            loaded.events.push(Event::Unserved(kind));
            continue;
        };
        let api: Api<Raw> = Api::all_with(client.clone(), &resource(kind, version));
        let objects = match list(&api).await {
            Ok(objects) => objects,
            Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403) => {
                loaded.missing.push(Missing { kind, why: status.message.clone() });
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        let read = objects.iter().filter_map(|raw| match Live::parse(kind, raw.text()) {
            Ok(live) => Some(live),
            Err(error) => {
                loaded.missing.push(Missing { kind, why: error.to_string() });
                None
            }
        });
        let all = Event::All(kind, read.collect());
        loaded.events.push(all);
    }
    Ok(loaded)
}

async fn list(api: &Api<Raw>) -> kube::Result<Vec<Raw>> {
    let mut objects = Vec::new();
    let mut params = ListParams::default().limit(PAGE);
    loop {
        match api.list(&params).await {
            Ok(page) => {
                objects.extend(page.items);
                match page.metadata.continue_.filter(|next| !next.is_empty()) {
                    Some(next) => params = params.continue_token(&next),
                    None => return Ok(objects),
                }
            }
            // The pages are too old to go on with: all at once, then.
            Err(kube::Error::Api(status)) if status.code == 410 && params.continue_token.is_some() => {
                return Ok(api.list(&ListParams::default()).await?.items);
            }
            Err(error) => return Err(error),
        }
    }
}
