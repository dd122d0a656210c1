//! Bodies, URLs and headers that are too much or make no sense; compared with the real server where there is one.

use anyhow::{Context, Result, ensure};
use rolewright_server::tls::Limits;
use rolewright_testkit::apiserver::ApiServer;
use serde_json::{Value, json};

use crate::raw::{Place, ours};
use crate::{no_panics, turn};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: &str = "Content-Type: application/json\r\n";
const YAML: &str = "Content-Type: application/yaml\r\n";
const PROTOBUF: &str = "Content-Type: application/vnd.kubernetes.protobuf\r\n";
const JSON_PATCH: &str = "Content-Type: application/json-patch+json\r\n";

/// How alike the answers must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alike {
    /// Status, reason and message.
    Words,
    /// The status.
    Status,
    /// A refusal of the client.
    Refused,
}

struct Case {
    title: &'static str,
    line: String,
    headers: String,
    body: Vec<u8>,
    alike: Alike,
}

fn case(title: &'static str, line: impl Into<String>, headers: &str, body: impl Into<Vec<u8>>, alike: Alike) -> Case {
    Case { title, line: line.into(), headers: headers.to_owned(), body: body.into(), alike }
}

fn map(name: &str, data: &Value) -> String {
    json!({"metadata": {"name": name}, "data": data}).to_string()
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!(r#"{{"metadata":{{"name":"deep"}},"x":{}1{}}}"#, open.repeat(depth), close.repeat(depth))
}

fn bomb() -> String {
    let level = |level: usize| {
        let refer = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("a{level}: &a{level} [{refer}]\n")
    };
    let first = "metadata: {name: bomb}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    first + &(1..9).map(level).collect::<Vec<_>>().concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(u8::try_from(number % 128).unwrap_or_default() | 128);
        number /= 128;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
    bytes
}

fn cases() -> Vec<Case> {
    use Alike::{Refused, Status, Words};
    let post = format!("POST {MAPS}");
    let patch = format!("PATCH {MAPS}/victim");
    let large = 3 << 20;
    let rules = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("name-{number:08}")).collect();
        json!({"metadata": {"name": "large"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": names}]}).to_string()
    };
    let steps = |count: usize| {
        Value::from(vec![json!({"op": "test", "path": "/metadata/name", "value": "victim"}); count]).to_string()
    };
    let doubling: Vec<Value> =
        std::iter::once(json!({"op": "add", "path": "/data/a", "value": "x".repeat(1 << 16)}))
            .chain((0..64).map(
                |number| json!({"op": "copy", "from": "/data", "path": format!("/metadata/annotations/a{number}")}),
            ))
            .collect();
    let magic = b"k8s\0".as_slice();
    let magic = |rest: &[u8]| [magic, rest].concat();
    let mut deep_message = vec![0];
    for _ in 0..2000 {
        deep_message = [vec![0x0a], varint(deep_message.len() as u64), deep_message].concat();
    }
    let many = |count: usize, one: &str| vec![one; count].join("&");
    let mut cases = vec![
        case("too large", &*post, JSON, map("large", &json!({"a": "x".repeat(large)})), Words),
        case("too large by a byte", &*post, JSON, " ".repeat(large + 1), Words),
        case("as large as may be", &*post, JSON, " ".repeat(large), Words),
        case("too large, YAML", &*post, YAML, "x: ".to_owned() + &"x".repeat(large), Words),
        case("too large a patch", &*patch, JSON_PATCH, " ".repeat(large + 1), Words),
        case(
            "too large to store",
            "POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            JSON,
            rules(120_000),
            Words,
        ),
        case("deep lists", &*post, JSON, nested("[", "]", 100_000), Refused),
        case("deep objects", &*post, JSON, nested(r#"{"a":"#, "}", 100_000), Refused),
        case("deep and unclosed", &*post, JSON, "[".repeat(1 << 20), Words),
        case("deep YAML", &*post, YAML, nested("[", "]", 100_000), Refused),
        case("an alias bomb", &*post, YAML, bomb(), Refused),
        case("an alias of itself", &*post, YAML, "metadata: &a\n  name: x\n  y: *a\n", Refused),
        case(
            "bad UTF-8",
            &*post,
            JSON,
            [br#"{"metadata":{"name":"utf"},"data":{"a":""#.as_slice(), &[0xff, 0xfe, 0x80], br#""}}"#].concat(),
            Status,
        ),
        case("NUL bytes", &*post, JSON, vec![0; 1000], Words),
        case("nothing", &*post, JSON, "", Words),
        case("no object", &*post, JSON, "[1]", Words),
        case("protobuf, cut short", &*post, PROTOBUF, magic(&[0x0a, 0xff]), Status),
        case("protobuf, a huge length", &*post, PROTOBUF, magic(&[vec![0x12], varint(u64::MAX)].concat()), Status),
        case("protobuf, a long varint", &*post, PROTOBUF, magic(&[0xff; 64]), Status),
        case("protobuf, deep", &*post, PROTOBUF, magic(&deep_message), Status),
        case("protobuf, groups", &*post, PROTOBUF, magic(&[0x0b; 10_000]), Status),
        case("protobuf, no magic", &*post, PROTOBUF, [0; 100], Words),
        case("10,000 operations", &*patch, JSON_PATCH, steps(10_000), Status),
        case("10,001 operations", &*patch, JSON_PATCH, steps(10_001), Words),
        case("copies that add up", &*patch, JSON_PATCH, Value::from(doubling).to_string(), Words),
        case("a patch that is none", &*patch, JSON_PATCH, r#"{"op":"add"}"#, Words),
        case("a patch of nothing", &*patch, JSON_PATCH, r#"[{"op":"remove","path":"/x/y/z"}]"#, Words),
        case("a patch without a path", &*patch, JSON_PATCH, r#"[{"op":"add","value":1}]"#, Words),
        case(
            "a huge index",
            &*patch,
            JSON_PATCH,
            r#"[{"op":"add","path":"/metadata/finalizers/99999999999999999999","value":"a"}]"#,
            Status,
        ),
        case("another type", &*post, "Content-Type: application/x\r\n", "{}", Words),
        case("a broken type", &*post, "Content-Type: ;;;\r\n", "{}", Status),
        case("another type of patch", &*patch, "Content-Type: text/plain\r\n", "{}", Words),
        case(
            "a huge selector",
            format!("GET {MAPS}?labelSelector=a+in+({})", vec!["value"; 9000].join(",")),
            "",
            "",
            Status,
        ),
        case("a bad selector", format!("GET {MAPS}?labelSelector={}", "(".repeat(10_000)), "", "", Status),
        case("many requirements", format!("GET {MAPS}?labelSelector={}", vec!["a!=b"; 9000].join(",")), "", "", Status),
        case("many parameters", format!("GET {MAPS}?{}", many(9000, "a=b")), "", "", Status),
        case("many limits", format!("GET {MAPS}?{}", many(6000, "limit=1")), "", "", Status),
        case("a huge limit", format!("GET {MAPS}?limit=9223372036854775807"), "", "", Status),
        case("a limit beyond", format!("GET {MAPS}?limit=9223372036854775808"), "", "", Words),
        case("a huge version", format!("GET {MAPS}?resourceVersion=18446744073709551616"), "", "", Status),
        case("a token of rubbish", format!("GET {MAPS}?continue={}", "A".repeat(10_000)), "", "", Status),
        case("a huge timeout", format!("GET {MAPS}?timeoutSeconds=9223372036854775807&limit=1"), "", "", Status),
        case("many slashes", format!("GET /api/v1/{}", "a/".repeat(10_000)), "", "", Refused),
        case("a huge header", "GET /api", &format!("X-Large: {}\r\n", "x".repeat(2 << 20)), "", Refused),
        case("a method of its own", format!("FLY {MAPS}"), "", "", Refused),
    ];
    let groups = (0..500).map(|number| format!("Impersonate-Group: g{number}\r\n")).collect::<Vec<_>>().concat();
    cases.push(case("500 groups", "GET /api", &format!("Impersonate-User: a\r\n{groups}"), "", Status));
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_and_nonsense_is_refused_as_kubernetes_refuses_it() -> Result<()> {
    let _turn = turn().await;
    let (server, place, _end) = ours(Limits::default()).await?;
    let real = ApiServer::start("hostile bodies")?;
    let other = real.as_ref().map(|real| Place::real(&real.ready)).transpose()?;
    let victim = map("victim", &json!({}));
    let victim = victim.replace(r#""name":"victim""#, r#""name":"victim","annotations":{"a":"b"}"#);
    let mut apart = Vec::new();
    for place in [Some(&place), other.as_ref()].into_iter().flatten() {
        let (status, body) = place.ask(&format!("POST {MAPS}"), JSON, victim.as_bytes()).await?;
        ensure!(status == 201, "{body}");
    }
    let cases = cases();
    for Case { title, line, headers, body, alike } in &cases {
        // WHY: who is hung up on while they still send may not hear why.
        let hung_up = |error: anyhow::Error| {
            if *alike == Alike::Refused { Ok((400, Value::Null)) } else { Err(error.context(*title)) }
        };
        let (status, answer) = place.ask(line, headers, body).await.or_else(hung_up)?;
        let words = |status: u16, answer: &Value| json!([status, answer["reason"], answer["message"]]);
        // What hyper refuses on its own never becomes a request.
        let status_object = answer["kind"] == "Status" || status < 300 || [400, 405, 414, 431].contains(&status);
        if !status_object || status >= 500 && *alike != Alike::Words || *alike == Alike::Refused && status < 400 {
            apart.push(format!("{title}: {status} {answer}"));
        }
        let Some(other) = &other else { continue };
        let (theirs, answered) = other.ask(line, headers, body).await.or_else(hung_up)?;
        let same = match alike {
            Alike::Words => words(status, &answer) == words(theirs, &answered),
            Alike::Status => status == theirs,
            Alike::Refused => (400..500).contains(&theirs),
        };
        if !same {
            let short = |text: &Value| text.to_string().chars().take(400).collect::<String>();
            apart.push(format!(
                "{title}:\n  real {}\n  ours {}",
                short(&words(theirs, &answered)),
                short(&words(status, &answer))
            ));
        }
    }
    // A body that comes in pieces and does not say how large it is.
    let chunked =
        place.head(&format!("POST {MAPS}"), &format!("{JSON}Transfer-Encoding: chunked\r\nConnection: close\r\n"));
    let piece = format!("10000\r\n{}\r\n", " ".repeat(1 << 16)).repeat(50);
    let (status, answer) = place.exchange(format!("{chunked}{piece}0\r\n\r\n").as_bytes()).await.context("chunks")?;
    ensure!(status == 413 && answer["reason"] == "RequestEntityTooLarge", "{status} {answer}");
    println!(
        "hostile: {} bodies, URLs and headers, {}",
        cases.len(),
        if other.is_some() { "on both servers" } else { "without a real server" }
    );
    ensure!(apart.is_empty(), "{} differ:\n{}", apart.len(), apart.join("\n"));
    place.lives().await?;
    server.end();
    no_panics();
    Ok(())
}
