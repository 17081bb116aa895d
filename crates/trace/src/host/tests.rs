use std::net::SocketAddr;

use proptest::prelude::*;

use super::record::{OffCpu, Record, Totals, Transfer};
use super::*;

const READER: u32 = 10;
const WRITER: u32 = 11;
const FUTEX: i16 = 202;
const SLEEP: i16 = 230;
const EPOLL: i16 = 232;
const WRITE: i16 = 1;
const FSYNC: i16 = 74;

fn connection() -> Connection {
    let client: SocketAddr = "127.0.0.1:40000".parse().expect("an address");
    Connection::new(8080, client)
}

fn build_off_cpu(tid: u32, [out_at, woken_at, in_at]: [u64; 3], syscall: i16) -> OffCpu {
    OffCpu {
        tid,
        ran_at: 0,
        out_at,
        woken_at,
        in_at,
        is_preempted: false,
        is_io_wait: false,
        is_uninterruptible: false,
        is_woken_by_own: false,
        is_woken_by_data: false,
        waker: 0,
        syscall,
        waker_syscall: -1,
    }
}

fn transfer(tid: u32, at: u64, ready_at: u64) -> Transfer {
    Transfer {
        connection: connection(),
        tid,
        at,
        ready_at,
        bytes: 100,
    }
}

fn window(from: u64, to: u64) -> Window {
    Window {
        connection: connection(),
        from,
        to,
        path_ns: 0,
    }
}

fn timeline(records: &[Record]) -> Timeline {
    let mut timeline = Timeline::default();
    records.iter().for_each(|record| timeline.take(record));
    timeline
}

fn parts(timeline: &Timeline, window: &Window) -> Vec<(HostPart, u64)> {
    timeline.split(window).parts().collect()
}

/// Request captured at 1000, ready at 1010, read at 1100, written at `to`.
fn one_thread(periods: &[OffCpu], to: u64) -> Vec<(HostPart, u64)> {
    let mut records = vec![
        Record::OffCpu(OffCpu {
            is_woken_by_data: true,
            ..build_off_cpu(READER, [500, 1_020, 1_080], EPOLL)
        }),
        Record::Read(transfer(READER, 1_100, 1_010)),
    ];
    records.extend(periods.iter().copied().map(Record::OffCpu));
    records.push(Record::Write(transfer(READER, to + 5, 0)));
    parts(&timeline(&records), &window(1_000, to))
}

#[test]
fn a_server_that_computes_runs() {
    let expected = [
        (HostPart::Delivery, 10),
        (HostPart::Unread, 10 + 20),
        (HostPart::Runnable, 60),
        (HostPart::Running, 900),
    ];
    assert_eq!(one_thread(&[], 2_000), expected);
}

#[test]
fn each_reason_follows_from_the_system_call_and_the_waker() {
    let own = |period: OffCpu, waker_syscall| OffCpu {
        waker: 99,
        is_woken_by_own: true,
        waker_syscall,
        ..period
    };
    let times = [1_200, 1_500, 1_600];
    let cases = [
        (build_off_cpu(READER, times, SLEEP), HostPart::Timer),
        (
            own(build_off_cpu(READER, times, FUTEX), FUTEX),
            HostPart::Lock,
        ),
        (build_off_cpu(READER, times, FUTEX), HostPart::Timer),
        (build_off_cpu(READER, times, EPOLL), HostPart::Timer),
        (
            own(build_off_cpu(READER, times, EPOLL), WRITE),
            HostPart::Lock,
        ),
        (
            OffCpu {
                is_woken_by_data: true,
                ..build_off_cpu(READER, times, EPOLL)
            },
            HostPart::Network,
        ),
        (build_off_cpu(READER, times, 45), HostPart::Network),
        (
            OffCpu {
                is_uninterruptible: true,
                ..build_off_cpu(READER, times, FSYNC)
            },
            HostPart::Disk,
        ),
        (
            OffCpu {
                is_io_wait: true,
                ..build_off_cpu(READER, times, -1)
            },
            HostPart::Disk,
        ),
        (build_off_cpu(READER, times, 61), HostPart::Other),
    ];
    for (period, part) in cases {
        let parts = one_thread(&[period], 2_000);
        assert!(parts.contains(&(part, 300)), "{period:?}: {parts:?}");
        assert!(parts.contains(&(HostPart::Runnable, 60 + 100)), "{parts:?}");
        assert!(parts.contains(&(HostPart::Running, 500)), "{parts:?}");
    }
}

#[test]
fn a_thread_whose_cpu_was_taken_is_runnable() {
    let preempted = OffCpu {
        is_preempted: true,
        ..build_off_cpu(READER, [1_200, 1_200, 1_900], -1)
    };
    let parts = one_thread(&[preempted], 2_000);
    assert!(parts.contains(&(HostPart::Runnable, 60 + 700)), "{parts:?}");
}

#[test]
fn a_request_that_changes_hands_is_followed() {
    let woken = OffCpu {
        waker: READER,
        is_woken_by_own: true,
        waker_syscall: FUTEX,
        ..build_off_cpu(WRITER, [100, 1_300, 1_400], FUTEX)
    };
    let records = [
        Record::Read(transfer(READER, 1_100, 0)),
        Record::OffCpu(woken),
        // The reader goes on to sleep: that is no longer this request's time.
        Record::OffCpu(build_off_cpu(READER, [1_350, 1_950, 1_960], EPOLL)),
        Record::Write(transfer(WRITER, 2_000, 0)),
    ];
    let expected = [
        (HostPart::Unread, 100),
        (HostPart::Runnable, 100),
        (HostPart::Running, 200 + 600),
    ];
    assert_eq!(parts(&timeline(&records), &window(1_000, 2_000)), expected);
}

#[test]
fn of_a_capture_behind_a_link_the_time_is_that_of_the_server() {
    // 300 there, 200 back: read at 1310, written at 1810, reply captured at 2010.
    let records = [
        Record::OffCpu(build_off_cpu(READER, [1_400, 1_700, 1_700], SLEEP)),
        Record::Read(transfer(READER, 1_310, 1_300)),
        Record::Write(transfer(READER, 1_810, 0)),
    ];
    let behind = Window {
        path_ns: 500,
        ..window(1_500, 2_010)
    };
    let expected = [
        (HostPart::Unread, 10),
        (HostPart::Running, 200),
        (HostPart::Timer, 300),
    ];
    assert_eq!(parts(&timeline(&records), &behind), expected);
}

#[test]
fn time_without_records_is_unknown() {
    let records = [Record::Read(transfer(READER, 1_100, 0))];
    let other = Window {
        connection: Connection::new(8081, connection().remote),
        ..window(1_000, 2_000)
    };
    let timeline = timeline(&records);
    assert_eq!(parts(&timeline, &other), [(HostPart::Unknown, 1_000)]);
}

#[test]
fn a_lost_record_leaves_a_gap_and_no_running_thread() {
    let (ms, to) = (1_000_000, 20_000_000);
    let first = build_off_cpu(READER, [2 * ms, 3 * ms, 3 * ms], SLEEP);
    // Between them it slept until 7 ms, which was lost.
    let second = OffCpu {
        ran_at: 7 * ms,
        ..build_off_cpu(READER, [8 * ms, 9 * ms, 9 * ms], SLEEP)
    };
    let lost = one_thread(&[first, second], to);
    assert!(lost.contains(&(HostPart::Unknown, 4 * ms)), "{lost:?}");
    // The record behind the end shows it as well, and the thread's first one.
    let behind = OffCpu {
        ran_at: 7 * ms,
        ..build_off_cpu(READER, [21 * ms, 22 * ms, 22 * ms], SLEEP)
    };
    for records in [&[first, behind][..], &[second]] {
        let lost = one_thread(records, to);
        let unknown = lost.iter().find(|(part, _)| *part == HostPart::Unknown);
        assert!(unknown.is_some_and(|(_, ns)| *ns >= 4 * ms), "{lost:?}");
    }
    // The same moment by another comparison of the clocks.
    let near = OffCpu {
        ran_at: 3 * ms + 90,
        ..second
    };
    let kept = one_thread(&[first, near], to);
    assert!(
        kept.iter().all(|(part, _)| *part != HostPart::Unknown),
        "{kept:?}"
    );
}

#[test]
fn clocks_that_were_compared_twice_do_not_overlap() {
    let first = build_off_cpu(READER, [1_200, 1_300, 1_400], SLEEP);
    let second = build_off_cpu(READER, [1_395, 1_398, 1_500], SLEEP);
    let parts = one_thread(&[first, second], 2_000);
    assert!(parts.contains(&(HostPart::Timer, 100)), "{parts:?}");
    assert!(
        parts.contains(&(HostPart::Runnable, 60 + 100 + 100)),
        "{parts:?}"
    );
}

#[test]
fn records_are_read_as_they_were_written() {
    let records = [
        Record::OffCpu(OffCpu {
            waker: 7,
            is_preempted: true,
            is_woken_by_data: true,
            waker_syscall: 1,
            ..build_off_cpu(READER, [1, 2, 3], -1)
        }),
        Record::Read(transfer(READER, 5, 4)),
        Record::Write(transfer(WRITER, 6, 0)),
        Record::Totals(Totals {
            from_ns: 1,
            to_ns: 9,
            drops: 3,
        }),
    ];
    let mut file = header().to_vec();
    records.iter().for_each(|record| file.extend(record.raw()));
    let mut reader = Reader::new(file.as_slice()).expect("a record of a host");
    for record in records {
        assert_eq!(reader.next_record().expect("a record"), Some(record));
    }
    assert_eq!(reader.next_record().expect("an end"), None);
}

#[test]
fn an_invalid_record_is_refused() {
    assert!(matches!(
        Reader::new(&b"pcap"[..]),
        Err(RecordError::Foreign)
    ));
    let backwards = Record::OffCpu(build_off_cpu(READER, [9, 0, 3], -1)).raw();
    assert!(matches!(
        Record::parse(&backwards, 1),
        Err(RecordError::Order { number: 1 })
    ));
    assert!(matches!(
        Record::parse(&[0; RECORD_BYTES], 2),
        Err(RecordError::Kind { number: 2, kind: 0 })
    ));
}

/// Of 40,000 ns in which a reply's rest was held back: the writes returned at these times, and the
/// next request was read at 1,060,000.
fn hold_after_writes(writes: &[u64], path_ns: u64) -> u64 {
    let mut records = vec![Record::Read(transfer(READER, 1_000, 900))];
    let written = writes.iter().map(|at| transfer(READER, *at, 0));
    records.extend(written.map(Record::Write));
    records.push(Record::Read(transfer(READER, 1_060_000, 1_059_000)));
    let held = Window {
        path_ns,
        ..window(1_000_000, 1_040_000)
    };
    timeline(&records).hold_after_write_ns(&held)
}

#[test]
fn only_time_after_the_write_is_certainly_held_back() {
    // Both writes together: all but the time until the write returned.
    assert_eq!(hold_after_writes(&[1_000_010, 1_000_020], 0), 39_980);
    // The second one came late.
    assert_eq!(hold_after_writes(&[1_000_010, 1_030_000], 0), 10_000);
    // It returned behind its own packet: nothing was held back.
    assert_eq!(hold_after_writes(&[1_000_010, 1_040_030], 0), 0);
    // What follows the next request belongs to another reply.
    assert_eq!(
        hold_after_writes(&[1_000_010, 1_000_020, 1_060_100], 0),
        39_980
    );
    // The capture is up to a round trip behind the server.
    assert_eq!(hold_after_writes(&[1_000_010, 1_030_000], 4_000), 6_000);
    assert_eq!(hold_after_writes(&[998_000, 998_010], 4_000), 37_990);
}

#[test]
fn without_the_first_write_nothing_is_certain() {
    assert_eq!(hold_after_writes(&[], 0), 0);
    assert_eq!(hold_after_writes(&[900_000], 0), 0);
    let nothing = Timeline::default();
    assert_eq!(nothing.hold_after_write_ns(&window(0, 1_000)), 0);
}

fn any_record() -> impl Strategy<Value = RawRecord> {
    let times = prop::array::uniform4(0_u64..5_000);
    let small = (0_u32..4, 1_u8..4, 0_u8..32, 0_u32..4);
    let calls = prop::sample::select(vec![FUTEX, SLEEP, EPOLL, WRITE, FSYNC, 61, -1]);
    (times, small, calls.clone(), calls).prop_map(|(mut times, small, call, by)| {
        let (tid, kind, flags, waker) = small;
        if kind == 1 {
            times.sort_unstable();
            let [ran_at, out_at, woken_at, in_at] = times;
            let mut period = build_off_cpu(tid, [out_at, woken_at, in_at], call);
            period.ran_at = if flags & 1 == 0 { 0 } else { ran_at };
            period.is_preempted = flags & 2 != 0;
            period.is_woken_by_own = flags & 4 != 0;
            period.is_woken_by_data = flags & 8 != 0;
            period.waker = waker;
            period.waker_syscall = by;
            return Record::OffCpu(period).raw();
        }
        let one = transfer(tid, times[0], times[1]);
        if kind == 2 {
            Record::Read(one).raw()
        } else {
            Record::Write(one).raw()
        }
    })
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_time(
        records in prop::collection::vec(any_record(), 0..60),
        from in 0_u64..5_000,
        length in 0_u64..5_000,
        path_ns in 0_u64..1_000,
    ) {
        let mut timeline = Timeline::default();
        for (number, raw) in records.iter().enumerate() {
            if let Ok(record) = Record::parse(raw, number as u64) {
                timeline.take(&record);
            }
        }
        let window = Window { path_ns, ..window(from, from + length) };
        prop_assert_eq!(timeline.split(&window).total(), length);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let mut file = header().to_vec();
        file.extend(bytes);
        let mut reader = Reader::new(file.as_slice()).expect("the head is right");
        let mut timeline = Timeline::default();
        while let Ok(Some(record)) = reader.next_record() {
            timeline.take(&record);
        }
        prop_assert_eq!(timeline.split(&window(0, u64::MAX)).total(), u64::MAX);
    }
}
