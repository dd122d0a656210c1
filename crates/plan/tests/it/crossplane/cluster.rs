//! A cluster with Crossplane's permissions.

use rolewright_plan::Module;
use rolewright_plan::crossplane::{
    Crossplane, DEFINITION, DEPLOYMENT, MANAGED_RESOURCE, REVISION, SERVED_RESOURCE, SERVICE_ACCOUNT, Settings,
};
use rolewright_plan::kind::{Kind, NAMESPACE};
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};

use crate::cluster::Setting;
pub(super) use crate::cluster::words;

pub(super) static KINDS: [&Kind; 11] = [
    &DEFINITION,
    &REVISION,
    &MANAGED_RESOURCE,
    &SERVED_RESOURCE,
    &SERVICE_ACCOUNT,
    &DEPLOYMENT,
    &NAMESPACE,
    &CLUSTER_ROLE,
    &CLUSTER_ROLE_BINDING,
    &ROLE,
    &ROLE_BINDING,
];

pub(super) type Cluster = crate::cluster::Cluster<Settings>;

impl Setting for Settings {
    const KINDS: &'static [&'static Kind] = &KINDS;

    fn module(&self) -> Box<dyn Module> {
        Box::new(Crossplane::new(self.clone()))
    }
}
