//! A service in Rust, as a process.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};

/// The program of another package, which cargo builds into the same folder as the engine's.
fn program() -> PathBuf {
    let program = Path::new(crate::ENGINE).with_file_name("wirelab-rust-service");
    assert!(
        program.is_file(),
        "there is no {}: run `cargo build -p wirelab-services`, or test the whole workspace",
        program.display()
    );
    program
}

/// A service that is ready; it ends with this.
pub struct Service {
    child: Child,
    stdin: Option<ChildStdin>,
    pub ready: Value,
}

impl Service {
    /// Starts one; `more` is added to its configuration.
    pub fn start(contract: &str, stack: &Value, more: &Value) -> Service {
        let mut config = json!({
            "contract": contract, "stack": stack,
            "listen": "127.0.0.1:0", "metrics_listen": "127.0.0.1:0",
        });
        for (name, value) in more.as_object().expect("an object") {
            config[name] = value.clone();
        }
        let mut child = Command::new(program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut stdin = child.stdin.take().expect("piped");
        writeln!(stdin, "{config}").expect("the service reads its configuration");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("the service answers");
        let ready: Value = serde_json::from_str(&line).expect("one JSON line");
        assert_eq!(ready["ready"], true, "{config}: {ready}");
        Service {
            child,
            stdin: Some(stdin),
            ready,
        }
    }

    pub fn address(&self) -> &str {
        self.ready["address"].as_str().expect("an address")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends with its standard input; nothing else is to be learned.
        let _ = self.child.wait();
    }
}
