//! What a change means.

use rolewright_core::{Binding, Role, RoleRef, Rule, Subject, World, diff};

fn world(roles: impl IntoIterator<Item = Role>, bindings: impl IntoIterator<Item = Binding>) -> World {
    World::new(roles, bindings)
}

fn lines(before: &World, after: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for change in diff(before, after) {
        for (sign, rules) in [('+', &change.gained), ('-', &change.lost), ('=', &change.kept)] {
            for rule in rules {
                let on: Vec<&str> = rule.resources.iter().chain(&rule.non_resource_urls).map(AsRef::as_ref).collect();
                let verbs: Vec<&str> = rule.verbs.iter().map(AsRef::as_ref).collect();
                lines.push(format!(
                    "{sign} {} {} {} {}",
                    change.principal,
                    change.scope,
                    on.join(","),
                    verbs.join(",")
                ));
            }
        }
    }
    lines
}

fn role<const V: usize>(verbs: [&str; V]) -> Role {
    Role::cluster("r", [Rule::resources([""], ["pods"], verbs)])
}

fn everywhere() -> Binding {
    Binding::cluster("b", RoleRef::cluster_role("r"), [Subject::user("alice")])
}

fn in_dev() -> Binding {
    Binding::namespaced("dev", "b", RoleRef::cluster_role("r"), [Subject::user("alice")])
}

#[test]
fn changes_by_meaning() {
    let twice = Role::cluster(
        "r",
        [Rule::resources([""], ["pods"], ["list"]), Rule::resources([""], ["pods"], ["get", "list"])],
    );
    let urls = Role::cluster("r", [Rule::urls(["/x"], ["get"])]);
    let account = Binding::namespaced("dev", "b", RoleRef::cluster_role("r"), [Subject::service_account("", "ci")]);
    let cases: Vec<(&str, World, World, Vec<&str>)> = vec![
        ("text only", world([role(["get", "list"])], [in_dev()]), world([twice], [in_dev()]), vec![]),
        ("a role nobody holds", world([], []), world([role(["get"])], []), vec![]),
        (
            "a new binding",
            world([role(["get"])], []),
            world([role(["get"])], [in_dev()]),
            vec!["+ User/alice dev pods get"],
        ),
        ("a binding that dangles", world([], []), world([], [in_dev()]), vec![]),
        (
            "the role appears",
            world([], [in_dev()]),
            world([role(["get"])], [in_dev()]),
            vec!["+ User/alice dev pods get"],
        ),
        (
            "a binding removed",
            world([role(["get"])], [in_dev()]),
            world([role(["get"])], []),
            vec!["- User/alice dev pods get"],
        ),
        (
            "one verb for another",
            world([role(["get"])], [in_dev()]),
            world([role(["list"])], [in_dev()]),
            vec!["+ User/alice dev pods list", "- User/alice dev pods get"],
        ),
        (
            "widened to the star",
            world([role(["get"])], [in_dev()]),
            world([role(["*"])], [in_dev()]),
            vec!["+ User/alice dev pods *"],
        ),
        (
            "narrowed from the star",
            world([role(["*"])], [in_dev()]),
            world([role(["get"])], [in_dev()]),
            vec!["- User/alice dev pods *", "= User/alice dev pods get"],
        ),
        (
            "from a namespace to everywhere",
            world([role(["get"])], [in_dev()]),
            world([role(["get"])], [everywhere()]),
            vec!["+ User/alice cluster pods get"],
        ),
        (
            "from everywhere to a namespace",
            world([role(["get"])], [everywhere()]),
            world([role(["get"])], [in_dev()]),
            vec!["- User/alice cluster pods get", "= User/alice dev pods get"],
        ),
        ("URLs in a namespace mean nothing", world([], []), world([urls.clone()], [in_dev()]), vec![]),
        ("URLs everywhere do", world([], []), world([urls], [everywhere()]), vec!["+ User/alice cluster /x get"]),
        (
            "a service account",
            world([], []),
            world([role(["get"])], [account]),
            vec!["+ ServiceAccount/dev/ci dev pods get"],
        ),
    ];
    for (what, before, after, expected) in cases {
        assert_eq!(lines(&before, &after), expected, "{what}");
    }
}
