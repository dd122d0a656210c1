//! What happens, for those who were not there: logs, Kubernetes events, metrics.

use std::sync::Arc;

use rolewright_plan::engine::News;
use rolewright_plan::{Engine, Severity};

use crate::events::Teller;
use crate::metrics::Metrics;

/// Tells what the engine hears and does.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Where it counts.
    pub metrics: Arc<Metrics>,
    /// Who sends the events, if anybody.
    pub events: Option<Teller>,
}

impl Witness {
    /// Takes in what the manager says.
    pub fn hear(&self, engine: &Engine, news: &[News]) {
        for news in news {
            match news {
                News::Raised(module, diagnostic) => {
                    self.metrics.problem(module, diagnostic.code, true);
                    let (code, object) = (diagnostic.code.to_string(), diagnostic.object.to_string());
                    let message = diagnostic.message.as_str();
                    match diagnostic.code.severity() {
                        Severity::Note => tracing::info!(module, code, object, "{message}"),
                        Severity::Warning => tracing::warn!(module, code, object, "{message}"),
                        Severity::Error => tracing::error!(module, code, object, "{message}"),
                    }
                    if let Some(events) = &self.events {
                        let live = engine.snapshot().get(&diagnostic.object);
                        events.tell(module, diagnostic, live.map_or("", |live| &live.meta.uid));
                    }
                }
                News::Cleared(module, diagnostic) => {
                    self.metrics.problem(module, diagnostic.code, false);
                    let (code, object) = (diagnostic.code.to_string(), diagnostic.object.to_string());
                    tracing::info!(module, code, object, "no longer: {}", diagnostic.message);
                    if let Some(events) = &self.events {
                        events.is_over(diagnostic);
                    }
                }
                News::Converged(module, _, after) => self.metrics.converged(module, *after),
            }
        }
        for (module, keys) in engine.waiting() {
            self.metrics.waiting(module, keys);
        }
        for (module, writes) in engine.withheld() {
            self.metrics.withheld(module, writes);
        }
        for (kind, objects) in engine.snapshot().sizes() {
            self.metrics.known(kind, objects);
        }
    }
}
