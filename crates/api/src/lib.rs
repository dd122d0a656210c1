//! What Kubernetes objects look like as text.
//!
//! [`document`] reads JSON and YAML as Kubernetes' Go code does; the embedded server and everybody who reads manifests use
//! the same reader. [`manifest`] finds the objects in files, folders and streams, and says of each where it was written.

pub mod crds;
pub mod document;
pub mod manifest;
