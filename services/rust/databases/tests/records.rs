//! The contract `records` over every binding, with rows in memory, in SQLite, and in a
//! PostgreSQL that the test starts.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tonic::Code;
use wirelab_contract::print_error;
use wirelab_contract::records::CountAllocationsRequest;
use wirelab_service_clients::records::records_client::RecordsClient;

use crate::harness::{Service, block_on, grpc, iiop, raw, rest, soap};

const ALLOCATE: &str = r#"{"name":"Alice","id":113517,"courseCode":"CS31245"}"#;

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wirelab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn sqlite(&self) -> Value {
        json!({"kind": "sqlite", "url": self.0.join("rows").display().to_string()})
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left_over = std::fs::remove_dir_all(&self.0);
    }
}

fn records(stack: &Value, store: Value) -> Service {
    Service::start(stack, json!({"contract": "records", "store": store}))
}

fn post(service: &Service, path: &str, body: &str) -> (String, String) {
    let fields = [("content-type", "application/json")];
    let reply = service.post(path, &fields, body.as_bytes());
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

fn count(service: &Service) -> (String, String) {
    post(service, "/records/count-allocations", "{}")
}

#[test]
fn the_studys_request_has_the_studys_reply_in_memory_and_sqlite() {
    let folder = Folder::new("study");
    for store in [json!({}), folder.sqlite()] {
        let service = records(&rest("json"), store.clone());
        let (head, body) = post(&service, "/records/allocate", ALLOCATE);
        assert!(head.starts_with("HTTP/1.1 200 "), "{store}: {head}");
        assert_eq!(body.len(), 187, "{store}: {body}");
        let (_, found) = post(
            &service,
            "/records/find-allocation",
            r#"{"groupId":879253}"#,
        );
        let found: Value = serde_json::from_str(&found).expect("JSON");
        let team: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(found["teamDetails"], team["teamDetails"], "{store}");
        let (head, body) = post(&service, "/records/find-allocation", r#"{"groupId":1}"#);
        assert!(head.starts_with("HTTP/1.1 400 "), "{store}: {head}");
        assert_eq!(body, r#"{"error":"no such group"}"#, "{store}");
        assert_eq!(count(&service).1, r#"{"count":10002}"#, "{store}");
    }
}

#[test]
fn the_ready_line_and_the_metrics_name_the_database() {
    let folder = Folder::new("ready");
    let mut store = folder.sqlite();
    store["pool"] = 3.into();
    let service = records(&rest("json"), store);
    assert_eq!(service.libraries("store"), ["sqlx", "libsqlite3-sys"]);
    assert_eq!(service.ready["set"]["store"], "sqlite");
    assert_eq!(service.ready["set"]["store_pool"], 3);
    let name = |state| format!("wirelab_store_connections{{state=\"{state}\"}}");
    // The pool takes the self-call's connection back a moment after the reply.
    service.wait_for_metric(&name("in_use"), 0.0);
    assert!((1.0..=3.0).contains(&service.metric(&name("idle"))));
    let memory = records(&rest("json"), json!({}));
    assert!(memory.libraries("store").is_empty());
    assert!(!memory.metrics().contains("wirelab_store_connections"));
}

#[test]
fn every_binding_serves_records_from_a_database() {
    // The self-call before the ready line counts the rows: a service that starts has answered.
    for stack in [
        rest("cbor"),
        grpc(),
        soap("soap-literal"),
        soap("soap-rpc"),
        soap("soap-encoded"),
        iiop(),
        raw("soap-literal"),
        raw("token-xml"),
    ] {
        let folder = Folder::new("bindings");
        let service = records(&stack, folder.sqlite());
        assert_eq!(service.ready["set"]["store"], "sqlite", "{stack}");
    }
}

/// A PostgreSQL on a Unix socket in a folder of its own.
struct Postgres {
    folder: Folder,
    process: Option<Child>,
}

/// Where Debian keeps the server's programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .find(|bin| bin.join("initdb").exists())
}

/// A command as the user `postgres` where this one is root, whom the server refuses.
fn drop_privileges(program: &Path) -> Command {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program);
    command
}

impl Postgres {
    /// None, with the reason printed, where no server is installed.
    fn start(name: &str) -> Option<Self> {
        let Some(bin) = programs() else {
            print_error!("skipped: no PostgreSQL in /usr/lib/postgresql");
            return None;
        };
        let folder = Folder::new(name);
        let data = folder.0.join("data");
        let own = Command::new("chown")
            .arg("postgres")
            .arg(&folder.0)
            .status();
        drop(own);
        let made = drop_privileges(&bin.join("initdb"))
            .args(["--auth=trust", "--username=wirelab", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .expect("initdb runs");
        assert!(made.success());
        let mut postgres = Postgres {
            folder,
            process: None,
        };
        postgres.run(&bin);
        Some(postgres)
    }

    fn run(&mut self, bin: &Path) {
        let data = self.folder.0.join("data");
        let process = drop_privileges(&bin.join("postgres"))
            // No TCP, no fsync, and the socket in the folder of the test.
            .args(["-h", "", "-F", "-k"])
            .arg(&self.folder.0)
            .arg("-D")
            .arg(&data)
            .stderr(Stdio::null())
            .spawn()
            .expect("postgres runs");
        self.process = Some(process);
        let socket = self.folder.0.join(".s.PGSQL.5432");
        let deadline = Instant::now() + Duration::from_secs(30);
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(Instant::now() < deadline, "postgres does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        // It listens before it takes connections.
        std::thread::sleep(Duration::from_millis(500));
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // SIGINT is PostgreSQL's fast shutdown. `setpriv` has become the server by exec.
            let id = process.id().to_string();
            let _sent = Command::new("kill").args(["-INT", &id]).status();
            let _ended = process.wait();
        }
    }

    fn store(&self, pool: u32) -> Value {
        let url = format!(
            "postgres://wirelab@/postgres?host={}",
            self.folder.0.display()
        );
        json!({"kind": "postgres", "url": url, "pool": pool, "timeout_ms": 500})
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn a_service_survives_its_postgres_and_recovers() {
    let Some(mut postgres) = Postgres::start("postgres") else {
        return;
    };
    let service = records(&rest("json"), postgres.store(2));
    assert_eq!(service.libraries("store"), ["sqlx"]);
    let (head, body) = post(&service, "/records/allocate", ALLOCATE);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head} {body}");
    assert!(body.contains("\"groupId\":879253"), "{body}");
    let by_grpc = records(&grpc(), postgres.store(2));
    assert_eq!(
        count(&service).1,
        r#"{"count":10001}"#,
        "tables are reset at start"
    );
    let by_soap = records(&soap("soap-literal"), postgres.store(2));
    postgres.stop();

    let start = Instant::now();
    let (head, body) = count(&service);
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(body, r#"{"error":"database unavailable"}"#);
    assert!(start.elapsed() < Duration::from_secs(5));
    let status = block_on(async {
        let address = format!("http://{}", by_grpc.address());
        let mut client = RecordsClient::connect(address).await.expect("it listens");
        client
            .count_allocations(CountAllocationsRequest {})
            .await
            .unwrap_err()
    });
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(status.message(), "database unavailable");
    let envelope = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
                    <CountAllocationsRequest xmlns='urn:wirelab:records:v1'/></e:Body></e:Envelope>";
    let fields = [
        ("content-type", "text/xml"),
        ("soapaction", "\"urn:wirelab:records:v1#CountAllocations\""),
    ];
    let fault = by_soap.post("/records/soap", &fields, envelope.as_bytes());
    assert!(fault.starts_with("HTTP/1.1 500 "), "{fault}");
    assert!(
        fault.contains(":Server<") && fault.contains("database unavailable"),
        "{fault}"
    );
    let errors = "wirelab_errors_total{operation=\"CountAllocations\"}";
    assert_eq!(service.metric(errors), 0.0, "not an application error");

    postgres.run(&programs().expect("it was there"));
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (head, body) = count(&service);
        if head.starts_with("HTTP/1.1 200 ") {
            assert_eq!(body, r#"{"count":10001}"#);
            break;
        }
        assert!(Instant::now() < deadline, "{head} {body}");
    }
}
