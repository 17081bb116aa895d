//! Real traffic, changed by Wireshark's own tools, judged as Wireshark judges it.

use std::path::{Path, PathBuf};

use wirelab_trace::capture::Options;
use wirelab_trace::flow::event::Direction;

use super::traffic::{Namespace, Tap, mix, serve};
use super::tshark::{Folder, agree, has, is_root, run};

/// A capture of every kind of call, on the loopback.
fn original(folder: &Folder) -> PathBuf {
    let namespace = Namespace::new();
    let port = serve(&namespace, "::1");
    let file = folder.file("original.pcapng");
    let tap = Tap::begin(&namespace, Options::of("lo"), &file);
    namespace
        .run(move || mix("::1", port))
        .join()
        .expect("calls");
    tap.end();
    file
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in words")
}

fn run_editcap(folder: &Folder, original: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let file = folder.file(name);
    let mut all = vec![];
    let options = arguments
        .iter()
        .take_while(|word| word.parse::<u64>().is_err() || **word == "0");
    let options: Vec<_> = options.copied().collect();
    all.extend(&options);
    all.extend([text(original), text(&file)]);
    all.extend(&arguments[options.len()..]);
    run("editcap", &all);
    file
}

#[test]
fn every_transformation_is_classified_like_wireshark() {
    if !is_root() || !has("tshark") || !has("editcap") {
        return;
    }
    let folder = Folder::new();
    let original = original(&folder);
    let (whole, _) = agree(&original);
    for format in ["pcap", "nsecpcap", "pcapng"] {
        let option = format!("-F{format}");
        let (summary, _) = agree(&run_editcap(&folder, &original, format, &[&option]));
        // Microseconds may change what is judged by time, for Wireshark too.
        assert_eq!(summary.flows.flows, whole.flows.flows, "{format}");
        assert_eq!(summary.flows.stream_bytes, whole.flows.stream_bytes);
    }
    let (shifted, _) = agree(&run_editcap(&folder, &original, "shifted", &["-t-3600.25"]));
    assert_eq!(shifted.flows, whole.flows);
    let (cut, _) = agree(&run_editcap(&folder, &original, "cut", &["-s100"]));
    assert_eq!(
        cut.flows.gap_bytes + cut.flows.stream_bytes,
        whole.flows.stream_bytes
    );
    // Without the first packets, handshake included: the capture begins in the middle.
    let from_7th: Vec<String> = (1..7).map(|number| number.to_string()).collect();
    let words: Vec<&str> = from_7th.iter().map(String::as_str).collect();
    agree(&run_editcap(&folder, &original, "middle", &words));
    for every in [2, 3, 5, 11, 29] {
        drop_every(&folder, &original, whole.packets, every);
    }
}

/// Without every nth packet. editcap takes 512 numbers at once.
fn drop_every(folder: &Folder, original: &Path, packets: u64, every: u64) {
    let dropped: Vec<String> = (1..=packets)
        .filter(|number| number % every == 0)
        .map(|number| number.to_string())
        .collect();
    let mut file = original.to_owned();
    // From behind, so that numbers hold.
    for (round, some) in dropped.rchunks(500).enumerate() {
        let words: Vec<&str> = some.iter().map(String::as_str).collect();
        file = run_editcap(folder, &file, &format!("without-{every}-{round}"), &words);
    }
    let (summary, _) = agree(&file);
    assert_eq!(summary.packets, packets - packets / every);
}

#[test]
fn duplicated_packets_are_retransmissions() {
    if !is_root() || !has("tshark") || !has("mergecap") {
        return;
    }
    let folder = Folder::new();
    let original = original(&folder);
    let (_, events) = agree(&original);
    let later = run_editcap(&folder, &original, "later", &["-t0.000004"]);
    let twice = folder.file("twice.pcapng");
    run(
        "mergecap",
        &["-w", text(&twice), text(&original), text(&later)],
    );
    let (_, doubled) = agree(&twice);
    for (key, stream) in &events.streams {
        assert!(doubled.streams[key].bytes == stream.bytes, "{key:?}");
    }
    assert!(events.streams.keys().any(|key| key.1 == Direction::Reply));
}

#[test]
fn one_direction_agrees_with_tshark() {
    if !is_root() || !has("tshark") {
        return;
    }
    let folder = Folder::new();
    let original = original(&folder);
    let (_, events) = agree(&original);
    let port = events.openings[&0].server.port();
    for (direction, field) in [
        (Direction::Request, "dstport"),
        (Direction::Reply, "srcport"),
    ] {
        let file = folder.file(field);
        let filter = format!("tcp.{field} == {port}");
        run(
            "tshark",
            &["-r", text(&original), "-Y", &filter, "-w", text(&file)],
        );
        let (_, half) = agree(&file);
        for (key, stream) in events.streams.iter().filter(|(key, _)| key.1 == direction) {
            assert!(half.streams[key].bytes == stream.bytes, "{key:?}");
        }
        // The other side is known by what was acknowledged.
        for ((flow, _), stream) in half.streams.iter().filter(|(key, _)| key.1 != direction) {
            let gaps: u64 = stream.gaps.iter().map(|gap| gap.1).sum();
            // Acknowledgments alone show how long the other stream was.
            assert_eq!(gaps, stream.end, "{flow}");
        }
    }
}
