//! Which modules the manager has, and how they work.

mod crossplane;
mod sync;

use clap::{Args, Command, FromArgMatches as _, ValueEnum};
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::Module;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::crossplane::Crossplane;
use rolewright_plan::sync::{RoleRefs, Settings};

use crossplane::CrossplaneArgs;
use sync::SyncArgs;

/// Which modules the manager has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Modules")]
pub(crate) struct ModuleArgs {
    /// The modules that run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = ModuleName::value_variants().to_vec(), value_name = "NAMES")]
    modules: Vec<ModuleName>,
    /// Who keeps the rules of aggregated ClusterRoles
    #[arg(long, value_enum, default_value_t = AggregationArg::Observe)]
    aggregation: AggregationArg,
    #[command(flatten)]
    crossplane: CrossplaneArgs,
    #[command(flatten)]
    sync: SyncArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModuleName {
    /// ClusterRoles that are built out of others
    Aggregation,
    /// What Crossplane's providers bring and its definitions define
    Crossplane,
    /// The roles of Config Sync's reconcilers
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AggregationArg {
    /// Kubernetes' own controller; the manager says what it gets wrong
    Observe,
    /// The manager alone, where Kubernetes' controller is switched off
    Exclusive,
}

impl ModuleArgs {
    /// Every module, and nobody else who aggregates: as it is where only we are.
    pub(crate) fn of_a_sandbox() -> Result<Self, clap::Error> {
        let command = Self::augment_args(Command::new("sandbox").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(["--aggregation=exclusive"])?)
    }

    /// All modules that run.
    pub(crate) fn build(&self) -> Vec<Box<dyn Module>> {
        let one = |name: &ModuleName| -> Box<dyn Module> {
            match name {
                ModuleName::Aggregation => Box::new(aggregation(self.mode())),
                ModuleName::Crossplane => Box::new(Crossplane::new(self.crossplane.settings())),
                ModuleName::Sync => Box::new(RoleRefs::new(self.sync.settings())),
            }
        };
        self.names().iter().map(one).collect()
    }

    /// All but the module that aggregates.
    pub(crate) fn build_others(&self) -> Vec<Box<dyn Module>> {
        self.build().into_iter().filter(|module| module.name() != "aggregation").collect()
    }

    /// How the module for Config Sync works.
    pub(crate) fn sync(&self) -> Settings {
        self.sync.settings()
    }

    /// Whether the manager writes the rules of aggregated roles, and not Kubernetes.
    pub(crate) fn aggregates(&self) -> bool {
        self.modules.contains(&ModuleName::Aggregation) && self.mode() == Mode::Exclusive
    }

    fn mode(&self) -> Mode {
        match self.aggregation {
            AggregationArg::Observe => Mode::Observe,
            AggregationArg::Exclusive => Mode::Exclusive,
        }
    }

    /// Each once, however often it was named.
    fn names(&self) -> Vec<ModuleName> {
        ModuleName::value_variants().iter().copied().filter(|name| self.modules.contains(name)).collect()
    }
}

/// Those of the words of a command line that choose modules and say how they work: another command with the same words has
/// the same modules.
pub(crate) fn flags(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let known = ModuleArgs::augment_args(Command::new("modules"));
    let mut flags = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (name, has_value) = match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word.as_str(), false),
        };
        let mut all = known.get_arguments();
        let named = all.find(|flag| flag.get_long().is_some() && flag.get_long() == name.strip_prefix("--"));
        let Some(flag) = named else { continue };
        let value = (flag.get_action().takes_values() && !has_value).then(|| words.next()).flatten();
        flags.extend([Some(word), value].into_iter().flatten());
    }
    flags
}

/// The module that aggregates.
pub(crate) fn aggregation(mode: Mode) -> ClusterRoleAggregation {
    ClusterRoleAggregation::new(mode, Fitter::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_modules_are_told_from_others() {
        let line = "rolewright run --listen 127.0.0.1:0 --modules aggregation,crossplane --lease-name=x --aggregation=exclusive \
                    --no-masters --log-level info";
        let found = flags(line.split_whitespace().map(str::to_owned)).join(" ");
        assert_eq!(found, "--modules aggregation,crossplane --aggregation=exclusive --no-masters");
    }
}
