//! Random objects of any type, from the tables of facts. Names of fields choose the words.

use serde_json::{Value, json};

use crate::facts::{Codec, Field, Shape, Ty, Type};
use crate::strategy::Object;

/// Splitmix64: numbers that repeat for the same seed.
pub(super) struct Random {
    state: u64,
    /// Lists and maps may be empty, which is not the same as absent for Go.
    empties: bool,
    /// Values may be far from what anybody would accept.
    hostile: bool,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, empties: true, hostile: false }
    }

    pub(super) fn hostile(seed: u64) -> Self {
        Self { state: seed, empties: false, hostile: true }
    }

    pub(super) fn number(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.number(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.number(from.len() as u64)).unwrap()]
    }

    /// An object of a kind; fuller the smaller `sparse` is.
    pub(super) fn object(&mut self, ty: &'static Type, sparse: u64) -> Object {
        let mut object = Object::new();
        self.fields(ty, &mut object, 0, sparse);
        object
    }

    fn fields(&mut self, ty: &'static Type, object: &mut Object, depth: u64, sparse: u64) {
        // One source of a volume, one handler of a probe: several would say little more.
        let choice = ty.name.ends_with("VolumeSource") && ty.own_fields().len() > 10;
        let chosen = self.number(ty.own_fields().len().max(1) as u64);
        for (i, field) in ty.own_fields().iter().enumerate() {
            if let (true, Ty::Ref(inner)) = (field.inline, field.ty) {
                self.fields(inner, object, depth, sparse);
                continue;
            }
            if matches!(field.name, "apiVersion" | "kind") && ty.name.ends_with("TypeMeta") {
                continue;
            }
            let wanted = if choice {
                i as u64 == chosen && self.chance(70)
            } else if depth < 3 && matches!(field.name, "spec" | "template" | "containers" | "metadata" | "jobTemplate")
            {
                self.chance(90)
            } else {
                self.chance(if depth > 8 { 10 } else { 100 / (sparse + 1) })
            };
            if wanted && field.name != "managedFields" {
                let value = self.value(field, field.ty, depth, sparse);
                object.insert(field.name.to_owned(), value);
            }
        }
    }

    pub(super) fn value(&mut self, field: &'static Field, ty: Ty, depth: u64, sparse: u64) -> Value {
        match ty {
            Ty::Bool => self.chance(50).into(),
            Ty::Int32 | Ty::Int64 if self.hostile && self.chance(30) => {
                self.pick(&[-1, 2, 31, 600, 5000, 65_536, i64::from(i32::MAX)]).into()
            }
            Ty::Int32 | Ty::Int64 => self.pick(&[0, 1, 3, 80, 443, 8080]).into(),
            Ty::Uint32 => self.pick(&[0, 1, 3]).into(),
            Ty::Float64 => self.pick(&[0.0, 1.5]).into(),
            Ty::String if self.hostile && !field.values.is_empty() && self.chance(60) => self.pick(field.values).into(),
            Ty::String if self.hostile && self.chance(40) => self.pick(STRANGE).into(),
            Ty::String => self.text(field.name).into(),
            Ty::Bytes => self.pick(&["", "YQ==", "YWJj"]).into(),
            Ty::Any => json!({"a": 1}),
            Ty::Ref(ty) => match ty.shape {
                Shape::Struct(_) => {
                    let mut object = Object::new();
                    self.fields(ty, &mut object, depth + 1, sparse);
                    object.into()
                }
                Shape::List(_) => json!([]),
                Shape::Codec(codec, _) => self.coded(codec),
            },
            Ty::List(inner) => {
                let length = self.length(field.name != "policies");
                (0..length).map(|_| self.value(field, *inner, depth, sparse)).collect()
            }
            Ty::Map(inner) => {
                // An empty map of amounts and none are not the same in Go, but in what Go writes.
                let length = self.length(field.name != "allocatable");
                let keys: &[&str] = if matches!(inner, Ty::Ref(_)) {
                    &["cpu", "memory", "hugepages-2Mi", "ephemeral-storage", "example.com/gpu"]
                } else {
                    &[
                        "app",
                        "example.com/role",
                        "deprecated.deployment.rollback.to",
                        "deprecated.daemonset.template.generation",
                        "pod.beta.kubernetes.io/init-containers",
                    ]
                };
                let entry = |random: &mut Self| {
                    let key = random.pick(keys);
                    let value = match (key.starts_with("deprecated"), inner) {
                        (true, Ty::String) => random.pick(&["7", "03", "0"]).into(),
                        _ => random.value(field, *inner, depth, sparse),
                    };
                    (key.to_owned(), value)
                };
                (0..length).map(|_| entry(self)).collect::<Object>().into()
            }
        }
    }

    fn length(&mut self, empties: bool) -> usize {
        if empties && self.empties { self.pick(&[0, 1, 1, 2]) } else { self.pick(&[1, 1, 2]) }
    }

    fn coded(&mut self, codec: Codec) -> Value {
        match codec {
            Codec::Time => "2026-01-02T03:04:05Z".into(),
            Codec::MicroTime => "2026-01-02T03:04:05.000001Z".into(),
            Codec::Quantity => self.quantity().into(),
            Codec::IntOrString => self.pick(&["0", "80", "\"\"", "\"http\"", "\"30%\""]).parse().unwrap(),
            _ => json!({}),
        }
    }

    fn quantity(&mut self) -> &'static str {
        if self.hostile && self.chance(20) {
            return self.pick(&["-1", "-500m", "3", "5Gi", "2M"]);
        }
        self.pick(&[
            "0", "1", "100m", "1500m", "0.5", "1Gi", "0.5Gi", "1e3", "1234567", "1u", "100n", "0.0001", "1999999u",
            "3E-4", "1024", "512Mi", "2k", "1.5",
        ])
    }

    fn text(&mut self, field: &str) -> &'static str {
        match field {
            "image" | "reference" => self.pick(IMAGES),
            "type" => self.pick(&[
                "",
                "",
                "RollingUpdate",
                "Recreate",
                "OnDelete",
                "ClusterIP",
                "NodePort",
                "LoadBalancer",
                "ExternalName",
                "Container",
                "Pod",
                "Resource",
                "Pods",
            ]),
            "sessionAffinity" => self.pick(&["", "None", "ClientIP"]),
            "restartPolicy" => self.pick(&["", "Always", "OnFailure", "Never"]),
            "policyTypes" => self.pick(&["Ingress", "Egress"]),
            "ip" | "podIP" | "hostIP" | "clusterIP" | "loadBalancerIP" => self.pick(&["", "10.0.0.1", "10.0.0.2"]),
            "podCIDR" | "podCIDRs" | "cidr" => self.pick(&["10.1.0.0/24", "10.2.0.0/24"]),
            _ => self.pick(&["", "a", "web", "TCP", "UDP", "Always", "IfNotPresent", "File", "None", "x-y"]),
        }
    }
}

const IMAGES: &[&str] = &[
    "",
    "nginx",
    "nginx:latest",
    "nginx:1.27",
    "NGINX",
    "Foo/bar",
    "foo/Bar",
    "localhost/a",
    "localhost:5000/a",
    "localhost:5000/a:latest",
    "example.com/a/b__c:latest",
    "a___b",
    "a..b",
    "a--b",
    "-a",
    "a-",
    "a:",
    "a:b:c",
    "a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "a:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "a:latest@sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
    "a:latest@sha1:0123456789abcdef0123456789abcdef01234567",
    "a@",
    "@",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef:latest",
    "docker.io/nginx",
    "index.docker.io/nginx",
    "[::1]:5000/a",
    "[::1/a",
    "foo_bar.baz/x",
    "foo-.baz/x",
    "a/b/c/d:latest",
    "a//b",
    "/a",
    "a/",
    "ä",
    "registry.k8s.io/pause:3.10",
    "a: latest",
    "example.com:port/a",
    "example.com:/a",
];

const STRANGE: &[&str] = &[
    "A B",
    "Upper",
    "-a",
    "a.",
    "example.com/x",
    "a/b/c",
    "a.b.example.com",
    "127.0.0.1",
    "192.0.2.7",
    "010.0.0.1",
    "fd00::1",
    "::ffff:1.2.3.4",
    "0.0.0.0",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "fd00::/64",
    "../up",
    "..data",
    "/abs/path",
    "*",
    "*.example.com",
    "https://example.com/a?b#c",
    "$(X)",
    "50%",
    "101%",
    "0",
    "In",
    "Exists",
    "Gt",
    "None",
    "Localhost",
    "this-label-is-longer-than-the-sixty-three-characters-that-a-label-may-have",
];
