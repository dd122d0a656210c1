//! RoleBinding and ClusterRoleBinding.

use rolewright_core::validate::{self, defaulted, strategy};
use rolewright_core::{Binding, RoleRef, Subject};

use super::{BAD_SUBDOMAIN, expect};

fn role_ref(api_group: &str, kind: &str, name: &str) -> RoleRef {
    RoleRef { api_group: api_group.into(), kind: kind.into(), name: name.into() }
}

fn subject(kind: &str, api_group: &str, name: &str) -> Subject {
    Subject { kind: kind.into(), api_group: api_group.into(), name: name.into(), ..Subject::default() }
}

fn namespaced(role_ref: RoleRef, subjects: impl Into<Vec<Subject>>) -> Binding {
    defaulted(Binding::namespaced("dev", "b", role_ref, subjects))
}

fn cluster(role_ref: RoleRef, subjects: impl Into<Vec<Subject>>) -> Binding {
    defaulted(Binding::cluster("b", role_ref, subjects))
}

const RBAC: &str = "rbac.authorization.k8s.io";

#[test]
fn role_refs_of_a_role_binding() {
    let cases: [(RoleRef, &[&str]); 9] = [
        (RoleRef::role("r"), &[]),
        (RoleRef::cluster_role("system:r x"), &[]),
        (role_ref("", "Role", "r"), &[]),
        (
            role_ref("apps", "Role", "r"),
            &["roleRef.apiGroup: Unsupported value: \"apps\": supported values: \"rbac.authorization.k8s.io\""],
        ),
        (
            role_ref(RBAC, "role", "r"),
            &["roleRef.kind: Unsupported value: \"role\": supported values: \"Role\", \"ClusterRole\""],
        ),
        (RoleRef::role(""), &["roleRef.name: Required value"]),
        (RoleRef::role(".."), &["roleRef.name: Invalid value: \"..\": may not be '..'"]),
        (RoleRef::role("a/b"), &["roleRef.name: Invalid value: \"a/b\": may not contain '/'"]),
        (
            RoleRef::default(),
            &[
                "roleRef.kind: Unsupported value: \"\": supported values: \"Role\", \"ClusterRole\"",
                "roleRef.name: Required value",
            ],
        ),
    ];
    for (role_ref, texts) in cases {
        expect(&format!("{role_ref:?}"), &validate::binding(&namespaced(role_ref, [])), texts);
    }
}

#[test]
fn role_refs_of_a_cluster_role_binding() {
    let cases: [(RoleRef, &[&str]); 5] = [
        (RoleRef::cluster_role("r"), &[]),
        (RoleRef::role("r"), &["roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\""]),
        (RoleRef::cluster_role(""), &["roleRef.name: Required value"]),
        (RoleRef::cluster_role("5%"), &["roleRef.name: Invalid value: \"5%\": may not contain '%'"]),
        (
            role_ref("v1", "", ""),
            &[
                "roleRef.apiGroup: Unsupported value: \"v1\": supported values: \"rbac.authorization.k8s.io\"",
                "roleRef.kind: Unsupported value: \"\": supported values: \"ClusterRole\"",
                "roleRef.name: Required value",
            ],
        ),
    ];
    for (role_ref, texts) in cases {
        expect(&format!("{role_ref:?}"), &validate::binding(&cluster(role_ref, [])), texts);
    }
}

#[test]
fn subjects_of_both_kinds() {
    let bad_name = format!("subjects[0].name: Invalid value: \"A_b\": {BAD_SUBDOMAIN}");
    let long = "x".repeat(254);
    let too_long = format!("subjects[0].name: Invalid value: \"{long}\": must be no more than 253 characters");
    let account = |name: &str| Subject::service_account("dev", name);
    let bad_kind = "subjects[0].kind: Unsupported value: \"user\": supported values: \"ServiceAccount\", \"User\", \
        \"Group\"";
    let bad_group =
        "subjects[0].apiGroup: Unsupported value: \"apps\": supported values: \"rbac.authorization.k8s.io\"";
    let no_name = "subjects[0].name: Required value";
    let cases: [(Subject, &[&str]); 16] = [
        (Subject::user("any name/%\u{7f}"), &[]),
        (Subject::group("system:masters"), &[]),
        (account("a.b-c"), &[]),
        (Subject { namespace: "No Such".into(), ..Subject::user("u") }, &[]),
        (Subject { namespace: "Not A Namespace".into(), ..account("a") }, &[]),
        (Subject::user(""), &[no_name]),
        (Subject::group(""), &[no_name]),
        (account(""), &[no_name]),
        (account("A_b"), &[&bad_name]),
        (account(&long), &[&too_long]),
        (
            Subject { api_group: RBAC.into(), ..account("a") },
            &["subjects[0].apiGroup: Unsupported value: \"rbac.authorization.k8s.io\": supported values: \"\""],
        ),
        (subject("User", "apps", "u"), &[bad_group]),
        (subject("Group", "apps", ""), &[no_name, bad_group]),
        (subject("user", "", "u"), &[bad_kind]),
        (subject("user", "apps", ""), &[no_name, bad_kind]),
        (
            Subject::default(),
            &[
                no_name,
                "subjects[0].kind: Unsupported value: \"\": supported values: \"ServiceAccount\", \"User\", \"Group\"",
            ],
        ),
    ];
    for (subject, texts) in cases {
        let case = format!("{subject:?}");
        expect(&case, &validate::binding(&namespaced(RoleRef::role("r"), [subject.clone()])), texts);
        expect(&case, &validate::binding(&cluster(RoleRef::cluster_role("r"), [subject])), texts);
    }
}

#[test]
fn a_service_account_needs_a_namespace_where_the_binding_has_none() {
    let homeless = [Subject::user("u"), Subject::service_account("", "a")];
    expect("RoleBinding", &validate::binding(&namespaced(RoleRef::role("r"), homeless.clone())), &[]);
    let texts = ["subjects[1].namespace: Required value"];
    expect("ClusterRoleBinding", &validate::binding(&cluster(RoleRef::cluster_role("r"), homeless)), &texts);

    let all_wrong = Subject { api_group: "x".into(), ..Subject::service_account("", "-") };
    let name = format!("subjects[0].name: Invalid value: \"-\": {BAD_SUBDOMAIN}");
    let texts = [
        &*name,
        "subjects[0].apiGroup: Unsupported value: \"x\": supported values: \"\"",
        "subjects[0].namespace: Required value",
    ];
    expect("all wrong", &validate::binding(&cluster(RoleRef::cluster_role("r"), [all_wrong])), &texts);
}

#[test]
fn the_same_subject_may_come_twice() {
    let twice = [Subject::user("u"), Subject::user("u")];
    expect("RoleBinding", &validate::binding(&namespaced(RoleRef::role("r"), twice.clone())), &[]);
    expect("ClusterRoleBinding", &validate::binding(&cluster(RoleRef::cluster_role("r"), twice)), &[]);
}

#[test]
fn metadata_comes_first() {
    let binding = Binding::namespaced("", "", role_ref(RBAC, "x", ""), [Subject::user("")]);
    let texts = [
        "metadata.name: Required value: name or generateName is required",
        "metadata.namespace: Required value",
        "roleRef.kind: Unsupported value: \"x\": supported values: \"Role\", \"ClusterRole\"",
        "roleRef.name: Required value",
        "subjects[0].name: Required value",
    ];
    expect("RoleBinding", &validate::binding(&binding), &texts);
    let texts = ["metadata.name: Invalid value: \"a/b\": may not contain '/'"];
    expect("ClusterRoleBinding", &validate::binding(&Binding::cluster("a/b", RoleRef::cluster_role("r"), [])), &texts);
}

#[test]
fn a_binding_never_changes_what_it_grants() {
    let old = namespaced(RoleRef::role("r"), []);
    expect("new subjects", &validate::binding_update(&namespaced(RoleRef::role("r"), [Subject::user("u")]), &old), &[]);
    expect("group by default", &validate::binding_update(&namespaced(role_ref("", "Role", "r"), []), &old), &[]);

    let texts = [
        "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"r\"}: \
         cannot change roleRef",
    ];
    expect("other kind", &validate::binding_update(&namespaced(RoleRef::cluster_role("r"), []), &old), &texts);

    let texts = [
        "roleRef.apiGroup: Unsupported value: \"<\": supported values: \"rbac.authorization.k8s.io\"",
        "roleRef: Invalid value: {\"APIGroup\":\"\\u003c\",\"Kind\":\"Role\",\"Name\":\"s\"}: cannot change roleRef",
    ];
    expect("other name", &validate::binding_update(&namespaced(role_ref("<", "Role", "s"), []), &old), &texts);

    let (old, new) = (cluster(RoleRef::cluster_role("r"), []), cluster(RoleRef::cluster_role("s"), []));
    let texts = [
        "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"s\"}: \
         cannot change roleRef",
    ];
    expect("ClusterRoleBinding", &validate::binding_update(&new, &old), &texts);
}

#[test]
fn updates_repeat_what_is_wrong_with_metadata() {
    let old = namespaced(RoleRef::role("r"), []);
    let new = Binding::namespaced("dev", "c", RoleRef::role("s"), []);
    let moved = "metadata.name: Invalid value: \"c\": field is immutable";
    let changed = "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\
        \"s\"}: cannot change roleRef";
    expect("strategy", &strategy::binding_update(&new, &old), &[moved, changed]);
    expect("server", &validate::binding_update(&new, &old), &[moved, moved, changed]);
}

#[test]
fn defaults_fill_in_groups_and_nothing_else() {
    let written = Binding::cluster(
        "b",
        role_ref("", "Nonsense", "r"),
        [
            subject("User", "", "u"),
            subject("Group", "", "g"),
            subject("Group", "apps", "g"),
            subject("ServiceAccount", "", "a"),
            subject("Nonsense", "", "n"),
        ],
    );
    let stored = Binding::cluster(
        "b",
        role_ref(RBAC, "Nonsense", "r"),
        [
            subject("User", RBAC, "u"),
            subject("Group", RBAC, "g"),
            subject("Group", "apps", "g"),
            subject("ServiceAccount", "", "a"),
            subject("Nonsense", "", "n"),
        ],
    );
    assert_eq!(defaulted(written), stored);
    assert_eq!(defaulted(stored.clone()), stored);
    let foreign = namespaced(role_ref("apps", "Role", "r"), []);
    assert_eq!(foreign.role_ref.api_group, "apps");
}
