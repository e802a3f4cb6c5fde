// SPDX-License-Identifier: Apache-2.0
//! One simulated slave: its memory, what writing to a register does, its state machine.

use super::clock::Clock;
use super::sii;

const MEMORY: usize = 0x2000; // registers, then process data
const STATION: usize = 0x0010;
const DL_STATUS: usize = 0x0110;
const AL_CONTROL: usize = 0x0120;
const AL_STATUS: usize = 0x0130;
const AL_CODE: usize = 0x0134;
const SII_CONTROL: usize = 0x0502;
const SII_ADDRESS: usize = 0x0504;
const SII_DATA: usize = 0x0508;
const FMMU: usize = 0x0600;
const FMMUS: usize = 8;
const SYNC_MANAGER: usize = 0x0800;
const RECEIVE_TIMES: usize = 0x0900;
const SYSTEM_TIME: usize = 0x0910;
const PROCESSED_TIME: usize = 0x0918;
const OFFSET: usize = 0x0920;
const DELAY: usize = 0x0928;
const DIFFERENCE: usize = 0x092c;

/// What no master may write: what the slave is, and what it says of its state.
const READ_ONLY: [std::ops::Range<usize>; 4] = [
    0x0000..0x0010,
    0x0110..0x0112,
    0x0130..0x0136,
    0x092c..0x0930,
];

/// Features: no FMMU for single bits; distributed clocks of 64 bits that can be synchronised.
const FEATURES: u16 = 0x0001 | 0x0004 | 0x0008 | 0x0100;

const SII_READS: u16 = 0x0100;
const SII_WRITES: u16 = 0x0200;
const SII_MAY_WRITE: u16 = 0x0001;
const SII_EIGHT_BYTES: u16 = 0x0040;
const SII_ERRORS: u16 = 0x7800;
const SII_NO_COMMAND: u16 = 0x2000;

/// States of the application layer (ETG.1000.6).
pub const INIT: u8 = 1;
pub const PREOP: u8 = 2;
pub const BOOT: u8 = 3;
pub const SAFEOP: u8 = 4;
pub const OP: u8 = 8;
const ERROR: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x10;

const INVALID_CHANGE: u16 = 0x0011;
const UNKNOWN_STATE: u16 = 0x0012;
const NO_BOOT: u16 = 0x0013;
const INVALID_OUTPUTS: u16 = 0x001d;
const INVALID_INPUTS: u16 = 0x001e;

pub struct Slave {
    memory: Box<[u8; MEMORY]>,
    eeprom: Vec<u8>,
    clock: Clock,
}

impl Slave {
    pub fn new(position: u16) -> Self {
        let mut made = Self {
            memory: Box::new([0; MEMORY]),
            eeprom: sii::image(u32::from(position) + 1),
            clock: Clock::new(position),
        };
        made.memory[0] = 0x11; // a type that no vendor has to know
        made.memory[4] = FMMUS as u8;
        made.memory[5] = 8; // sync managers
        made.memory[6] = 4; // kB of process data
        made.memory[7] = 0x0f; // ports 0 and 1: MII
        made.put16(0x0008, FEATURES);
        made.put16(SII_CONTROL, SII_EIGHT_BYTES);
        made.memory[AL_STATUS] = INIT;
        made
    }

    /// Whether something is connected behind it.
    pub fn connect(&mut self, behind: bool) {
        // The link of port 0 and its signal; port 1 likewise, or closed; ports 2 and 3 closed.
        let port_1 = if behind { 0x0820 } else { 0x0400 };
        self.put16(DL_STATUS, 0x0003 | 0x0010 | 0x0200 | 0x5000 | port_1);
    }

    pub fn station(&self) -> u16 {
        self.get16(STATION)
    }

    pub fn state(&self) -> u8 {
        self.memory[AL_STATUS] & 0x0f
    }

    /// Copies from its memory; false, and nothing, where there is no such memory.
    pub fn read(&mut self, at: u16, into: &mut [u8], now: u64) -> bool {
        let at = usize::from(at);
        if at < SYSTEM_TIME + 8 && at + into.len() > SYSTEM_TIME {
            let time = self.system_time(now);
            self.memory[SYSTEM_TIME..SYSTEM_TIME + 8].copy_from_slice(&time.to_le_bytes());
        }
        match self.memory.get(at..at + into.len()) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => return false,
        }
        true
    }

    /// Copies into its memory, with all that this does; false where there is no such memory.
    pub fn write(&mut self, at: u16, bytes: &[u8], now: u64) -> bool {
        let at = usize::from(at);
        let end = at + bytes.len();
        let within = |range: &std::ops::Range<usize>| range.start <= at && end <= range.end;
        if end > MEMORY || bytes.is_empty() || READ_ONLY.iter().any(within) {
            return false;
        }
        if at <= SYSTEM_TIME && end >= SYSTEM_TIME + 4 {
            let mut time = [0u8; 8];
            let length = (end - SYSTEM_TIME).min(8);
            time[..length].copy_from_slice(&bytes[SYSTEM_TIME - at..][..length]);
            self.hear(u64::from_le_bytes(time), now);
        }
        for (place, byte) in (at..end).zip(bytes) {
            if !READ_ONLY.iter().any(|range| range.contains(&place)) {
                self.memory[place] = *byte;
            }
        }
        let touches = |register: usize| at <= register && register < end;
        if touches(AL_CONTROL) {
            self.change_state(self.memory[AL_CONTROL]);
        }
        if touches(SII_CONTROL) || touches(SII_CONTROL + 1) {
            self.use_eeprom();
        }
        true
    }

    /// Latches when a frame came and went, `there` ns and `back` ns after the master sent it.
    pub fn latch(&mut self, now: u64, there: u64, back: u64) {
        let [came, went] = [there, back].map(|after| self.clock.local(now + after));
        self.put32(RECEIVE_TIMES, came as u32);
        self.put32(RECEIVE_TIMES + 4, went as u32);
        self.memory[PROCESSED_TIME..PROCESSED_TIME + 8].copy_from_slice(&came.to_le_bytes());
    }

    /// Process data at this logical address: whether inputs were read and outputs were written.
    pub fn exchange(&mut self, at: u32, data: &mut [u8], read: bool, write: bool) -> (bool, bool) {
        let mut done = (false, false);
        let given = if write { data.to_vec() } else { Vec::new() };
        for number in 0..FMMUS {
            let Some(map) = self.mapping(number) else {
                continue;
            };
            let (from, to) = (at.max(map.logical), (at + data.len() as u32).min(map.end()));
            if from >= to {
                continue;
            }
            let physical = usize::from(map.physical) + (from - map.logical) as usize;
            let range = (from - at) as usize..(to - at) as usize;
            let memory = physical..physical + range.len();
            if memory.end > MEMORY {
                continue;
            }
            if read && map.reads && self.managed(physical, INPUT) {
                data[range.clone()].copy_from_slice(&self.memory[memory.clone()]);
                done.0 = true;
            }
            if write && map.writes && self.managed(physical, OUTPUT) {
                self.memory[memory].copy_from_slice(&given[range]);
                done.1 = true;
            }
        }
        done
    }

    /// What its application does with each cycle: its inputs become what its outputs are.
    pub fn work(&mut self) {
        if self.state() == OP {
            let outputs = usize::from(sii::OUTPUTS_AT);
            let bytes = outputs..outputs + usize::from(sii::DATA_BYTES);
            self.memory.copy_within(bytes, usize::from(sii::INPUTS_AT));
        }
    }

    fn change_state(&mut self, asked: u8) {
        let now = self.state();
        if asked & ACKNOWLEDGE != 0 {
            self.memory[AL_STATUS] = now;
            self.put16(AL_CODE, 0);
        } else if self.memory[AL_STATUS] & ERROR != 0 && asked & 0x0f > now {
            return; // an error has to be acknowledged first
        }
        let refusal = match (now, asked & 0x0f) {
            (_, INIT) | (PREOP | SAFEOP | OP, PREOP) | (SAFEOP | OP, SAFEOP) => None,
            (SAFEOP | OP, OP) | (INIT, PREOP) => None,
            (PREOP, SAFEOP) if !self.is_set_up(OUTPUT) => Some(INVALID_OUTPUTS),
            (PREOP, SAFEOP) if !self.is_set_up(INPUT) => Some(INVALID_INPUTS),
            (PREOP, SAFEOP) => None,
            (_, BOOT) => Some(NO_BOOT),
            (_, SAFEOP | OP) => Some(INVALID_CHANGE),
            _ => Some(UNKNOWN_STATE),
        };
        match refusal {
            None => self.memory[AL_STATUS] = asked & 0x0f,
            Some(code) => {
                self.memory[AL_STATUS] = now | ERROR;
                self.put16(AL_CODE, code);
            }
        }
    }

    /// Whether a sync manager is set up as the EEPROM asks for it.
    fn is_set_up(&self, manager: Manager) -> bool {
        let at = manager.register();
        self.get16(at) == manager.start
            && self.get16(at + 2) == sii::DATA_BYTES
            && self.memory[at + 4] & 0x0f == manager.control & 0x0f
            && self.memory[at + 6] & 1 == 1
    }

    /// Whether this address belongs to a sync manager that is set up.
    fn managed(&self, physical: usize, manager: Manager) -> bool {
        let start = usize::from(manager.start);
        (start..start + usize::from(sii::DATA_BYTES)).contains(&physical) && self.is_set_up(manager)
    }

    fn mapping(&self, number: usize) -> Option<Mapping> {
        let fmmu = &self.memory[FMMU + 16 * number..][..16];
        let whole_bytes = fmmu[6] == 0 && fmmu[7] == 7 && fmmu[10] == 0;
        (fmmu[12] & 1 == 1 && whole_bytes).then(|| Mapping {
            logical: u32::from_le_bytes([fmmu[0], fmmu[1], fmmu[2], fmmu[3]]),
            length: u16::from_le_bytes([fmmu[4], fmmu[5]]),
            physical: u16::from_le_bytes([fmmu[8], fmmu[9]]),
            reads: fmmu[11] & 1 == 1,
            writes: fmmu[11] & 2 == 2,
        })
    }

    fn use_eeprom(&mut self) {
        let control = self.get16(SII_CONTROL);
        let place = 2
            * u32::from_le_bytes([0, 1, 2, 3].map(|byte| self.memory[SII_ADDRESS + byte])) as usize;
        let mut errors = 0;
        if control & SII_READS != 0 {
            for byte in 0..8 {
                self.memory[SII_DATA + byte] = self
                    .eeprom
                    .get(place.wrapping_add(byte))
                    .copied()
                    .unwrap_or(0xff);
            }
        } else if control & SII_WRITES != 0 {
            match self.eeprom.get_mut(place..place.wrapping_add(2)) {
                Some(word) if control & SII_MAY_WRITE != 0 => {
                    word.copy_from_slice(&self.memory[SII_DATA..SII_DATA + 2]);
                }
                _ => errors = SII_NO_COMMAND,
            }
        }
        debug_assert_eq!(errors & !SII_ERRORS, 0);
        self.put16(SII_CONTROL, SII_EIGHT_BYTES | errors);
    }

    fn system_time(&self, now: u64) -> u64 {
        let offset = u64::from_le_bytes(self.memory[OFFSET..OFFSET + 8].try_into().unwrap());
        self.clock.local(now).wrapping_add(offset)
    }

    /// Adjusts its clock to a system time that the reference has just said.
    fn hear(&mut self, time: u64, now: u64) {
        let delay = u32::from_le_bytes(self.memory[DELAY..DELAY + 4].try_into().unwrap());
        let ahead = self
            .system_time(now)
            .wrapping_sub(time.wrapping_add(u64::from(delay))) as i64;
        self.clock.slow_down(ahead);
        let magnitude = ahead.unsigned_abs().min(0x7fff_ffff) as u32;
        let sign = if ahead < 0 { 0x8000_0000 } else { 0 };
        self.put32(DIFFERENCE, magnitude | sign);
    }

    fn get16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.memory[at], self.memory[at + 1]])
    }

    fn put16(&mut self, at: usize, value: u16) {
        self.memory[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn put32(&mut self, at: usize, value: u32) {
        self.memory[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

struct Mapping {
    logical: u32,
    length: u16,
    physical: u16,
    reads: bool,
    writes: bool,
}

impl Mapping {
    fn end(&self) -> u32 {
        self.logical.saturating_add(u32::from(self.length))
    }
}

#[derive(Clone, Copy)]
struct Manager {
    number: usize,
    start: u16,
    control: u8,
}

const OUTPUT: Manager = Manager {
    number: 0,
    start: sii::OUTPUTS_AT,
    control: sii::OUTPUTS_CONTROL,
};
const INPUT: Manager = Manager {
    number: 1,
    start: sii::INPUTS_AT,
    control: sii::INPUTS_CONTROL,
};

impl Manager {
    fn register(self) -> usize {
        SYNC_MANAGER + 8 * self.number
    }
}
