//! `rolewright explain`: why. Of an object where it comes from, of a code what it means.

mod cluster_roles;
mod code;
mod role;

use std::io::Write;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use rolewright_plan::Code;

use crate::world::WorldArgs;

/// What is to be explained.
///
/// Exits with 0 if all is as it should be, 1 if something is wrong with what is explained, 3 if not everything could be read.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An aggregated role as clusterrole/NAME, or a code such as RW0101
    #[arg(value_name = "WHAT", required = true)]
    what: Vec<String>,
    /// How it is printed
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Human)]
    output: Output,
    #[command(flatten)]
    world: WorldArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Human,
    /// For programs
    Json,
}

pub(crate) fn run(args: &ExplainArgs, out: &mut impl Write) -> Result<()> {
    let json = args.output == Output::Json;
    let [what] = args.what.as_slice() else {
        bail!("`explain {}` is not there yet; hint: clusterrole/NAME or a code such as RW0101", args.what.join(" "));
    };
    if let Some(code) = Code::parse(what) {
        return code::print(code, json, out);
    }
    match what.split_once('/') {
        Some((kind, name)) if is_cluster_role(kind) && !name.is_empty() => {
            role::explain(&args.world.load([])?, name, json, out)
        }
        _ => bail!("`{what}` cannot be explained; hint: clusterrole/NAME or a code such as RW0101"),
    }
}

/// As kubectl lets kinds be written.
fn is_cluster_role(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    matches!(kind.strip_suffix(".rbac.authorization.k8s.io").unwrap_or(&kind), "clusterrole" | "clusterroles")
}
