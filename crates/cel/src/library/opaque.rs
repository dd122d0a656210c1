//! Values of Kubernetes' own types.
use core::net::IpAddr;
use std::fmt;

use super::format::Named;
use super::quantity::Quantity;
use super::semver::Version;
use crate::url::Url;
use crate::value::{Fault, Value, no_such_overload};

#[derive(Debug)]
pub(crate) enum Opaque {
    Url(Url),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Quantity(Quantity),
    Format(&'static Named),
    Semver(Version),
}

impl Opaque {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Semver(_) => "kubernetes.Semver",
        }
    }

    pub(crate) fn native_name(&self) -> &'static str {
        match self {
            Self::Url(_) => "cel.URL",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(..) => "cel.CIDR",
            Self::Quantity(_) => "cel.Quantity",
            Self::Format(_) => "cel.Format",
            Self::Semver(_) => "cel.Semver",
        }
    }

    /// The size that costs are computed of, for those that have one.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Ip(ip) => Some(if ip.is_ipv4() { 4 } else { 16 }),
            Self::Cidr(_, bits) => Some(u64::from(*bits).div_ceil(8)),
            _ => None,
        }
    }

    pub(crate) fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let Value::Opaque(other) = other else { return no_such_overload() };
        Ok(match (self, &**other) {
            (Self::Url(one), Self::Url(two)) => one.to_string() == two.to_string(),
            (Self::Ip(one), Self::Ip(two)) => one == two,
            (Self::Cidr(one, bits), Self::Cidr(two, more)) => one == two && bits == more,
            // A sum is told apart from what was parsed, and only the left side may be one.
            (Self::Quantity(one), Self::Quantity(two)) if !two.computed => one.order(two).is_eq(),
            (Self::Format(one), Self::Format(two)) => one.name == two.name,
            (Self::Semver(one), Self::Semver(two)) => one.order(two).is_eq(),
            _ => return no_such_overload(),
        })
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(f, "{url}"),
            Self::Ip(ip) => write!(f, "{ip}"),
            Self::Cidr(ip, bits) => write!(f, "{ip}/{bits}"),
            Self::Quantity(_) => f.write_str("quantity"),
            Self::Format(named) => f.write_str(named.name),
            Self::Semver(_) => f.write_str("semver"),
        }
    }
}
