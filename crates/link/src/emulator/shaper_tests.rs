use super::*;
use crate::emulator::segment::tests::packet;
use crate::model::config::Match;
use crate::model::distribution::Distribution;
use crate::model::profile::LossModel;

const MS: u64 = 1_000_000;

fn shaper(direction: Direction) -> Shaper {
    Shaper::new(&direction, Way::Forward, 20_261_122, &[])
}

/// The fates of `n` packets of 1,000 B that come `every` nanoseconds.
fn fates(direction: Direction, n: u64, every: u64) -> Vec<Fate> {
    let mut shaper = shaper(direction);
    (0..n)
        .map(|number| shaper.admit(number * every, &mut [0x45; 1_000]))
        .collect()
}

fn dues(fates: &[Fate]) -> Vec<u64> {
    fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Passes { due_ns, .. } => Some(*due_ns),
            _ => None,
        })
        .collect()
}

#[test]
fn a_delay_is_exact_to_the_nanosecond() {
    let direction = Direction {
        delay_ms: 1.25,
        ..Direction::default()
    };
    let dues = dues(&fates(direction, 1_000, 777));
    assert!(
        dues.iter()
            .zip(0..)
            .all(|(due, number)| *due == number * 777 + 1_250_000)
    );
}

#[test]
fn nothing_asked_is_nothing_done() {
    let mut bare = shaper(Direction::default());
    let mut bytes = packet(true, 7);
    let before = bytes.clone();
    let passes = Fate::Passes {
        due_ns: 42,
        copy_ns: None,
        corrupted: false,
    };
    assert_eq!(bare.admit(42, &mut bytes), passes);
    assert_eq!(bytes, before);
}

#[test]
fn a_rate_spaces_packets_within_a_tenth_of_a_percent() {
    let direction = Direction {
        rate_kbit: Some(13_400.0),
        delay_ms: 5.0,
        ..Direction::default()
    };
    let dues = dues(&fates(direction, 5_000, 0));
    let took_s = (dues[4_999] - 5 * MS) as f64 / 1e9;
    let kbit = 5_000.0 * 8.0 / took_s;
    assert!((kbit / 13_400.0 - 1.0).abs() < 0.001, "{kbit}");
}

#[test]
fn a_full_queue_drops_and_delays_no_more_than_it_holds() {
    let direction = Direction {
        rate_kbit: Some(8_000.0),
        queue_bytes: Some(10_000),
        ..Direction::default()
    };
    let fates = fates(direction, 100, 0);
    assert_eq!(dues(&fates), (1..=10).map(|n| n * MS).collect::<Vec<_>>());
    assert_eq!(
        fates
            .iter()
            .filter(|fate| **fate == Fate::QueueDrop)
            .count(),
        90
    );
}

#[test]
fn jitter_varies_the_delay_but_never_the_order() {
    let direction = Direction {
        delay_ms: 10.0,
        jitter_ms: 2.0,
        distribution: Distribution::Normal,
        ..Direction::default()
    };
    let close = dues(&fates(direction.clone(), 10_000, 1_000));
    assert!(close.is_sorted());
    let spaced = fates(direction, 10_000, 20 * MS);
    let delays: Vec<f64> = dues(&spaced)
        .iter()
        .zip(0..)
        .map(|(due, number)| (due - number * 20 * MS) as f64 / 1e6)
        .collect();
    let mean = delays.iter().sum::<f64>() / 1e4;
    let deviation = (delays.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>() / 1e4).sqrt();
    // 3.5 standard errors: of 10,000 delays the mean deviates by 0.02 ms, the deviation
    // by 0.014.
    assert!((mean - 10.0).abs() < 0.07, "{mean}");
    assert!((deviation - 2.0).abs() < 0.05, "{deviation}");
}

#[test]
fn a_reordered_packet_skips_the_delay_and_no_other_is_moved() {
    let direction = Direction {
        delay_ms: 10.0,
        reorder_percent: 10.0,
        ..Direction::default()
    };
    let dues = dues(&fates(direction, 10_000, MS));
    let early = dues
        .iter()
        .zip(0..)
        .filter(|(due, n)| **due == n * MS)
        .count();
    let normal = dues
        .iter()
        .zip(0..)
        .filter(|(due, n)| **due == (n + 10) * MS)
        .count();
    assert_eq!(early + normal, 10_000);
    // 3.3 standard deviations of the binomial, as in the tests below: 30 of 1,000.
    assert!((900..1_100).contains(&early), "{early}");
}

#[test]
fn duplicates_come_at_their_share_and_pass_the_bottleneck_again() {
    let direction = Direction {
        duplicate_percent: 5.0,
        rate_kbit: Some(8_000.0),
        ..Direction::default()
    };
    let fates = fates(direction, 10_000, 10 * MS);
    let gaps: Vec<u64> = fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Passes {
                due_ns, copy_ns, ..
            } => copy_ns.map(|copy| copy - due_ns),
            _ => None,
        })
        .collect();
    // A deviation of 22 around 500.
    assert!((429..571).contains(&gaps.len()), "{}", gaps.len());
    assert!(gaps.iter().all(|gap| *gap == MS));
}

#[test]
fn corruption_turns_exactly_one_bit() {
    let direction = Direction {
        corrupt_percent: 20.0,
        ..Direction::default()
    };
    let mut shaper = shaper(direction);
    let mut corrupted = 0;
    for now in 0..10_000 {
        let mut bytes = [0; 300];
        shaper.admit(now, &mut bytes);
        let bits: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        assert!(bits <= 1);
        corrupted += bits;
    }
    // A deviation of 40 around 2,000.
    assert!((1_868..2_132).contains(&corrupted), "{corrupted}");
}

#[test]
fn syn_loss_takes_only_syns() {
    let mut shaper = shaper(Direction {
        syn_loss_percent: 100.0,
        ..Direction::default()
    });
    assert_eq!(shaper.admit(0, &mut packet(true, 0)), Fate::Lost);
    assert!(matches!(
        shaper.admit(0, &mut packet(false, 9)),
        Fate::Passes { .. }
    ));
    let (offered, lost) = (1, 1);
    assert_eq!(shaper.syns(), Syns { offered, lost });
}

#[test]
fn syns_are_counted_where_some_are_lost() {
    let counted = |syn_loss_percent| {
        let mut shaper = shaper(Direction {
            syn_loss_percent,
            loss: Some(LossModel::Random { percent: 50.0 }),
            ..Direction::default()
        });
        let mut syn = || shaper.admit(0, &mut packet(true, 0));
        let lost = (0..1_000).filter(|_| syn() == Fate::Lost).count();
        (shaper.syns(), lost)
    };
    let (syns, lost) = counted(10.0);
    assert_eq!(syns.offered, 1_000);
    // A deviation of 9.5 around 100.
    assert!((70..=130).contains(&syns.lost), "{syns:?}");
    // The other loss takes half of the rest, and counts none of them here.
    assert!(lost > 450, "{lost}");
    assert_eq!(counted(0.0).0, Syns::default());
}

#[test]
fn a_scripted_drop_takes_the_nth() {
    let drop = ScriptedDrop {
        direction: Way::Backward,
        kind: Match::Data,
        nth: 2,
    };
    let mut shaper = Shaper::new(&Direction::default(), Way::Backward, 1, &[drop]);
    let fates = [0, 9, 9, 9].map(|data| shaper.admit(0, &mut packet(false, data)));
    assert_eq!(fates[2], Fate::Scripted(drop));
    assert_eq!(dues(&fates).len(), 3);
}

/// What is lost depends on the seed and the packet's number alone, whatever
/// else is switched on and however late the packets come.
#[test]
fn a_seed_repeats_its_losses_whatever_else_happens() {
    let lossy = Direction {
        delay_ms: 10.0,
        loss: Some(LossModel::Random { percent: 10.0 }),
        ..Direction::default()
    };
    let busy = Direction {
        jitter_ms: 1.0,
        distribution: Distribution::Uniform,
        reorder_percent: 5.0,
        duplicate_percent: 5.0,
        ..lossy.clone()
    };
    let lost = |direction, every| -> Vec<bool> {
        let fates = fates(direction, 2_000, every);
        fates.iter().map(|fate| *fate == Fate::Lost).collect()
    };
    assert_eq!(lost(lossy, 1), lost(busy, 12_345));
}

#[test]
fn the_two_directions_draw_different_numbers() {
    let direction = Direction {
        loss: Some(LossModel::Random { percent: 50.0 }),
        ..Direction::default()
    };
    let lost = |way| -> Vec<bool> {
        let mut shaper = Shaper::new(&direction, way, 3, &[]);
        (0..64)
            .map(|now| shaper.admit(now, &mut [0; 40]) == Fate::Lost)
            .collect()
    };
    assert_ne!(lost(Way::Forward), lost(Way::Backward));
}
