//! Services and what leads to them.

use proptest::prelude::*;
use serde_json::json;

use super::kinds::{Kind, kind};
use super::shape::{Any, int, ip, labels, list, name, one_of, selector, with};

pub(super) fn kinds() -> Vec<Kind> {
    let address = || with(vec![("ip", ip())]);
    let subset = with(vec![
        ("addresses", list(address())),
        ("notReadyAddresses", list(address())),
        ("ports", list(with(vec![("name", name()), ("port", int(1..70_000))]))),
    ]);
    let class_parameters = with(vec![("apiGroup", one_of(&["acme.io", ""])), ("kind", name()), ("name", name())]);
    let parent = with(vec![
        ("group", one_of(&["", "Acme.io"])),
        ("resource", one_of(&["services", "Gateways"])),
        ("namespace", one_of(&["", "team-a"])),
        ("name", name()),
    ]);
    vec![
        service(),
        kind("", "v1", "Endpoints", vec![("subsets", list(subset))]),
        kind(
            "discovery.k8s.io",
            "v1",
            "EndpointSlice",
            vec![
                ("addressType", one_of(&["IPv4", "FQDN"])),
                ("ports", list(with(vec![("name", one_of(&["http", ""])), ("port", int(1..70_000))]))),
                ("endpoints", list(with(vec![("addresses", list(ip()))]))),
            ],
        ),
        kind(
            "networking.k8s.io",
            "v1",
            "Ingress",
            vec![
                (
                    "spec",
                    with(vec![
                        ("ingressClassName", one_of(&["nginx", ""])),
                        ("rules", list(with(vec![("host", one_of(&["", "a.acme.io", "b.acme.io", "*.b.io"]))]))),
                        ("tls", list(with(vec![("secretName", name())]))),
                    ]),
                ),
                ("status", balancer()),
            ],
        ),
        kind(
            "networking.k8s.io",
            "v1",
            "IngressClass",
            vec![("spec", with(vec![("controller", name()), ("parameters", class_parameters)]))],
        ),
        kind("networking.k8s.io", "v1", "NetworkPolicy", vec![("spec", with(vec![("podSelector", selector())]))]),
        kind("networking.k8s.io", "v1", "IPAddress", vec![("spec", with(vec![("parentRef", parent)]))]),
        kind(
            "networking.k8s.io",
            "v1",
            "ServiceCIDR",
            vec![("spec", with(vec![("cidrs", list(one_of(&["10.0.0.0/24", "fd00::/64"])))]))],
        ),
    ]
}

fn balancer() -> Any {
    let at = with(vec![("ip", ip()), ("hostname", one_of(&["", "lb.acme.io", "a-very-long-name.elb.amazonaws.com"]))]);
    with(vec![("loadBalancer", with(vec![("ingress", list(at))]))])
}

fn service() -> Kind {
    let port = with(vec![
        ("port", int(1..70_000)),
        ("nodePort", prop_oneof![Just(json!(0)), int(30_000..30_010)].boxed()),
        ("protocol", one_of(&["TCP", "UDP"])),
    ]);
    let spec = vec![
        ("type", one_of(&["ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "Odd"])),
        ("clusterIP", ip()),
        ("clusterIPs", list(one_of(&["10.0.0.1", "None"]))),
        ("externalIPs", list(one_of(&["1.1.1.1", "8.8.8.8"]))),
        ("externalName", one_of(&["acme.io", ""])),
        ("ports", list(port)),
        ("selector", labels()),
    ];
    kind("", "v1", "Service", vec![("spec", with(spec)), ("status", balancer())])
}
