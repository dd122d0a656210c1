//! Crossplane's permissions: a world in, what is there once all plans are followed out.

mod boundary;
mod cluster;
mod composite;
mod family;
mod hostile;
mod laws;
mod levels;
mod namespace;
mod page;
mod people;
mod provider;
mod resources;
mod seed;
mod subjects;
mod taking_over;
mod upgrade;
mod world;
