//! What `dissect` refuses: files of which nothing can be read, and numbers that
//! ask for nothing. Needs no right.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A capture that ends with the test.
struct Capture(PathBuf);

impl Capture {
    fn of(name: &str, bytes: &[u8]) -> Capture {
        let name = format!("wirelab-refused-{}-{name}", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, bytes).expect("a file");
        Capture(file)
    }

    /// Exit code and text.
    fn dissect(&self, options: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(crate::ENGINE)
            .arg("dissect")
            .arg(&self.0)
            .args(options)
            .output()
            .expect("the engine runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Best effort: the file is in the machine's own place for such.
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn files_of_which_nothing_can_be_read_are_distinguished() {
    let table: [(&str, &[u8], &str, &str); 5] = [
        ("empty", b"", "is empty", "capture again"),
        (
            "pcap",
            b"\xd4\xc3\xb2\xa1",
            "cut at byte 4, within the pcap header of 24 bytes",
            "capture again",
        ),
        (
            "pcapng",
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0",
            "cut at byte 14, within the pcapng section header of 28 bytes",
            "capture again",
        ),
        (
            "gzip",
            b"\x1f\x8b\x08\0",
            "the gzip file cannot be read further",
            "copy it again",
        ),
        (
            "text",
            b"no capture at all",
            "not a capture file",
            "name a pcap or pcapng file",
        ),
    ];
    for (name, bytes, reason, remedy) in table {
        let capture = Capture::of(name, bytes);
        let (code, text) = capture.dissect(&[]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(reason) && text.contains(remedy), "{text}");
        assert!(text.contains(&capture.0.display().to_string()), "{text}");
    }
}

#[test]
fn numbers_that_ask_for_nothing_are_refused_by_name() {
    // A whole pcap header, and no packet.
    let header = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0";
    let capture = Capture::of("numbers", header);
    for (option, value, bounds) in [
        ("--port", "0", "1..=65535"),
        ("--port", "-1", "1..=65535"),
        ("--timeline", "0", "1.."),
        ("--timeline", "-1", "-1"),
        ("--slowest", "0", "1..=1000"),
        ("--slowest", "1001", "1..=1000"),
        ("--flows", "-1", "0.."),
        ("--flows", "nan", "nan"),
    ] {
        let (code, text) = capture.dissect(&[option, value]);
        assert_eq!(code, Some(2), "{option} {value}: {text}");
        assert!(text.contains(option) && text.contains(bounds), "{text}");
    }
    let given = "--port 1 --timeline 1 --slowest 5 --flows 0";
    let options: Vec<&str> = given.split(' ').collect();
    let (code, text) = capture.dissect(&options);
    assert_eq!(code, Some(0), "{text}");
}
