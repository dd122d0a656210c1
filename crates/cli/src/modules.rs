//! Which modules the manager has, and how they work.

mod crossplane;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::Module;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::crossplane::Crossplane;

use crossplane::CrossplaneArgs;

/// Which modules the manager has.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModuleArgs {
    /// The modules that run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = ModuleName::value_variants().to_vec(), value_name = "NAMES")]
    modules: Vec<ModuleName>,
    /// Who keeps the rules of aggregated ClusterRoles
    #[arg(long, value_enum, default_value_t = AggregationArg::Observe)]
    aggregation: AggregationArg,
    #[command(flatten)]
    crossplane: CrossplaneArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModuleName {
    /// ClusterRoles that are built out of others
    Aggregation,
    /// What Crossplane's providers bring and its definitions define
    Crossplane,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AggregationArg {
    /// Kubernetes' own controller; the manager says what it gets wrong
    Observe,
    /// The manager alone, where Kubernetes' controller is switched off
    Exclusive,
}

impl ModuleArgs {
    /// All modules that run.
    pub(crate) fn build(&self) -> Vec<Box<dyn Module>> {
        let one = |name: &ModuleName| -> Box<dyn Module> {
            match name {
                ModuleName::Aggregation => Box::new(aggregation(self.mode())),
                ModuleName::Crossplane => Box::new(Crossplane::new(self.crossplane.settings())),
            }
        };
        self.names().iter().map(one).collect()
    }

    /// All but the module that aggregates.
    pub(crate) fn build_others(&self) -> Vec<Box<dyn Module>> {
        self.build().into_iter().filter(|module| module.name() != "aggregation").collect()
    }

    /// Whether the manager writes the rules of aggregated roles, and not Kubernetes.
    pub(crate) fn aggregates(&self) -> bool {
        self.modules.contains(&ModuleName::Aggregation) && self.mode() == Mode::Exclusive
    }

    /// The flags that mean these modules.
    pub(crate) fn flags(&self) -> String {
        let name = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned()).unwrap_or_default();
        let modules: Vec<String> = self.names().iter().map(|module| name(module.to_possible_value())).collect();
        format!("--modules {} --aggregation {}", modules.join(","), name(self.aggregation.to_possible_value()))
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

/// The module that aggregates.
pub(crate) fn aggregation(mode: Mode) -> ClusterRoleAggregation {
    ClusterRoleAggregation::new(mode, Fitter::default())
}
