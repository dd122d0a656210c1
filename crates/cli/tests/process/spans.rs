//! Spans reach a collector.

use anyhow::{Context, Result, ensure};

use crate::collector::Collector;
use crate::front::{Front, Journal};
use crate::place::{Place, ROLES, gathered, gathering, numbered};
use crate::process::Manager;

/// A reconcile and its writes, with what came of them; what is left is sent at the end.
pub(crate) async fn sent(place: &Place) -> Result<()> {
    let collector = Collector::start().await?;
    let front = Front::new(place, "one", &Journal::default()).await?;
    let arguments = ["--lease-name", "spans", "--otlp-endpoint", collector.url.as_str()];
    let manager = Manager::start(&place.kubeconfig_of(&front.url)?, &arguments)?;
    manager.until("/readyz", 200).await?;
    front.refuse(1);
    place.role("spans", gathering("spans")).await?;
    place.role("spans-part", gathered("spans-part", "spans", 1)).await?;
    place.until("the rules", &format!("{ROLES}/spans"), |role| role["rules"] == numbered(1)).await?;
    manager.end_well().await?;
    let spans = collector.spans();
    let about = |name: &str, attribute: &str| {
        let spans = spans.iter().filter(|span| span.name == name && span.get(attribute) == Some("ClusterRole/spans"));
        spans.cloned().collect::<Vec<_>>()
    };
    let reconciles = about("reconcile", "key");
    ensure!(
        !reconciles.is_empty() && reconciles.iter().all(|span| span.get("module") == Some("aggregation")),
        "{spans:#?}"
    );
    let writes = about("write", "object");
    ensure!(writes.iter().all(|write| reconciles.iter().any(|reconcile| reconcile.id == write.parent)), "{spans:#?}");
    let of = |outcome: &str| writes.iter().find(|write| write.get("outcome") == Some(outcome));
    let (well, refused) = (of("ok").context("a write")?, of("conflict").context("a refused write")?);
    ensure!(well.get("verb").is_some() && !well.failed && refused.failed, "{spans:#?}");
    let requests = spans.iter().filter(|span| span.parent == well.id).count();
    ensure!(requests > 0, "the request is a span as well: {spans:#?}");
    Ok(())
}
