//! `rolewright manifests`: what an operator applies for the manager.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};
use rolewright_api::crds;
use rolewright_api::document::yaml;
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::sync::policy;
use serde_json::Value;

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
    /// The definitions of Config Sync's kinds, where Config Sync itself does not bring them
    Crds,
    /// The admission policy that keeps reconcilers from choosing their own roles
    Policies(Box<PoliciesArgs>),
}

#[derive(Debug, Args)]
struct RbacArgs {
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
    #[command(flatten)]
    modules: ModuleArgs,
}

#[derive(Debug, Args)]
struct PoliciesArgs {
    #[command(flatten)]
    modules: ModuleArgs,
}

pub(crate) fn run(args: &ManifestsArgs, out: &mut impl Write) -> Result<()> {
    match &args.what {
        What::Rbac(args) => rbac(args, out),
        What::Crds => print(crds::config_sync(), out),
        What::Policies(args) => print(policy::manifests(&args.modules.sync()), out),
    }
}

fn rbac(args: &RbacArgs, out: &mut impl Write) -> Result<()> {
    let RbacArgs { modules, namespace, name, lease, no_namespace } = args;
    let identity = Identity { namespace: namespace.clone(), name: name.clone(), lease: lease.clone() };
    let modules = modules.build();
    let rights = Rights::of(modules.iter().map(|module| &**module), &identity);
    if !rights.elsewhere.is_empty() {
        let places: Vec<String> = rights.elsewhere.keys().map(|name| format!("`{name}`")).collect();
        let hint = "--modules leaves out modules whose namespace is not there";
        output::note(format!("some of these rights are in {}; {hint}", places.join(" and ")));
    }
    let namespace = identity.namespace_manifest().filter(|_| !no_namespace);
    print(namespace.into_iter().chain(rights.manifests(&identity)), out)
}

fn print(objects: impl IntoIterator<Item = Value>, out: &mut impl Write) -> Result<()> {
    for (index, object) in objects.into_iter().enumerate() {
        if index > 0 {
            writeln!(out, "---")?;
        }
        write!(out, "{}", yaml::write(&object))?;
    }
    Ok(())
}
