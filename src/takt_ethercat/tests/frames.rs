// SPDX-License-Identifier: Apache-2.0
//! The simulated segment by single frames: what each command does, and that no frame breaks it.

use takt_ethercat::segment::{sii, Ignored, Segment, INIT, PREOP, SAFEOP};

const NOP: u8 = 0;
const APRD: u8 = 1;
const APWR: u8 = 2;
const FPRD: u8 = 4;
const FPWR: u8 = 5;
const FPRW: u8 = 6;
const BRD: u8 = 7;
const BWR: u8 = 8;
const LRD: u8 = 10;
const LWR: u8 = 11;
const LRW: u8 = 12;
const ARMW: u8 = 13;
const FRMW: u8 = 14;

const STATION: u16 = 0x0010;
const AL_CONTROL: u16 = 0x0120;
const AL_STATUS: u16 = 0x0130;
const AL_CODE: u16 = 0x0134;
const SYSTEM_TIME: u16 = 0x0910;

/// A frame with these datagrams: command, the two halves of the address, data.
fn frame(datagrams: &[(u8, u16, u16, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (number, (command, station, at, data)) in datagrams.iter().enumerate() {
        let more = if number + 1 < datagrams.len() {
            0x8000
        } else {
            0
        };
        body.extend_from_slice(&[*command, number as u8]);
        body.extend_from_slice(&station.to_le_bytes());
        body.extend_from_slice(&at.to_le_bytes());
        body.extend_from_slice(&(data.len() as u16 | more).to_le_bytes());
        body.extend_from_slice(&[0, 0]);
        body.extend_from_slice(data);
        body.extend_from_slice(&[0, 0]);
    }
    let mut made = vec![0xff; 6];
    made.extend_from_slice(&[0x10; 6]);
    made.extend_from_slice(&0x88a4u16.to_be_bytes());
    made.extend_from_slice(&(body.len() as u16 | 0x1000).to_le_bytes());
    made.extend_from_slice(&body);
    made
}

/// Sends one datagram; the working counter and the data that come back.
fn ask(segment: &mut Segment, command: u8, station: u16, at: u16, data: &[u8]) -> (u16, Vec<u8>) {
    let mut frame = frame(&[(command, station, at, data)]);
    segment.pass(&mut frame, 1_000_000).unwrap();
    let end = frame.len() - 2;
    (
        u16::from_le_bytes([frame[end], frame[end + 1]]),
        frame[26..end].to_vec(),
    )
}

/// A segment whose slaves have the station addresses 0x1000, 0x1001, …
fn addressed(slaves: u16) -> Segment {
    let mut segment = Segment::new(slaves);
    for position in 0..slaves {
        let given = (0x1000 + position).to_le_bytes();
        let before = 0u16.wrapping_sub(position);
        assert_eq!(ask(&mut segment, APWR, before, STATION, &given).0, 1);
    }
    segment
}

fn in_state(segment: &mut Segment, station: u16) -> (u8, u16) {
    let status = ask(segment, FPRD, station, AL_STATUS, &[0, 0]).1[0];
    let code = ask(segment, FPRD, station, AL_CODE, &[0, 0]).1;
    (status, u16::from_le_bytes([code[0], code[1]]))
}

/// Sets one slave up, with its outputs and then its inputs at this logical address.
fn set_up(segment: &mut Segment, station: u16, logical: u32) {
    for (number, start, control, kind) in [
        (0u16, sii::OUTPUTS_AT, 0x24u8, 2u8),
        (1, sii::INPUTS_AT, 0x20, 1),
    ] {
        let mut manager = start.to_le_bytes().to_vec();
        manager.extend_from_slice(&[4, 0, control, 0, 1, 0]);
        assert_eq!(
            ask(segment, FPWR, station, 0x0800 + 8 * number, &manager).0,
            1
        );
        let mut fmmu = (logical + 4 * u32::from(number)).to_le_bytes().to_vec();
        fmmu.extend_from_slice(&[4, 0, 0, 7]);
        fmmu.extend_from_slice(&start.to_le_bytes());
        fmmu.extend_from_slice(&[0, kind, 1, 0, 0, 0]);
        assert_eq!(
            ask(segment, FPWR, station, 0x0600 + 16 * number, &fmmu).0,
            1
        );
    }
}

#[test]
fn each_way_of_addressing_reaches_whom_it_means() {
    let mut segment = addressed(3);
    assert_eq!(ask(&mut segment, BRD, 0, 0, &[0]).0, 3);
    assert_eq!(ask(&mut segment, BWR, 0, 0x0f80, &[7]).0, 3);
    assert_eq!(
        ask(&mut segment, APRD, 0xffff, STATION, &[0, 0]),
        (1, vec![0x01, 0x10])
    );
    assert_eq!(
        ask(&mut segment, FPRD, 0x1002, STATION, &[0, 0]),
        (1, vec![0x02, 0x10])
    );
    assert_eq!(
        ask(&mut segment, FPRD, 0x1003, STATION, &[0, 0]),
        (0, vec![0, 0])
    );
    assert_eq!(ask(&mut segment, FPRW, 0x1001, 0x0f80, &[9]), (3, vec![7]));
    assert_eq!(ask(&mut segment, FPRD, 0x1001, 0x0f80, &[0]), (1, vec![9]));
    assert_eq!(ask(&mut segment, NOP, 0, 0, &[5]), (0, vec![5]));
    // The one that is chosen says its byte to those behind it; who is before it hears the master.
    assert_eq!(ask(&mut segment, FRMW, 0x1001, 0x0f80, &[0]), (3, vec![9]));
    assert_eq!(ask(&mut segment, FPRD, 0x1002, 0x0f80, &[0]), (1, vec![9]));
    assert_eq!(ask(&mut segment, FPRD, 0x1000, 0x0f80, &[0]), (1, vec![0]));
    assert_eq!(ask(&mut segment, FPWR, 0x1000, 0x0f80, &[6]).0, 1);
    assert_eq!(ask(&mut segment, ARMW, 0, 0x0f80, &[0]), (3, vec![6]));
    assert_eq!(ask(&mut segment, FPRD, 0x1002, 0x0f80, &[0]), (1, vec![6]));
}

#[test]
fn what_a_slave_is_cannot_be_written() {
    let mut segment = addressed(1);
    assert_eq!(ask(&mut segment, FPWR, 0x1000, AL_STATUS, &[8, 0]).0, 0);
    assert_eq!(in_state(&mut segment, 0x1000), (INIT, 0));
    assert_eq!(ask(&mut segment, FPRD, 0x1000, 0xfff0, &[0; 4]).0, 0);
}

#[test]
fn states_follow_each_other_and_a_refusal_says_why() {
    let mut segment = addressed(1);
    let mut go = |state: u8| {
        ask(&mut segment, FPWR, 0x1000, AL_CONTROL, &[state, 0]);
        in_state(&mut segment, 0x1000)
    };
    assert_eq!(go(8), (INIT | 0x10, 0x11)); // from INIT to OP
    assert_eq!(go(PREOP), (INIT | 0x10, 0x11)); // not acknowledged
    assert_eq!(go(PREOP | 0x10), (PREOP, 0));
    assert_eq!(go(SAFEOP), (PREOP | 0x10, 0x1d)); // no outputs set up
    assert_eq!(go(PREOP | 0x10), (PREOP, 0));
    assert_eq!(go(3), (PREOP | 0x10, 0x13)); // no bootstrap
    assert_eq!(go(INIT | 0x10), (INIT, 0));
    set_up(&mut segment, 0x1000, 0);
    for state in [PREOP, SAFEOP, 8, SAFEOP, PREOP, INIT] {
        ask(&mut segment, FPWR, 0x1000, AL_CONTROL, &[state, 0]);
        assert_eq!(in_state(&mut segment, 0x1000), (state, 0));
    }
}

#[test]
fn process_data_is_counted_and_comes_back_one_cycle_later() {
    let mut segment = addressed(2);
    for (number, station) in [0x1000, 0x1001].into_iter().enumerate() {
        assert_eq!(ask(&mut segment, LRW, 0, 0, &[0; 16]).0, 3 * number as u16);
        set_up(&mut segment, station, 8 * number as u32);
        for state in [PREOP, SAFEOP, 8] {
            ask(&mut segment, FPWR, station, AL_CONTROL, &[state, 0]);
        }
    }
    let out: Vec<u8> = (1..=16).collect();
    let first = ask(&mut segment, LRW, 0, 0, &out);
    assert_eq!(
        (first.0, &first.1[4..8], &first.1[12..]),
        (6, &[0; 4][..], &[0; 4][..])
    );
    let second = ask(&mut segment, LRW, 0, 0, &[0; 16]);
    assert_eq!(
        (second.0, &second.1[4..8], &second.1[12..]),
        (6, &out[..4], &out[8..12])
    );
    assert_eq!(ask(&mut segment, LRD, 0, 0, &[0; 16]).0, 2);
    assert_eq!(ask(&mut segment, LWR, 0, 0, &[0; 16]).0, 2);
    assert_eq!(ask(&mut segment, LRW, 0, 1, &[0; 16]).0, 0); // beside it
    assert_eq!(segment.counts().cycles, 7);
}

#[test]
fn the_eeprom_is_read_eight_bytes_at_a_time() {
    let mut segment = addressed(2);
    let image = sii::image(2);
    for word in [0u16, 8, 0x40, 0x3fc] {
        let mut request = vec![0, 1];
        request.extend_from_slice(&u32::from(word).to_le_bytes());
        assert_eq!(ask(&mut segment, FPWR, 0x1001, 0x0502, &request).0, 1);
        let (_, data) = ask(&mut segment, FPRD, 0x1001, 0x0508, &[0; 8]);
        assert_eq!(data, image[2 * usize::from(word)..][..8]);
    }
}

#[test]
fn clocks_come_together_once_the_reference_speaks() {
    let mut segment = addressed(3);
    let read = |segment: &mut Segment, station, now| {
        let mut frame = frame(&[(FPRD, station, SYSTEM_TIME, &[0; 8])]);
        segment.pass(&mut frame, now).unwrap();
        i64::from_le_bytes(frame[26..34].try_into().unwrap())
    };
    let apart = |segment: &mut Segment, now| {
        (read(segment, 0x1002, now) - read(segment, 0x1000, now)).abs()
    };
    let before = apart(&mut segment, 1_000_000);
    assert!(before > 100_000, "{before}");
    for cycle in 1..200 {
        let mut spoken = frame(&[(FRMW, 0x1000, SYSTEM_TIME, &[0; 8])]);
        segment.pass(&mut spoken, cycle * 1_000_000).unwrap();
    }
    let after = apart(&mut segment, 200_000_000);
    assert!(after < 1000, "{after}");
}

#[test]
fn wrong_frames_are_passed_over_unchanged_and_counted() {
    let mut segment = addressed(2);
    let good = frame(&[(BRD, 0, 0, &[0]), (BRD, 0, 0x10, &[0, 0])]);
    let changed = |at: usize, to: u8| {
        let mut made = good.clone();
        made[at] = to;
        made
    };
    let before = segment.counts();
    let wrong = [
        (good[..15].to_vec(), Ignored::Short),
        (good[..good.len() - 1].to_vec(), Ignored::Short),
        (changed(12, 0x08), Ignored::Foreign),
        (changed(15, 0x40), Ignored::NoDatagrams),
        (changed(16, 15), Ignored::UnknownCommand),
        (changed(22, 200), Ignored::Short),
        (changed(14, 14), Ignored::Short),
    ];
    for (frame, why) in &wrong {
        let mut passed = frame.clone();
        assert_eq!(segment.pass(&mut passed, 0), Err(*why));
        assert_eq!(&passed, frame);
    }
    let after = segment.counts();
    assert_eq!(after.frames - before.frames, wrong.len() as u64);
    assert_eq!(after.ignored - before.ignored, wrong.len() as u64);
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A right frame of random datagrams, to registers that do something more often than to others.
fn random_frame(random: &mut Random) -> Vec<u8> {
    const REGISTERS: [u16; 14] = [
        0, 0x10, 0x110, 0x120, 0x130, 0x500, 0x502, 0x508, 0x600, 0x800, 0x900, 0x910, 0x920,
        0x1000,
    ];
    let mut parts = Vec::new();
    for _ in 0..=random.below(4) {
        let station = [0, 0xffff, 0x1000, 0x1003, random.next() as u16][random.below(5)];
        let at = match random.below(4) {
            0 => random.next() as u16,
            _ => REGISTERS[random.below(REGISTERS.len())].wrapping_add(random.below(24) as u16),
        };
        let length = [1, 2, 4, 8, 16, random.below(300)][random.below(6)];
        let data: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        parts.push((random.below(15) as u8, station, at, data));
    }
    let datagrams: Vec<_> = parts
        .iter()
        .map(|(a, b, c, d)| (*a, *b, *c, &d[..]))
        .collect();
    frame(&datagrams)
}

fn mutate(frame: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.below(4) {
        if frame.is_empty() {
            return;
        }
        let at = match random.below(3) {
            0 => random.below(frame.len().min(30)), // where the headers are
            _ => random.below(frame.len()),
        };
        match random.below(6) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = [0, 0xff, 0x7f, 0x80][random.below(4)],
            2 => frame[at] = random.next() as u8,
            3 => frame.truncate(at),
            4 => frame.extend(std::iter::repeat_n(0xff, random.below(64))),
            _ => {
                frame.remove(at);
            }
        }
    }
}

#[test]
fn a_million_mutated_frames_break_nothing() {
    let seed = std::env::var("TAKT_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let frames = std::env::var("TAKT_FUZZ_FRAMES")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut random = Random(seed);
    let mut segment = Segment::new(4);
    let (mut passed, all) = (0u64, frames.unwrap_or(1_000_000u64));
    for number in 0..all {
        if number % 10_000 == 0 {
            segment = addressed(4);
            (0..4).for_each(|slave| set_up(&mut segment, 0x1000 + slave, 8 * u32::from(slave)));
        }
        let mut frame = random_frame(&mut random);
        mutate(&mut frame, &mut random);
        let before = frame.clone();
        match segment.pass(&mut frame, random.next()) {
            Ok(()) => passed += 1,
            Err(_) => assert_eq!(frame, before, "frame {number} of seed {seed}"),
        }
        assert_eq!(frame.len(), before.len(), "frame {number} of seed {seed}");
    }
    // Both ways were taken often, or this would have tried little.
    assert!(
        passed > all / 10 && passed < all - all / 10,
        "{passed} of {all}"
    );
    // And a master still gets what it asks for.
    let mut fresh = addressed(4);
    assert_eq!(ask(&mut fresh, BRD, 0, 0, &[0]).0, 4);
}
