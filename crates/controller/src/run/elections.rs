//! Who writes: one election for the manager, and one for each job that another controller may be doing.

use std::sync::Arc;

use kube::Client;
use rolewright_plan::kind::LEASE;
use rolewright_plan::{Module, ObjectRef, SharedLease};

use super::{Leases, RunError};
use crate::lease::{self, Candidate, Leadership};
use crate::manager::Leading;
use crate::metrics::Metrics;
use crate::tasks::{Ended, Tasks};

/// The leases that decide who writes: the manager's own, and those of the controllers whose jobs its modules do.
pub(super) struct Elections {
    main: Option<Election>,
    /// By the place of the module.
    shared: Vec<(usize, Election)>,
}

/// One of them: we stand in it, and follow how it ends.
struct Election {
    lease: ObjectRef,
    candidate: Candidate,
    leadership: Leadership,
}

impl Elections {
    pub(super) fn called(
        client: &Client,
        modules: &[Box<dyn Module>],
        leases: Leases,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, RunError> {
        let (main, settings) = match leases {
            Leases::All(settings) => (Some(settings.clone()), settings),
            Leases::Shared(settings) => (None, settings),
            Leases::None => return Ok(Self { main: None, shared: Vec::new() }),
        };
        let call = |settings: lease::Settings| -> Result<_, RunError> {
            let lease = ObjectRef::namespaced(&LEASE, settings.namespace.as_str(), settings.name.as_str());
            let (candidate, leadership) = lease::candidate(client.clone(), settings, metrics.clone())?;
            Ok(Election { lease, candidate, leadership })
        };
        let mut shared = Vec::new();
        for (place, module) in modules.iter().enumerate() {
            let Some(SharedLease { namespace, name, flag }) = module.lease() else { continue };
            let settings =
                lease::Settings { namespace: namespace.to_string(), name: name.to_string(), flag, ..settings.clone() };
            shared.push((place, call(settings)?));
        }
        Ok(Self { main: main.map(call).transpose()?, shared })
    }

    /// Takes part in all of them; returns what decides about all modules, and what decides about some.
    pub(super) fn hold(self, tasks: &mut Tasks, metrics: &Metrics) -> (Leading, Vec<(usize, Leading)>) {
        let mut hold = |task: &'static str, Election { lease, candidate, leadership }: Election| {
            metrics.follow(&lease.namespace, &lease.name, leadership.clone());
            tasks.serve(task, |stop| async {
                candidate.run(stop.requested()).await;
                Ok::<(), Ended>(())
            });
            Leading::by(leadership, lease)
        };
        let main = self.main.map_or_else(Leading::alone, |election| hold("lease", election));
        let own = self.shared.into_iter().map(|(place, election)| (place, hold("shared lease", election)));
        (main, own.collect())
    }
}
