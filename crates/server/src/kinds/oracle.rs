//! The same objects to these rules and to Kubernetes' own code.

mod defaulting;
mod preparing;
mod random;
