#![cfg(test)]
//! Programs and definitions of other projects, on the real kube-apiserver and on ours: Crossplane's own RBAC manager must leave
//! the same roles behind, and every custom resource definition of Crossplane and Open Cluster Management must be served
//! alike.
//!
//! `ROLEWRIGHT_TWIN=self` puts a second real server in our place, which shows that the comparison itself is right.

mod manager;
mod servers;
