//! Who writes: one election for the manager, and one for each job that another controller may be doing.

use std::sync::Arc;

use kube::Client;
use rolewright_plan::kind::LEASE;
use rolewright_plan::{Module, ObjectRef, SharedLease};

use super::RunError;
use crate::lease::{self, Candidate, Leadership};
use crate::manager::Leading;
use crate::metrics::Metrics;
use crate::tasks::{Ended, Tasks};

/// The leases that decide who writes: the manager's own, and those of the controllers whose jobs its modules do.
pub(super) struct Elections {
    main: Option<(Candidate, Leading, Leadership)>,
    /// By the place of the module.
    shared: Vec<(usize, Candidate, Leading)>,
}

impl Elections {
    pub(super) fn called(
        client: &Client,
        modules: &[Box<dyn Module>],
        settings: Option<lease::Settings>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, RunError> {
        let Some(settings) = settings else { return Ok(Self { main: None, shared: Vec::new() }) };
        let call = |settings: lease::Settings| -> Result<_, RunError> {
            let object = ObjectRef::namespaced(&LEASE, settings.namespace.as_str(), settings.name.as_str());
            let (candidate, leadership) = lease::candidate(client.clone(), settings, metrics.clone())?;
            Ok((candidate, Leading::by(leadership.clone(), object), leadership))
        };
        let mut shared = Vec::new();
        for (place, module) in modules.iter().enumerate() {
            let Some(SharedLease { namespace, name, flag }) = module.lease() else { continue };
            let settings =
                lease::Settings { namespace: namespace.to_string(), name: name.to_string(), flag, ..settings.clone() };
            let (candidate, leading, _) = call(settings)?;
            shared.push((place, candidate, leading));
        }
        Ok(Self { main: Some(call(settings)?), shared })
    }

    /// Takes part in all of them; returns what decides about all modules, and what decides about some.
    pub(super) fn hold(self, tasks: &mut Tasks, metrics: &Metrics) -> (Leading, Vec<(usize, Leading)>) {
        let mut run = |name: &'static str, candidate: Candidate| {
            tasks.serve(name, |stop| async {
                candidate.run(stop.requested()).await;
                Ok::<(), Ended>(())
            });
        };
        let main = match self.main {
            Some((candidate, leading, leadership)) => {
                metrics.follow(leadership);
                run("lease", candidate);
                leading
            }
            None => Leading::alone(),
        };
        let own = self.shared.into_iter().map(|(place, candidate, leading)| {
            run("shared lease", candidate);
            (place, leading)
        });
        (main, own.collect())
    }
}
