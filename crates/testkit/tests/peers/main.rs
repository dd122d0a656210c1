#![cfg(test)]
//! Programs and definitions of other projects, on the real kube-apiserver and on ours: Crossplane's own RBAC manager must leave
//! the same roles behind, give the same access as ours and hand over to it and back, and every custom resource definition of Crossplane and Open Cluster Management must be served
//! alike.
//!
//! `PROPTEST_RNG_SEED` chooses random objects and definitions, `ROLEWRIGHT_PEERS_RANDOM=N` how many definitions;
//! `ROLEWRIGHT_TWIN=self` puts a second real server in our place, which shows that the comparison itself is right.

mod access;
mod chart;
mod compare;
mod definitions;
mod lease;
mod manager;
mod module;
mod objects;
mod random;
mod scene;
mod servers;
mod takeover;
mod world;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
