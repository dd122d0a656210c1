//! How the module for Crossplane works.

use clap::{Args, ValueEnum};
use rolewright_plan::Name;
use rolewright_plan::crossplane::{Boundary, FamilyRoles, InactiveRevisions, Manage, Settings, UserRoles};

/// How the module for Crossplane works.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Crossplane")]
pub(crate) struct CrossplaneArgs {
    /// What is kept: the roles of software, those of people as well, those of namespaces as well
    #[arg(long, value_enum, ignore_case = true, default_value_t = ManageArg::All, value_name = "LEVEL")]
    manage: ManageArg,
    /// Who gathers the rules of the roles that people are bound to
    #[arg(long, value_enum, default_value_t = UserRolesArg::Aggregated, value_name = "HOW")]
    user_roles: UserRolesArg,
    /// How the members of a provider family reach each other's resources
    #[arg(long, value_enum, default_value_t = FamilyRolesArg::Replicated, value_name = "HOW")]
    family_roles: FamilyRolesArg,
    /// Organisations whose providers may be of one family: REGISTRY/NAME,REGISTRY/NAME; once for each group of them
    #[arg(long, value_parser = organisations, value_name = "NAMES")]
    trust_organisations: Vec<Organisations>,
    /// The ClusterRole that limits what providers get beyond their own resources
    #[arg(long, value_name = "NAME")]
    provider_clusterrole: Option<Name>,
    /// What that ClusterRole limits
    #[arg(long, value_enum, default_value_t = BoundaryArg::Requests, requires_if("all", "provider_clusterrole"))]
    #[arg(value_name = "WHAT")]
    provider_boundary: BoundaryArg,
    /// The namespace of Crossplane
    #[arg(long, default_value = "crossplane-system", value_name = "NAMESPACE")]
    crossplane_namespace: Name,
    /// The namespaces in which providers run [default: that of Crossplane]
    #[arg(long, value_delimiter = ',', value_name = "NAMESPACES")]
    provider_namespaces: Vec<Name>,
    /// What becomes of people's access to what an inactive revision brought
    #[arg(long, value_enum, default_value_t = InactiveArg::Follow, value_name = "HOW")]
    inactive_revisions: InactiveArg,
    /// Leave secrets of the whole cluster out of people's roles, and packages out of what editors change
    #[arg(long)]
    hardened_user_roles: bool,
    /// Do not let the group crossplane:masters administer Crossplane
    #[arg(long)]
    no_masters: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ManageArg {
    /// The roles of Crossplane and its providers
    #[value(name = "serviceaccounts")]
    ServiceAccounts,
    /// And those of people in the whole cluster
    Basic,
    /// And those of people in namespaces
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UserRolesArg {
    /// Kubernetes, by labels
    Aggregated,
    /// The manager, which spares Kubernetes the work
    Materialized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FamilyRolesArg {
    /// Each has a copy of all that the family has
    Replicated,
    /// The family has one role
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BoundaryArg {
    /// What providers ask for beyond their own resources
    Requests,
    /// Everything that they get
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InactiveArg {
    /// It moves to the active revision
    Follow,
    /// It stays
    Keep,
}

/// Organisations that count as one.
#[derive(Clone, Debug)]
struct Organisations(Vec<Name>);

fn organisations(text: &str) -> Result<Organisations, String> {
    let names: Vec<Name> = text.split(',').map(|name| Name::new(name.trim())).collect();
    if let Some(bad) = names.iter().find(|name| name.split('/').count() != 2 || name.ends_with('/')) {
        return Err(format!("`{bad}` is no organisation; write REGISTRY/NAME, such as xpkg.crossplane.io/acme"));
    }
    if names.len() < 2 {
        return Err("name at least two, that they may be one: REGISTRY/NAME,REGISTRY/NAME".to_owned());
    }
    Ok(Organisations(names))
}

impl CrossplaneArgs {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            manage: match self.manage {
                ManageArg::ServiceAccounts => Manage::ServiceAccounts,
                ManageArg::Basic => Manage::Basic,
                ManageArg::All => Manage::All,
            },
            user_roles: match self.user_roles {
                UserRolesArg::Aggregated => UserRoles::Aggregated,
                UserRolesArg::Materialized => UserRoles::Materialized,
            },
            family_roles: match self.family_roles {
                FamilyRolesArg::Replicated => FamilyRoles::Replicated,
                FamilyRolesArg::Shared => FamilyRoles::Shared,
            },
            trusted: self.trust_organisations.iter().map(|group| group.0.clone()).collect(),
            boundary_role: self.provider_clusterrole.clone().filter(|name| !name.is_empty()),
            boundary: match self.provider_boundary {
                BoundaryArg::Requests => Boundary::Requests,
                BoundaryArg::All => Boundary::All,
            },
            namespace: self.crossplane_namespace.clone(),
            provider_namespaces: self.provider_namespaces.clone(),
            inactive: match self.inactive_revisions {
                InactiveArg::Follow => InactiveRevisions::Follow,
                InactiveArg::Keep => InactiveRevisions::Keep,
            },
            hardened: self.hardened_user_roles,
            bind_masters: !self.no_masters,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn settings(line: &str) -> Settings {
        let known = CrossplaneArgs::augment_args(Command::new("rolewright").no_binary_name(true));
        let matches = known.try_get_matches_from(line.split_whitespace()).unwrap();
        CrossplaneArgs::from_arg_matches(&matches).unwrap().settings()
    }

    #[test]
    fn each_flag_is_one_setting() {
        let default = Settings::default;
        let trusted = vec![vec!["x.io/a".into(), "y.io/b".into()], vec!["x.io/c".into(), "y.io/d".into()]];
        let limit = || Some("limit".into());
        for (line, expected) in [
            ("", default()),
            ("--manage serviceaccounts", Settings { manage: Manage::ServiceAccounts, ..default() }),
            ("--manage Basic", Settings { manage: Manage::Basic, ..default() }),
            ("--manage=ALL", default()),
            ("--user-roles materialized", Settings { user_roles: UserRoles::Materialized, ..default() }),
            ("--family-roles shared", Settings { family_roles: FamilyRoles::Shared, ..default() }),
            (
                "--trust-organisations x.io/a,y.io/b --trust-organisations x.io/c,y.io/d",
                Settings { trusted, ..default() },
            ),
            ("--provider-clusterrole limit", Settings { boundary_role: limit(), ..default() }),
            (
                "--provider-clusterrole limit --provider-boundary all",
                Settings { boundary_role: limit(), boundary: Boundary::All, ..default() },
            ),
            ("--crossplane-namespace xp", Settings { namespace: "xp".into(), ..default() }),
            ("--provider-namespaces a,b", Settings { provider_namespaces: vec!["a".into(), "b".into()], ..default() }),
            ("--inactive-revisions keep", Settings { inactive: InactiveRevisions::Keep, ..default() }),
            ("--hardened-user-roles", Settings { hardened: true, ..default() }),
            ("--no-masters", Settings { bind_masters: false, ..default() }),
        ] {
            assert_eq!(settings(line), expected, "{line}");
        }
    }
}
