// SPDX-License-Identifier: Apache-2.0
//! The local clock of a simulated slave, which runs a little fast or slow until it is corrected.

/// How far apart the clocks of two neighbours start, and how much faster each runs.
const APART_NS: u64 = 1_000_000;
const DRIFT_PPM: u64 = 5;
/// The share of a difference that one correction takes away; larger ones are for the offset.
const SHARE: i64 = 4;
const LARGEST_NS: u64 = 1_000_000_000;

pub struct Clock {
    position: u64,
    corrected: i64,
}

impl Clock {
    pub fn new(position: u16) -> Self {
        Self {
            position: u64::from(position),
            corrected: 0,
        }
    }

    /// What it shows at this time of the simulation, in ns.
    pub fn local(&self, now: u64) -> u64 {
        let drifted = (now / 1_000_000).wrapping_mul(self.position * DRIFT_PPM);
        now.wrapping_add(self.position * APART_NS)
            .wrapping_add(drifted)
            .wrapping_add_signed(self.corrected)
    }

    /// Takes back a part of what it is ahead.
    pub fn slow_down(&mut self, ahead_ns: i64) {
        if ahead_ns.unsigned_abs() < LARGEST_NS {
            self.corrected = self.corrected.wrapping_sub(ahead_ns / SHARE);
        }
    }
}
