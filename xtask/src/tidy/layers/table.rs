//! The table itself. Crates that come with a later issue already have their row.

pub(super) const TESTKIT: &str = "rolewright-testkit";

/// What one crate may depend on.
pub(super) struct Layer {
    pub(super) name: &'static str,
    /// Crates of the workspace that it may name.
    pub(super) uses: &'static [&'static str],
    pub(super) third_party: ThirdParty,
    /// Third-party crates that it must not name, although others are free.
    pub(super) never: &'static [&'static str],
    /// Features that it must not switch on. Needed where one crate holds both types and a client: cargo unites features
    /// over the workspace, so that the graph cannot tell who asked for the client.
    pub(super) features_off: &'static [(&'static str, &'static [&'static str])],
    /// Crates that must not come in by any path.
    pub(super) unreachable: &'static [&'static str],
    /// What the boundary protects.
    pub(super) why: &'static str,
}

/// Whether other people's crates are free to choose.
pub(super) enum ThirdParty {
    Any,
    Only { always: &'static [&'static str], optional: &'static [&'static str] },
}

impl Layer {
    /// The two that exist for development may build with the testkit.
    pub(super) fn uses_testkit(&self) -> bool {
        matches!(self.name, "xtask" | TESTKIT)
    }
}

const RUNTIME: &[&str] = &["tokio", "kube", "kube-core", "kube-client", "kube-runtime", "k8s-openapi"];
const CLUSTER: &[&str] = &["kube", "kube-core", "kube-client", "kube-runtime", "k8s-openapi"];
const CLIENT: &[(&str, &[&str])] = &[("kube", &["client", "runtime", "config", "ws", "rustls-tls", "openssl-tls"])];
const EVERY_LAYER: &[&str] = &[
    "rolewright-api",
    "rolewright",
    "rolewright-cel",
    "rolewright-console",
    "rolewright-controller",
    "rolewright-core",
    "rolewright-crd",
    "rolewright-oci",
    "rolewright-plan",
    "rolewright-server",
];

pub(super) const LAYERS: &[Layer] = &[
    Layer {
        name: "rolewright-core",
        uses: &[],
        third_party: ThirdParty::Only { always: &["smol_str", "rustc-hash", "thiserror"], optional: &["serde"] },
        never: &[],
        features_off: &[],
        unreachable: RUNTIME,
        why: "core is values and algebra: no async, no kube, no clock, no I/O",
    },
    Layer {
        name: "rolewright-cel",
        uses: &[],
        third_party: ThirdParty::Only { always: &["regex", "serde_json", "smol_str"], optional: &[] },
        never: &[],
        features_off: &[],
        unreachable: RUNTIME,
        why: "cel is a language: it knows nothing of RBAC, schemas or servers",
    },
    Layer {
        name: "rolewright-crd",
        uses: &["rolewright-cel", "rolewright-core"],
        third_party: ThirdParty::Only {
            always: &["base64", "regex", "rustc-hash", "serde_json", "smol_str"],
            optional: &[],
        },
        never: &[],
        features_off: &[],
        unreachable: RUNTIME,
        why: "crd is a pure function of definitions and objects: no async, no kube, no clock, no I/O",
    },
    Layer {
        name: "rolewright-plan",
        uses: &["rolewright-core"],
        third_party: ThirdParty::Only {
            always: &["rustc-hash", "serde", "serde_json", "serde_path_to_error", "sha2"],
            optional: &[],
        },
        never: &[],
        features_off: &[],
        unreachable: RUNTIME,
        why: "a planner is a pure function of a snapshot: it uses core, and reads values from JSON",
    },
    Layer {
        name: "rolewright-api",
        uses: &["rolewright-core"],
        third_party: ThirdParty::Any,
        never: &["tokio", "kube-client", "kube-runtime"],
        features_off: CLIENT,
        unreachable: &["rolewright-plan", "rolewright-controller", "rolewright-server"],
        why: "api is vocabulary: types and conversions, without a client",
    },
    Layer {
        name: "rolewright-controller",
        uses: &["rolewright-api", "rolewright-core", "rolewright-oci", "rolewright-plan"],
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: &["rolewright-server", "rolewright"],
        why: "what works only on the embedded server does not work: controller and server do not see each other",
    },
    Layer {
        name: "rolewright-oci",
        uses: &["rolewright-core"],
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: &[
            "kube",
            "kube-core",
            "kube-client",
            "kube-runtime",
            "k8s-openapi",
            "rolewright-controller",
            "rolewright-server",
        ],
        why: "oci opens untrusted bytes and cannot reach the cluster",
    },
    Layer {
        name: "rolewright-server",
        uses: &["rolewright-api", "rolewright-cel", "rolewright-core", "rolewright-crd"],
        third_party: ThirdParty::Any,
        never: &["kube-client", "kube-runtime"],
        features_off: CLIENT,
        unreachable: &["rolewright-controller", "rolewright-plan"],
        why: "the server is a test double and a product: it knows neither planners nor controllers",
    },
    Layer {
        name: "rolewright-console",
        uses: &["rolewright-core", "rolewright-plan"],
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: CLUSTER,
        why: "the page shows plans and values and cannot reach the cluster",
    },
    Layer {
        name: "rolewright",
        uses: &[
            "rolewright-api",
            "rolewright-console",
            "rolewright-controller",
            "rolewright-core",
            "rolewright-oci",
            "rolewright-plan",
            "rolewright-server",
        ],
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: &[TESTKIT],
        why: "the binary carries no test code",
    },
    Layer {
        name: TESTKIT,
        uses: EVERY_LAYER,
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: &[],
        why: "the testkit serves tests and nothing else",
    },
    Layer {
        name: "xtask",
        uses: EVERY_LAYER,
        third_party: ThirdParty::Any,
        never: &[],
        features_off: &[],
        unreachable: &[],
        why: "tasks are run by developers and never shipped",
    },
];
