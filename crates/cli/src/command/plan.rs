//! `rolewright plan`: what manifests and the manager would change, who would gain or lose what, and whether it is allowed.

mod human;
mod json;
mod preflight;
mod review;

use std::io::Write;

use anyhow::Result;
use clap::{Args, ValueEnum};
use rolewright_core::User;

use self::review::Review;
use crate::exit::Answer;
use crate::modules::ModuleArgs;
use crate::world::WorldArgs;

/// What is planned, and for whom.
///
/// Exits with 0 if nothing speaks against it, 1 if rights would be lost, a write would be refused or something is wrong, 3 if
/// not everything could be read.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Who would apply the manifests [default: the kubeconfig's user, on a cluster]
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    /// Groups of that user
    #[arg(long = "as-group", value_name = "GROUP", requires = "user")]
    groups: Vec<String>,
    /// The namespace of the manager
    #[arg(long, default_value = "rolewright-system", value_name = "NAME")]
    manager_namespace: String,
    /// The service account of the manager
    #[arg(long, default_value = "rolewright", value_name = "NAME")]
    manager_name: String,
    /// How it is printed
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Human)]
    output: Output,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    modules: ModuleArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A page that fits a terminal
    Human,
    /// The same with every object and every right
    Wide,
    /// For programs
    Json,
}

pub(crate) fn run(args: &PlanArgs, out: &mut impl Write) -> Result<()> {
    let review = Review::of(args)?;
    match args.output {
        Output::Human => human::print(&review, false, out)?,
        Output::Wide => human::print(&review, true, out)?,
        Output::Json => json::print(&review, out)?,
    }
    match () {
        () if !review.missing.is_empty() => Err(Answer::Unknown.into()),
        () if review.has_findings() => Err(Answer::No.into()),
        () => Ok(()),
    }
}

impl PlanArgs {
    /// Whom the preflight is about, if that is known.
    fn user(&self, me: Option<User>) -> Option<User> {
        let named =
            self.user.as_ref().map(|name| User::authenticated(name.as_str(), self.groups.iter().map(String::as_str)));
        named.or(me)
    }
}
