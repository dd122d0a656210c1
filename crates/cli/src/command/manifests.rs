//! `rolewright manifests`: what an operator applies for the manager.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};
use rolewright_api::document::yaml;
use rolewright_plan::rights::{Identity, Rights};

use crate::modules::ModuleArgs;
use crate::output;

/// What is printed.
#[derive(Debug, Args)]
pub(crate) struct ManifestsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The manager's service account with exactly the rights that it uses
    Rbac(Box<RbacArgs>),
    /// The definitions of our own kinds
    Crds,
}

#[derive(Debug, Args)]
struct RbacArgs {
    #[command(flatten)]
    modules: ModuleArgs,
    /// The namespace of the manager
    #[arg(short = 'n', long, default_value = "rolewright-system", value_name = "NAME")]
    namespace: String,
    /// The name of the service account, its roles and their bindings
    #[arg(long, default_value = "rolewright", value_name = "NAME")]
    name: String,
    /// The lease that the manager holds while it leads
    #[arg(long, default_value = "rolewright", value_name = "NAME")]
    lease: String,
    /// Leave the namespace out: it is there, and others run in it
    #[arg(long)]
    no_namespace: bool,
}

pub(crate) fn run(args: &ManifestsArgs, out: &mut impl Write) -> Result<()> {
    match &args.what {
        What::Rbac(args) => rbac(args, out),
        What::Crds => {
            output::note("there are no kinds of our own yet");
            Ok(())
        }
    }
}

fn rbac(args: &RbacArgs, out: &mut impl Write) -> Result<()> {
    let RbacArgs { modules, namespace, name, lease, no_namespace } = args;
    let identity = Identity { namespace: namespace.clone(), name: name.clone(), lease: lease.clone() };
    let modules = modules.build();
    let rights = Rights::of(modules.iter().map(|module| &**module), &identity);
    let namespace = identity.namespace_manifest().filter(|_| !no_namespace);
    for (index, object) in namespace.into_iter().chain(rights.manifests(&identity)).enumerate() {
        if index > 0 {
            writeln!(out, "---")?;
        }
        write!(out, "{}", yaml::write(&object))?;
    }
    Ok(())
}
