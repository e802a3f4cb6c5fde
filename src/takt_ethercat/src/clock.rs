// SPDX-License-Identifier: Apache-2.0
//! CLOCK_MONOTONIC, also as the clock that the master's timeouts are told by. Nobody is woken by it:
//! who drives a future asks [`next_wake_ns`] how long it may wait.

use std::cell::Cell;
use std::task::Waker;

/// Now, in ns.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

struct Timeouts;

thread_local! {
    static NEXT_US: Cell<u64> = const { Cell::new(u64::MAX) };
}

impl embassy_time_driver::Driver for Timeouts {
    fn now(&self) -> u64 {
        now_ns() / 1000
    }

    fn schedule_wake(&self, at: u64, _: &Waker) {
        NEXT_US.set(NEXT_US.get().min(at));
    }
}

embassy_time_driver::time_driver_impl!(static TIMEOUTS: Timeouts = Timeouts);

/// The earliest timeout that this thread was asked for since the last call, in ns.
pub fn next_wake_ns() -> u64 {
    // A future that was told a microsecond looks whether it has passed, not whether it has begun.
    NEXT_US
        .replace(u64::MAX)
        .saturating_add(1)
        .saturating_mul(1000)
}
