//! Real Go programs as clients of our server, and of the real kube-apiserver beside it: kubectl, client-go's informers and
//! elections, and Kubernetes' own controllers. They come with the testbed, so nothing has to be installed.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod controllers;
mod electing;
mod informers;
mod kubectl;
mod process;
mod servers;
