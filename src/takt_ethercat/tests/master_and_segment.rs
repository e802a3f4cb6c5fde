// SPDX-License-Identifier: Apache-2.0
//! The master against the simulated segment, in one thread and without a network.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use takt_ethercat::clock::now_ns;
use takt_ethercat::master::{Line, Master, Trouble};
use takt_ethercat::segment::{Fault, Segment, INIT};

/// A line that answers at once; what comes back waits for `receive`.
struct Looped {
    segment: Segment,
    back: Option<Vec<u8>>,
}

impl Line for &mut Looped {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let mut frame = frame.to_vec();
        self.back = self
            .segment
            .pass(&mut frame, now_ns())
            .is_ok()
            .then_some(frame);
        Ok(())
    }

    fn receive(&mut self, frame: &mut [u8], deadline_ns: u64) -> io::Result<Option<usize>> {
        let Some(back) = self.back.take() else {
            std::thread::sleep(Duration::from_nanos(deadline_ns.saturating_sub(now_ns())));
            return Ok(None);
        };
        frame[..back.len()].copy_from_slice(&back);
        Ok(Some(back.len()))
    }
}

const PATIENCE: Duration = Duration::from_millis(200);

fn looped(slaves: u16, fault: Fault, from_cycle: u64) -> Looped {
    Looped {
        segment: Segment::with_fault(slaves, fault, from_cycle),
        back: None,
    }
}

fn bring_up(line: &mut Looped, slaves: Option<u16>) -> Result<Master<&mut Looped>, Trouble> {
    Master::bring_up(line, slaves, PATIENCE, Box::new(|| false))
        .map(|made| made.expect("nobody stopped it"))
}

/// On a stack of its own: without optimisation, what ethercrab returns is copied over and over.
fn with_room(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(test)
        .unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn sixteen_slaves_reach_op_and_every_cycle_has_the_counter_of_all() {
    with_room(|| {
        let mut line = looped(16, Fault::None, 0);
        let mut master = bring_up(&mut line, Some(16)).unwrap();
        assert_eq!((master.slaves(), master.expected()), (16, 48));
        for _ in 0..1000 {
            let cycle = master.cycle().unwrap().unwrap();
            assert_eq!((cycle.working_counter, cycle.operational), (48, 16));
            assert!(cycle.received_ns >= cycle.sent_ns);
        }
        assert_eq!(master.strange(), 0);
        master.release();
        drop(master);
        assert_eq!(line.segment.in_state(INIT), 16);
        assert_eq!(line.segment.counts().ignored, 0);
    });
}

#[test]
fn any_number_of_slaves_does() {
    with_room(|| {
        for slaves in [1, 2, 3, 100] {
            let mut line = looped(slaves, Fault::None, 0);
            let mut master = bring_up(&mut line, None).unwrap();
            let cycle = master.cycle().unwrap().unwrap();
            assert_eq!(
                (cycle.working_counter, cycle.operational),
                (3 * slaves, slaves)
            );
        }
    });
}

#[test]
fn no_slave_and_another_number_of_slaves_are_reported() {
    with_room(|| {
        let empty = bring_up(&mut looped(0, Fault::None, 0), None)
            .err()
            .unwrap();
        assert_eq!(empty.what, "no slave answers");
        let silent = bring_up(&mut looped(16, Fault::Silent, 0), Some(16))
            .err()
            .unwrap();
        assert_eq!(silent.what, "no slave answers");
        let fewer = bring_up(&mut looped(15, Fault::None, 0), Some(16))
            .err()
            .unwrap();
        assert_eq!(fewer.what, "the segment has 15 slaves, not 16");
    });
}

#[test]
fn a_slave_that_is_lost_lowers_the_counter_from_then_on() {
    with_room(|| {
        let mut line = looped(16, Fault::SlaveLost, 50);
        let mut master = bring_up(&mut line, Some(16)).unwrap();
        let counters: Vec<u16> = (0..100)
            .map(|_| master.cycle().unwrap().unwrap().working_counter)
            .collect();
        let first = counters.iter().position(|counter| *counter != 48).unwrap();
        assert!((40..=50).contains(&first), "{first}"); // some cycles were before OP
        assert!(
            counters[first..].iter().all(|counter| *counter == 45),
            "{counters:?}"
        );
        assert_eq!(master.cycle().unwrap().unwrap().operational, 15);
    });
}

#[test]
fn a_wrong_counter_passes() {
    with_room(|| {
        let mut line = looped(16, Fault::WrongCounter, 50);
        let mut master = bring_up(&mut line, Some(16)).unwrap();
        let wrong = (0..100)
            .filter(|_| master.cycle().unwrap().unwrap().working_counter == 47)
            .count();
        assert_eq!(wrong, 10);
    });
}

#[test]
fn what_does_not_come_back_is_lost_after_the_time_that_was_given() {
    with_room(|| {
        let mut line = looped(16, Fault::Silent, 50);
        let mut master = bring_up(&mut line, Some(16)).unwrap();
        let mut cycles = (0..100).map(|_| master.cycle().unwrap().unwrap());
        let lost = cycles.find(|cycle| cycle.received_ns == 0).unwrap();
        assert!(now_ns() - lost.sent_ns >= PATIENCE.as_nanos() as u64);
    });
}

/// From when it is switched on, every tenth answer is not what the segment said.
struct Garbled<'a> {
    line: &'a mut Looped,
    on: Rc<Cell<bool>>,
    answers: usize,
}

impl Line for Garbled<'_> {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        (&mut *self.line).send(frame)
    }

    fn receive(&mut self, frame: &mut [u8], deadline_ns: u64) -> io::Result<Option<usize>> {
        let Some(bytes) = (&mut *self.line).receive(frame, deadline_ns)? else {
            return Ok(None);
        };
        self.answers += usize::from(self.on.get());
        if !self.on.get() || !self.answers.is_multiple_of(10) {
            return Ok(Some(bytes));
        }
        let place = self.answers / 10 * 7 % bytes; // each time another one
        if (self.answers / 10).is_multiple_of(3) {
            return Ok(Some(place)); // cut
        }
        frame[place] ^= 0xff;
        Ok(Some(bytes))
    }
}

#[test]
fn answers_that_are_garbled_break_nothing_and_the_next_cycle_is_right() {
    with_room(|| {
        let mut line = looped(16, Fault::None, 0);
        let on = Rc::new(Cell::new(false));
        let garbled = Garbled {
            line: &mut line,
            on: on.clone(),
            answers: 0,
        };
        let lost_after = Duration::from_millis(2);
        let made = Master::bring_up(garbled, None, lost_after, Box::new(|| false));
        let mut master = made.unwrap().unwrap();
        on.set(true);
        let cycles: Vec<_> = (0..3000)
            .map(|_| master.cycle().map(Option::unwrap))
            .collect();
        let right = cycles
            .iter()
            .flatten()
            .filter(|cycle| cycle.working_counter == 48)
            .count();
        assert!(right >= 2700, "{right}");
        on.set(false);
        assert_eq!(master.cycle().unwrap().unwrap().working_counter, 48);
    });
}

#[test]
fn a_request_to_stop_ends_the_way_to_op() {
    with_room(|| {
        let mut line = looped(16, Fault::None, 0);
        let stopped = Master::bring_up(&mut line, None, PATIENCE, Box::new(|| true));
        assert!(stopped.unwrap().is_none());
    });
}
