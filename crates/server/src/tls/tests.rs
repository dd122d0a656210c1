use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::{Extension, Router};
use hyper::Uri;
use hyper_util::service::TowerToHyperService;
use jiff::Timestamp;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls::{RootCertStore, crypto::ring::default_provider};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::*;

/// A running server that answers with who is at the other end.
struct Running {
    authority: Authority,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    done: tokio::task::JoinHandle<()>,
}

async fn start(limits: Limits) -> Running {
    let authority = Authority::generate(Timestamp::now()).unwrap();
    let serving = authority.issue_server(&["example.test".to_owned()], Timestamp::now()).unwrap();
    let tls = Tls::new(&authority, &serving).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let service = TowerToHyperService::new(Router::new().fallback(answer));
    let done = tokio::spawn(serve(listener, tls, limits, service, async {
        let _ = stopped.await;
    }));
    Running { authority, address, stop, done }
}

async fn answer(Extension(peer): Extension<Peer>, uri: Uri) -> String {
    if uri.path() == "/slow" {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    match peer.certificate.as_deref() {
        None => "nobody".to_owned(),
        Some(PeerCertificate::Verified(it)) => format!("{} {}", it.user, it.groups.join(",")),
        Some(PeerCertificate::Refused(_)) => "refused".to_owned(),
    }
}

impl Running {
    async fn connect(&self, host: &str, client: Option<&Issued>) -> std::io::Result<TlsStream<TcpStream>> {
        self.connect_with(host, client, &[]).await
    }

    async fn connect_with(
        &self,
        host: &str,
        client: Option<&Issued>,
        protocols: &[&[u8]],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.certificate_der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client {
            None => builder.with_no_client_auth(),
            Some(it) => builder
                .with_client_auth_cert(
                    pem::certificates(&it.certificate_pem).unwrap(),
                    pem::private_key(&it.key_pem).unwrap(),
                )
                .unwrap(),
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from(host.to_owned()).unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    async fn get(&self, path: &str, client: Option<&Issued>) -> String {
        let mut stream = self.connect("localhost", client).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.rsplit("\r\n\r\n").next().unwrap().to_owned()
    }

    fn client(&self, user: &str, groups: &[&str]) -> Issued {
        self.authority.issue_client(user, groups.iter().copied(), Timestamp::now()).unwrap()
    }
}

#[tokio::test]
async fn certificates_tell_who_it_is() {
    let running = start(Limits::default()).await;
    assert_eq!(running.get("/", None).await, "nobody");
    let alice = running.client("alice", &["team:b", "team:a", "system:masters"]);
    assert_eq!(running.get("/", Some(&alice)).await, "alice team:b,team:a,system:masters");
    let long: Vec<String> = (0..300).map(|n| format!("group-{n}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let many = running.client("Zoë", &long);
    assert_eq!(running.get("/", Some(&many)).await, format!("Zoë {}", long.join(",")));
    let serving = running.authority.issue_server(&[], Timestamp::now()).unwrap();
    assert_eq!(running.get("/", Some(&serving)).await, "refused", "a server's certificate is for servers");
    let year = jiff::SignedDuration::from_hours(24 * 366);
    let old = running.authority.issue_client("old", [], Timestamp::now() - year).unwrap();
    assert_eq!(running.get("/", Some(&old)).await, "refused", "it is over");
    let stranger =
        Authority::generate(Timestamp::now()).unwrap().issue_client("root", ["system:masters"], Timestamp::now());
    assert_eq!(running.get("/", Some(&stranger.unwrap())).await, "refused", "signed by somebody else of the same name");
}

#[tokio::test]
async fn the_server_is_known_by_its_names() {
    let running = start(Limits::default()).await;
    for host in ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc", "example.test"] {
        assert!(running.connect(host, None).await.is_ok(), "{host}");
    }
    assert!(running.connect("example.org", None).await.is_err());
    let bad = running.authority.issue_server(&["zoë.test".to_owned()], Timestamp::now());
    assert_eq!(bad.unwrap_err().to_string(), "host `zoë.test` is neither an address nor an ASCII name");
}

/// Length, type and flags of a frame, its stream, and what it carries.
fn frame(ty: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, ty, flags, 0, 0, 0, stream], payload].concat()
}

#[tokio::test]
async fn http2_is_spoken_where_it_is_agreed() {
    const DATA: u8 = 0;
    let running = start(Limits::default()).await;
    let mut stream = running.connect_with("localhost", None, &[b"h2", b"http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let get = [&[0x82, 0x84, 0x87, 0x41, 9][..], b"localhost"].concat();
    let hello = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, 0, &[]), &frame(1, 0x5, 1, &get)].concat();
    stream.write_all(&hello).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let mut payload = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
        stream.read_exact(&mut payload).await.unwrap();
        if head[3] == DATA {
            assert_eq!(payload, b"nobody");
            break;
        }
    }
}

#[tokio::test]
async fn slow_clients_do_not_stay() {
    let short = Duration::from_millis(200);
    let running = start(Limits { handshake: short, head: short, connections: 1, ..Limits::default() }).await;
    let begun = Instant::now();
    let mut silent = TcpStream::connect(running.address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 8]).await.unwrap_or(0), 0, "no handshake, no connection");
    let mut slow = running.connect("localhost", None).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
    let mut answer = Vec::new();
    let _ = slow.read_to_end(&mut answer).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(running.get("/", None).await, "nobody", "there is room again");
}

#[tokio::test]
async fn running_requests_end_before_the_server() {
    let running = start(Limits::default()).await;
    let idle = running.connect("localhost", None).await.unwrap();
    let Running { authority, address, stop, done } = running;
    let (kept, kept_done) = oneshot::channel::<()>();
    let running = Running { authority, address, stop: kept, done: tokio::spawn(async { drop(kept_done.await) }) };
    let (answer, ()) = tokio::join!(running.get("/slow", None), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.send(()).unwrap();
    });
    assert_eq!(answer, "nobody");
    tokio::time::timeout(Duration::from_secs(5), done).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
    drop(idle);
    drop(running.stop);
    running.done.await.unwrap();
}

#[test]
fn authorities_survive_as_pem() {
    let made = Authority::generate(Timestamp::now()).unwrap();
    let read = Authority::from_pem(made.certificate_pem(), made.key_pem()).unwrap();
    assert_eq!(read.certificate_pem(), made.certificate_pem());
    let issued = read.issue_client("alice", ["a"], Timestamp::now()).unwrap();
    let chain = pem::certificates(&issued.certificate_pem).unwrap();
    ClientCertificates::of(made.certificate_der()).unwrap().check(&chain).unwrap();
    let other = Authority::generate(Timestamp::now()).unwrap();
    for (certificate, key, why) in [
        (
            made.certificate_pem(),
            other.key_pem(),
            "not a certificate authority: the key belongs to another certificate",
        ),
        (&*issued.certificate_pem, &*issued.key_pem, "not a certificate authority: it may not sign certificates"),
        ("", made.key_pem(), "no certificate found in the PEM text"),
    ] {
        assert_eq!(Authority::from_pem(certificate, key).unwrap_err().to_string(), why);
    }
    assert!(Authority::from_pem(made.certificate_pem(), "").is_err());
    assert!(!format!("{made:?} {issued:?}").contains("PRIVATE"));
}

#[test]
fn certificates_are_well_formed() {
    let now = Timestamp::now();
    let authority = Authority::generate(now).unwrap();
    let issued = authority.issue_client("alice", ["a", "b"], now).unwrap();
    let der = pem::certificates(&issued.certificate_pem).unwrap().remove(0);
    let (rest, certificate) = X509Certificate::from_der(&der).unwrap();
    assert!(rest.is_empty());
    assert_eq!(certificate.subject().to_string(), "O=a, O=b, CN=alice");
    assert_eq!(certificate.issuer().to_string(), "CN=rolewright");
    assert!(certificate.validity().is_valid());
    assert!(certificate.raw_serial().len() <= 20);
    assert!(!certificate.is_ca());
    assert!(certificate.extended_key_usage().unwrap().unwrap().value.client_auth);
}
