//! What each mode asks the authorizer.

use rolewright_core::subject::{
    AUTHENTICATED_GROUP, SERVICE_ACCOUNTS_GROUP, SUPERUSER_GROUP, UNAUTHENTICATED_GROUP, service_account_of,
};
use rolewright_core::validate::names::{dns_label, dns_subdomain};
use rolewright_core::{Request, User};

use super::{Impersonation, extra};
use crate::authn::forbidden::forbidden;
use crate::authn::identity::{ANONYMOUS, Identity, NODE_NAME};
use crate::status::Failure;

const GROUP: &str = "authentication.k8s.io";
const NODES_GROUP: &str = "system:nodes";
/// From so many single checks on, one for all of them is tried first.
const MANY: usize = 4;

/// A way to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A service account of a pod becomes the node that the pod runs on.
    AssociatedNode,
    /// Any node.
    ArbitraryNode,
    /// A service account.
    ServiceAccount,
    /// Any other user.
    UserInfo,
    /// Anybody, without constraints.
    Legacy,
}

impl Mode {
    /// In the order in which they are tried.
    pub(super) const ALL: [Self; 5] =
        [Self::AssociatedNode, Self::ArbitraryNode, Self::ServiceAccount, Self::UserInfo, Self::Legacy];

    fn name(self) -> &'static str {
        match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
            Self::Legacy => "",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::AssociatedNode => "impersonate:associated-node",
            Self::ArbitraryNode => "impersonate:arbitrary-node",
            Self::ServiceAccount => "impersonate:serviceaccount",
            Self::UserInfo => "impersonate:user-info",
            Self::Legacy => "impersonate",
        }
    }

    /// The verb that allowed it, where it is one of the constrained ones.
    pub(super) fn constraint(self) -> &'static str {
        if self == Self::Legacy { "" } else { self.verb() }
    }

    /// The group of `users` and `groups`, which are names only and in no API.
    fn names_group(self) -> &'static str {
        if self == Self::Legacy { "" } else { GROUP }
    }

    fn applies(self, requestor: &Identity, wanted: &Impersonation) -> bool {
        let only_a_name = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let (node, account) = (node_name(&wanted.user), account(&wanted.user));
        match self {
            Self::AssociatedNode => {
                let own = requestor.extra.get(NODE_NAME).map(Vec::as_slice);
                only_a_name
                    && account_of(requestor).is_some()
                    && matches!((own, node), (Some([own]), Some(node)) if own == node)
            }
            Self::ArbitraryNode => only_a_name && node.is_some(),
            Self::ServiceAccount => only_a_name && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
            Self::Legacy => true,
        }
    }

    /// Who `requestor` becomes in this mode; nobody where it is not meant for this.
    pub(super) fn check(
        self,
        requestor: &Identity,
        wanted: &Impersonation,
        request: &Request<'_>,
        allows: &impl Fn(&User, &Request<'_>) -> Result<(), String>,
    ) -> Result<Option<Identity>, Failure> {
        if !self.applies(requestor, wanted) {
            return Ok(None);
        }
        let ask = Ask { mode: self, user: &requestor.user, allows };
        if self != Self::Legacy {
            let verb = format!("impersonate-on:{}:{}", self.name(), request.verb);
            ask.may(&Request { verb: &verb, target: request.target })?;
        }
        let groups = ask.name(wanted)?;
        ask.uid(wanted)?;
        ask.groups(wanted)?;
        ask.extra(wanted)?;
        let user = User::new(wanted.user.as_str(), with_implicit(&wanted.user, groups));
        Ok(Some(Identity { user, uid: wanted.uid.clone(), extra: wanted.extra.clone(), ..Identity::default() }))
    }
}

struct Ask<'a, F> {
    mode: Mode,
    user: &'a User,
    allows: &'a F,
}

impl<F: Fn(&User, &Request<'_>) -> Result<(), String>> Ask<'_, F> {
    fn may(&self, request: &Request<'_>) -> Result<(), Failure> {
        (self.allows)(self.user, request).map_err(|reason| forbidden(&self.user.name, request, &reason))
    }

    fn refused(&self, request: &Request<'_>, why: &str) -> Failure {
        forbidden(&self.user.name, request, why)
    }

    /// Asks for the name, and gives the groups that come with it.
    fn name(&self, wanted: &Impersonation) -> Result<Vec<String>, Failure> {
        let (mode, verb, user) = (self.mode, self.mode.verb(), wanted.user.as_str());
        let group = mode.names_group();
        if let (true, Some(node)) = (mode != Mode::Legacy, node_name(user)) {
            // WHY: who may become the node of the pod it runs in may do so on every node.
            let name = if mode == Mode::AssociatedNode { "*" } else { node };
            self.may(&Request::resource(verb, group, "nodes").named(name))?;
            return Ok(vec![NODES_GROUP.to_owned()]);
        }
        if let Some((namespace, name)) = account(user) {
            self.may(&Request::resource(verb, group, "serviceaccounts").in_namespace(namespace).named(name))?;
            if wanted.groups.is_empty() {
                let own = format!("{SERVICE_ACCOUNTS_GROUP}:{namespace}");
                return Ok(vec![SERVICE_ACCOUNTS_GROUP.to_owned(), own]);
            }
        } else {
            self.may(&Request::resource(verb, group, "users").named(user))?;
        }
        Ok(wanted.groups.clone())
    }

    fn uid(&self, wanted: &Impersonation) -> Result<(), Failure> {
        match wanted.uid.as_str() {
            "" => Ok(()),
            uid => self.may(&Request::resource(self.mode.verb(), GROUP, "uids").named(uid)),
        }
    }

    fn groups(&self, wanted: &Impersonation) -> Result<(), Failure> {
        let all = Request::resource(self.mode.verb(), self.mode.names_group(), "groups");
        let groups = &wanted.groups;
        if self.mode != Mode::Legacy {
            if groups.iter().any(String::is_empty) {
                return Err(self.refused(&all, "impersonating the empty string group is not allowed"));
            }
            if groups.iter().any(|group| group == SUPERUSER_GROUP) {
                let superusers = all.named(SUPERUSER_GROUP);
                return Err(self.refused(&superusers, "impersonating the system:masters group is not allowed"));
            }
            if groups.len() >= MANY && self.may(&all.named("*")).is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|group| self.may(&all.named(group)))
    }

    fn extra(&self, wanted: &Impersonation) -> Result<(), Failure> {
        let all = Request::resource(self.mode.verb(), GROUP, "userextras");
        let extra = &wanted.extra;
        if self.mode != Mode::Legacy {
            if let Some(fault) = extra::fault(extra) {
                return Err(self.refused(&all, &fault));
            }
            let many = extra.len() >= MANY || extra.values().map(Vec::len).sum::<usize>() >= MANY;
            if many && self.may(&all.subresource("*").named("*")).is_ok() {
                return Ok(());
            }
        }
        for (key, values) in extra {
            let of_key = all.subresource(key);
            values.iter().try_for_each(|value| self.may(&of_key.named(value)))?;
        }
        Ok(())
    }
}

/// The group of everybody who is known, or of everybody who is not.
fn with_implicit(user: &str, mut groups: Vec<String>) -> Vec<String> {
    let implicit = match user {
        ANONYMOUS => UNAUTHENTICATED_GROUP,
        _ if groups.iter().any(|group| group == UNAUTHENTICATED_GROUP) => return groups,
        _ => AUTHENTICATED_GROUP,
    };
    if !groups.iter().any(|group| group == implicit) {
        groups.push(implicit.to_owned());
    }
    groups
}

fn node_name(user: &str) -> Option<&str> {
    user.strip_prefix("system:node:").filter(|name| dns_subdomain(name).is_empty())
}

/// Namespace and name of a service account that could exist.
fn account(user: &str) -> Option<(&str, &str)> {
    service_account_of(user)
        .filter(|(namespace, name)| dns_label(namespace).is_empty() && dns_subdomain(name).is_empty())
}

fn account_of(identity: &Identity) -> Option<(&str, &str)> {
    account(&identity.user.name)
}
