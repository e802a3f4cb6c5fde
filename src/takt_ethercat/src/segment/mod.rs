// SPDX-License-Identifier: Apache-2.0
//! A simulated EtherCAT segment: a line of slaves, as a function from frame to frame. It knows no
//! socket and no clock: what comes in is given, and the time with it.

mod clock;
pub mod sii;
mod slave;

use slave::Slave;
pub use slave::{INIT, OP, PREOP, SAFEOP};

pub const ETHERTYPE: u16 = 0x88a4;
const ETHERNET_HEAD: usize = 14;
const HEAD: usize = ETHERNET_HEAD + 2;
const DATAGRAM_HEAD: usize = 10;
const COUNTER: usize = 2;
const HOP_NS: u64 = 1000; // from slave to slave

/// Why a frame was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Shorter than its headers say.
    Short,
    /// Of another protocol.
    Foreign,
    /// Of EtherCAT, but no datagrams.
    NoDatagrams,
    /// A datagram with a command that there is not.
    UnknownCommand,
    /// It asks for a slave's answer, and the segment is to be silent.
    Silent,
}

/// What goes wrong on the segment from a cycle on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The line is cut before its last slave.
    SlaveLost,
    /// In ten cycles the working counter of process data is too low.
    WrongCounter,
    /// Nothing comes back any more.
    Silent,
}

/// What has been seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub frames: u64,
    pub ignored: u64,
    /// Datagrams with process data.
    pub cycles: u64,
}

pub struct Segment {
    slaves: Vec<Slave>,
    fault: Fault,
    from_cycle: u64,
    counts: Counts,
}

const WRONG_CYCLES: u64 = 10;

impl Segment {
    pub fn new(slaves: u16) -> Self {
        Self::with_fault(slaves, Fault::None, 0)
    }

    pub fn with_fault(slaves: u16, fault: Fault, from_cycle: u64) -> Self {
        let mut slaves: Vec<Slave> = (0..slaves).map(Slave::new).collect();
        let last = slaves.len().saturating_sub(1);
        for (position, slave) in slaves.iter_mut().enumerate() {
            slave.connect(position < last);
        }
        Self {
            slaves,
            fault,
            from_cycle,
            counts: Counts::default(),
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many slaves are in this state.
    pub fn in_state(&self, state: u8) -> usize {
        self.slaves
            .iter()
            .filter(|slave| slave.state() == state)
            .count()
    }

    /// Lets a frame pass through all slaves and come back, in its place; `now` in ns. A frame that
    /// is passed over is not changed.
    pub fn pass(&mut self, frame: &mut [u8], now: u64) -> Result<(), Ignored> {
        self.counts.frames += 1;
        let passed = self.check(frame).and_then(|datagrams| {
            if self.fault == Fault::Silent && self.counts.cycles >= self.from_cycle {
                return Err(Ignored::Silent);
            }
            for start in datagrams {
                self.datagram(&mut frame[start..], now);
            }
            frame[6] |= 2; // a source that is not the master's: it has been around
            Ok(())
        });
        self.counts.ignored += u64::from(passed.is_err());
        passed
    }

    /// Where the datagrams of a frame start.
    fn check(&self, frame: &[u8]) -> Result<Vec<usize>, Ignored> {
        if frame.len() < HEAD {
            return Err(Ignored::Short);
        }
        if u16::from_be_bytes([frame[12], frame[13]]) != ETHERTYPE {
            return Err(Ignored::Foreign);
        }
        let head = u16::from_le_bytes([frame[14], frame[15]]);
        if head >> 12 != 1 {
            return Err(Ignored::NoDatagrams);
        }
        let end = HEAD + usize::from(head & 0x07ff);
        if end > frame.len() {
            return Err(Ignored::Short);
        }
        let mut starts = Vec::with_capacity(16);
        let mut at = HEAD;
        loop {
            if at + DATAGRAM_HEAD + COUNTER > end {
                return Err(Ignored::Short);
            }
            if frame[at] > Command::FRMW {
                return Err(Ignored::UnknownCommand);
            }
            starts.push(at);
            let length = u16::from_le_bytes([frame[at + 6], frame[at + 7]]);
            at += DATAGRAM_HEAD + usize::from(length & 0x07ff) + COUNTER;
            if at > end {
                return Err(Ignored::Short);
            }
            if length & 0x8000 == 0 {
                return Ok(starts);
            }
        }
    }

    /// Lets one datagram, which lies at the start of `bytes`, pass through all slaves.
    fn datagram(&mut self, bytes: &mut [u8], now: u64) {
        let length = usize::from(u16::from_le_bytes([bytes[6], bytes[7]]) & 0x07ff);
        let (head, rest) = bytes.split_at_mut(DATAGRAM_HEAD);
        let (data, rest) = rest.split_at_mut(length);
        let command = Command(head[0]);
        let mut station = u16::from_le_bytes([head[2], head[3]]);
        let at = u16::from_le_bytes([head[4], head[5]]);
        let logical = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
        let mut counter = u16::from_le_bytes([rest[0], rest[1]]);

        self.counts.cycles += u64::from(command.is_logical());
        let begun = self.fault != Fault::None && self.counts.cycles > self.from_cycle;
        let reached = self.slaves.len() - usize::from(begun && self.fault == Fault::SlaveLost);
        if begun && self.fault == Fault::SlaveLost && reached > 0 {
            self.slaves[reached - 1].connect(false);
        }
        for (position, slave) in self.slaves[..reached].iter_mut().enumerate() {
            if command.is_logical() {
                counter = counter.wrapping_add(command.on_data(slave, logical, data));
                continue;
            }
            if command.is_broadcast() && at == 0x0900 && command.writes() {
                let (there, line) = (position as u64, reached as u64);
                slave.latch(now, there * HOP_NS, (2 * line - 2 - there) * HOP_NS);
                counter = counter.wrapping_add(1);
            } else {
                let chosen = command.chooses(station, slave.station());
                counter = counter.wrapping_add(command.on_memory(slave, chosen, at, data, now));
            }
            if command.counts_positions() {
                station = station.wrapping_add(1);
            }
        }
        let wrong = self.from_cycle..self.from_cycle.saturating_add(WRONG_CYCLES);
        if command.is_logical()
            && self.fault == Fault::WrongCounter
            && wrong.contains(&(self.counts.cycles - 1))
        {
            counter = counter.saturating_sub(1);
        }
        if !command.is_logical() {
            head[2..4].copy_from_slice(&station.to_le_bytes());
        }
        rest[..2].copy_from_slice(&counter.to_le_bytes());
    }
}

/// The command of a datagram (ETG.1000.4).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Command(u8);

impl Command {
    const APRD: u8 = 1;
    const APRW: u8 = 3;
    const FPRD: u8 = 4;
    const FPRW: u8 = 6;
    const BRD: u8 = 7;
    const BRW: u8 = 9;
    const LRD: u8 = 10;
    const LRW: u8 = 12;
    const ARMW: u8 = 13;
    const FRMW: u8 = 14;

    fn is_logical(self) -> bool {
        (Self::LRD..=Self::LRW).contains(&self.0)
    }

    fn is_broadcast(self) -> bool {
        (Self::BRD..=Self::BRW).contains(&self.0)
    }

    /// Whether each slave adds one to the address.
    fn counts_positions(self) -> bool {
        matches!(self.0, Self::APRD..=Self::APRW | Self::BRD..=Self::BRW | Self::ARMW)
    }

    /// Reading, writing and both follow each other, from 1 on.
    fn reads(self) -> bool {
        matches!(self.0, 1 | 3 | 4 | 6 | 7 | 9 | 10 | 12)
    }

    fn writes(self) -> bool {
        matches!(self.0, 2 | 3 | 5 | 6 | 8 | 9 | 11 | 12)
    }

    /// Whether a slave with this station address is meant.
    fn chooses(self, asked: u16, station: u16) -> bool {
        match self.0 {
            Self::APRD..=Self::APRW | Self::ARMW => asked == 0,
            Self::FPRD..=Self::FPRW | Self::FRMW => asked == station,
            _ => self.is_broadcast(),
        }
    }

    /// What one slave does; returns what it adds to the working counter.
    fn on_memory(self, slave: &mut Slave, chosen: bool, at: u16, data: &mut [u8], now: u64) -> u16 {
        if self.0 == Self::ARMW || self.0 == Self::FRMW {
            // The one that is chosen says, all others hear.
            let done = if chosen {
                slave.read(at, data, now)
            } else {
                slave.write(at, data, now)
            };
            return u16::from(done);
        }
        if !chosen || data.is_empty() {
            return 0;
        }
        let given = data.to_vec();
        let mut counted = 0;
        if self.reads() {
            let mut own = vec![0; data.len()];
            if slave.read(at, &mut own, now) {
                counted += 1;
                for (byte, own) in data.iter_mut().zip(own) {
                    *byte = if self.is_broadcast() {
                        *byte | own
                    } else {
                        own
                    };
                }
            }
        }
        if self.writes() && slave.write(at, &given, now) {
            counted += if self.reads() { 2 } else { 1 };
        }
        counted
    }

    fn on_data(self, slave: &mut Slave, logical: u32, data: &mut [u8]) -> u16 {
        if logical.checked_add(data.len() as u32).is_none() {
            return 0;
        }
        let (read, wrote) = slave.exchange(logical, data, self.reads(), self.writes());
        slave.work();
        u16::from(read) + u16::from(wrote) * if self.reads() { 2 } else { 1 }
    }
}
