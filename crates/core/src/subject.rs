//! Who: the subjects that bindings name, and the users who ask.

use std::fmt;

use crate::Name;

/// Members of this group are allowed everything, before and outside RBAC.
pub const SUPERUSER_GROUP: &str = "system:masters";
/// Every user whose credentials were accepted.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// Every request without credentials.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// Every service account.
pub const SERVICE_ACCOUNTS_GROUP: &str = "system:serviceaccounts";
const SERVICE_ACCOUNT_USER_PREFIX: &str = "system:serviceaccount:";

/// A subject as a binding writes it. `kind` stays text, because what was written may be wrong and must be reportable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default))]
pub struct Subject {
    /// `User`, `Group` or `ServiceAccount`; any other kind matches nobody.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub kind: Name,
    /// The RBAC group for users and groups, empty for service accounts. Never part of a decision.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Name::is_empty", deserialize_with = "crate::null::or_default")
    )]
    pub api_group: Name,
    /// The user, group or account name; `*` is a name like any other.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub name: Name,
    /// Namespace of a service account; empty means the RoleBinding's own.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Name::is_empty", deserialize_with = "crate::null::or_default")
    )]
    pub namespace: Name,
}

impl Subject {
    /// A user.
    pub fn user(name: impl Into<Name>) -> Self {
        Self { kind: "User".into(), api_group: crate::RBAC_GROUP.into(), name: name.into(), namespace: Name::default() }
    }

    /// A group.
    pub fn group(name: impl Into<Name>) -> Self {
        Self { kind: "Group".into(), ..Self::user(name) }
    }

    /// A service account; pass `""` as its namespace to mean the RoleBinding's own.
    pub fn service_account(namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self {
            kind: "ServiceAccount".into(),
            api_group: Name::default(),
            name: name.into(),
            namespace: namespace.into(),
        }
    }

    /// Whom this subject stands for in a binding that lives in `namespace` (`""` for a ClusterRoleBinding).
    ///
    /// `None` for an unknown kind and for a service account without any namespace: those match nobody.
    pub fn principal(&self, namespace: &str) -> Option<Principal> {
        match self.kind.as_str() {
            "User" => Some(Principal::User(self.name.clone())),
            "Group" => Some(Principal::Group(self.name.clone())),
            "ServiceAccount" => {
                let namespace = if self.namespace.is_empty() { namespace } else { &self.namespace };
                (!namespace.is_empty()).then(|| Principal::User(service_account_user(namespace, &self.name)))
            }
            _ => None,
        }
    }

    /// Whether a binding in `namespace` that lists this subject applies to `user`.
    pub fn applies_to(&self, user: &User, namespace: &str) -> bool {
        match self.principal(namespace) {
            Some(Principal::User(name)) => user.name == name,
            Some(Principal::Group(name)) => user.groups.contains(&name),
            None => false,
        }
    }
}

/// Whom a grant reaches. A service account *is* the user that it authenticates as, so it needs no variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Principal {
    /// One user name.
    User(Name),
    /// All members of a group.
    Group(Name),
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => match service_account_of(name) {
                Some((namespace, name)) => write!(f, "ServiceAccount/{namespace}/{name}"),
                None => write!(f, "User/{name}"),
            },
            Self::Group(name) => write!(f, "Group/{name}"),
        }
    }
}

/// Who asks: an authenticated name with its groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct User {
    /// The user name.
    pub name: Name,
    /// Every group, implicit ones included.
    pub groups: Vec<Name>,
}

impl User {
    /// A user with exactly these groups.
    pub fn new(name: impl Into<Name>, groups: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        Self { name: name.into(), groups: groups.into_iter().map(Into::into).collect() }
    }

    /// A user as the API server would authenticate them: with `system:authenticated`, and for a name of the form
    /// `system:serviceaccount:ns:name` the service-account groups.
    pub fn authenticated(name: impl Into<Name>, groups: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        let mut user = Self::new(name, groups);
        let mut implicit = Vec::new();
        if let Some((namespace, _)) = service_account_of(&user.name) {
            implicit.push(Name::new_static(SERVICE_ACCOUNTS_GROUP));
            implicit.push(Name::from(format!("{SERVICE_ACCOUNTS_GROUP}:{namespace}")));
        }
        implicit.push(Name::new_static(AUTHENTICATED_GROUP));
        for group in implicit {
            if !user.groups.contains(&group) {
                user.groups.push(group);
            }
        }
        user
    }

    /// A service account's identity with its implicit groups.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::authenticated(service_account_user(namespace, name), [] as [&str; 0])
    }

    /// Whether the superuser group lets this user pass every check.
    pub fn is_superuser(&self) -> bool {
        self.groups.iter().any(|g| g == SUPERUSER_GROUP)
    }
}

/// The user name a service account authenticates as.
pub fn service_account_user(namespace: &str, name: &str) -> Name {
    Name::from(format!("{SERVICE_ACCOUNT_USER_PREFIX}{namespace}:{name}"))
}

/// Namespace and name, when `user` is the name of a service account.
pub fn service_account_of(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix(SERVICE_ACCOUNT_USER_PREFIX)?
        .split_once(':')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty() && !name.contains(':'))
}
