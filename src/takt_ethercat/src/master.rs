// SPDX-License-Identifier: Apache-2.0
//! The master: ethercrab's protocol, driven by the thread that calls it. There is no other thread
//! and no other clock, so that a cycle is one frame sent, one wait and one frame received.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ethercrab::error::{Error, TimeoutError};
use ethercrab::subdevice_group::Op;
use ethercrab::{
    Command, DefaultLock, MainDevice, MainDeviceConfig, PduRx, PduStorage, PduTx, SubDeviceGroup,
    SubDeviceState, Timeouts,
};

use crate::clock::{next_wake_ns, now_ns};
use crate::socket::{Socket, LONGEST_FRAME};

/// The most slaves (a power of two, as ethercrab wants it), and bytes of process data.
pub const MOST_SLAVES: usize = 128;
pub const MOST_BYTES: usize = 4096;
const FRAMES: usize = 16;
const FRAME_BYTES: usize = PduStorage::element_size(1486);
const FIRST_STATION: u16 = 0x1000; // where ethercrab starts to count
const AL_CONTROL: u16 = 0x0120;
const INIT: u16 = 0x0001;
const AL_STATUS: u16 = 0x0130;
const AL_CODE: u16 = 0x0134;
const TO_OP: Duration = Duration::from_secs(5);
const BETWEEN_CHECKS: Duration = Duration::from_millis(1);
const DC_FRAMES: u32 = 1000;
const LOOK_NS: u64 = 50_000_000; // how long a request to stop may go unseen

type Group = SubDeviceGroup<MOST_SLAVES, MOST_BYTES, DefaultLock, Op>;

/// Where frames go: a network interface, or a simulated segment of the same process.
pub trait Line {
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;
    /// The next frame until `deadline_ns`; none after that, or a signal.
    fn receive(&mut self, frame: &mut [u8], deadline_ns: u64) -> io::Result<Option<usize>>;
}

impl Line for Socket {
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        Socket::send(self, frame)
    }

    fn receive(&mut self, frame: &mut [u8], deadline_ns: u64) -> io::Result<Option<usize>> {
        Socket::receive(self, frame, deadline_ns)
    }
}

/// Why the master cannot go on: what, why, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub what: String,
    pub why: String,
    pub fix: String,
}

impl Trouble {
    pub fn new(what: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
            fix: fix.into(),
        }
    }
}

/// One cycle. Times are CLOCK_MONOTONIC in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    pub sent_ns: u64,
    /// 0: what was sent did not come back in time.
    pub received_ns: u64,
    pub working_counter: u16,
    /// How many slaves said that they are in OP.
    pub operational: u16,
}

/// What a master has besides its group of slaves.
struct Wire<L> {
    line: L,
    tx: PduTx<'static>,
    rx: PduRx<'static>,
    buffer: [u8; LONGEST_FRAME],
    stopped: Box<dyn Fn() -> bool>,
    sent_ns: u64,
    received_ns: u64,
    strange: u64,
}

enum Halt {
    Stopped,
    Line(io::Error),
}

impl<L: Line> Wire<L> {
    /// Drives a future of ethercrab to its end: sends what it wants sent, gives it what comes.
    fn drive<F: Future>(&mut self, future: F) -> Result<F::Output, Halt> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        (self.sent_ns, self.received_ns) = (0, 0);
        loop {
            next_wake_ns();
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return Ok(done);
            }
            let wake_ns = next_wake_ns();
            while let Some(frame) = self.tx.next_sendable_frame() {
                if self.sent_ns == 0 {
                    self.sent_ns = now_ns();
                }
                let mut failed = None;
                let _ = frame.send_blocking(|bytes| match self.line.send(bytes) {
                    Ok(()) => Ok(bytes.len()),
                    Err(error) => {
                        failed = Some(error);
                        Err(Error::SendFrame)
                    }
                });
                if let Some(error) = failed {
                    return Err(Halt::Line(error));
                }
            }
            self.take(wake_ns)?;
        }
    }

    /// Waits for the next frame of ours, until the time that the future wants to be asked again.
    fn take(&mut self, wake_ns: u64) -> Result<(), Halt> {
        loop {
            if (self.stopped)() {
                return Err(Halt::Stopped);
            }
            let deadline = wake_ns.min(now_ns() + LOOK_NS);
            match self.line.receive(&mut self.buffer, deadline) {
                Ok(Some(bytes)) => {
                    let received_ns = now_ns();
                    if self.rx.receive_frame(&self.buffer[..bytes]).is_ok() {
                        self.received_ns = received_ns;
                        return Ok(());
                    }
                    self.strange += 1; // such as one that was given up
                }
                Ok(None) if now_ns() >= wake_ns => return Ok(()),
                Ok(None) => {}
                Err(error) => return Err(Halt::Line(error)),
            }
        }
    }
}

pub struct Master<L> {
    wire: Wire<L>,
    main: &'static MainDevice<'static>,
    group: Box<Group>,
    expected: u16,
}

impl<L: Line> Master<L> {
    /// Brings all slaves on the line to OP. `slaves`: how many there have to be; none: any number.
    /// `lost_after` is how long a frame may be under way. None where it was stopped meanwhile.
    ///
    /// What it holds is never given back: a process has one master.
    pub fn bring_up(
        line: L,
        slaves: Option<u16>,
        lost_after: Duration,
        stopped: Box<dyn Fn() -> bool>,
    ) -> Result<Option<Self>, Trouble> {
        let storage: &'static PduStorage<FRAMES, FRAME_BYTES> =
            Box::leak(Box::new(PduStorage::new()));
        let (tx, rx, pdu_loop) = storage.try_split().expect("it is new");
        let timeouts = Timeouts {
            pdu: lost_after,
            eeprom: lost_after.max(Duration::from_secs(1)),
            state_transition: TO_OP,
            ..Timeouts::default()
        };
        let config = MainDeviceConfig {
            dc_static_sync_iterations: DC_FRAMES,
            ..Default::default()
        };
        let main: &'static MainDevice<'static> =
            Box::leak(Box::new(MainDevice::new(pdu_loop, timeouts, config)));
        let buffer = [0; LONGEST_FRAME];
        let (sent_ns, received_ns, strange) = (0, 0, 0);
        let mut wire = Wire {
            line,
            tx,
            rx,
            buffer,
            stopped,
            sent_ns,
            received_ns,
            strange,
        };

        let begun = Box::pin(async {
            let group = main
                .init_single_group::<MOST_SLAVES, MOST_BYTES>(now_ns)
                .await?;
            let found = main.num_subdevices();
            if found == 0 || slaves.is_some_and(|wanted| usize::from(wanted) != found) {
                return Ok(None);
            }
            let group = group.into_safe_op(main).await?;
            let group = group.request_into_op(main).await?;
            Ok(Some(Box::new(group)))
        });
        let group = match wire.drive(begun) {
            Err(Halt::Stopped) => return Ok(None),
            Err(Halt::Line(error)) => return Err(line_failed(&error)),
            Ok(Err(error)) => return Err(wire.not_brought_up(main, error)),
            Ok(Ok(None)) => return Err(wrong_number(main.num_subdevices(), slaves)),
            Ok(Ok(Some(group))) => group,
        };
        let expected = expected_counter(&group, main);
        let mut made = Self {
            wire,
            main,
            group,
            expected,
        };
        if expected == 0 {
            return Err(Trouble::new(
                "the slaves have no process data",
                format!(
                    "{} slaves are there, none with inputs or outputs",
                    made.slaves()
                ),
                "connect one that has some: there is nothing to cycle",
            ));
        }
        Ok(made.await_op()?.then_some(made))
    }

    /// Cycles until all slaves are in OP; false where it was stopped meanwhile.
    fn await_op(&mut self) -> Result<bool, Trouble> {
        let limit = now_ns() + TO_OP.as_nanos() as u64;
        loop {
            let Some(cycle) = self.cycle()? else {
                return Ok(false);
            };
            if usize::from(cycle.operational) == self.slaves() {
                return Ok(true);
            }
            if now_ns() > limit {
                return Err(self.wire.not_brought_up(self.main, timed_out()));
            }
            std::thread::sleep(BETWEEN_CHECKS);
        }
    }

    /// Sends the process data, whose outputs stay zero, and waits for it to come back. None where
    /// it was stopped meanwhile.
    pub fn cycle(&mut self) -> Result<Option<Cycle>, Trouble> {
        let done = self
            .wire
            .drive(self.group.tx_rx_sync_system_time(self.main));
        let (sent_ns, received_ns) = (self.wire.sent_ns, self.wire.received_ns);
        match done {
            Ok(Ok(response)) => Ok(Some(Cycle {
                sent_ns,
                received_ns,
                working_counter: response.working_counter,
                operational: response
                    .subdevice_states
                    .iter()
                    .filter(|state| **state == SubDeviceState::Op)
                    .count() as u16,
            })),
            Ok(Err(Error::Timeout(_))) => Ok(Some(Cycle {
                sent_ns,
                ..Cycle::default()
            })),
            Ok(Err(error)) => Err(Trouble::new(
                "a cycle failed",
                error.to_string(),
                "look at the segment and at the other traffic on this interface",
            )),
            Err(Halt::Stopped) => Ok(None),
            Err(Halt::Line(error)) => Err(line_failed(&error)),
        }
    }

    /// Brings all slaves back to INIT, so that none of them misses the cycles that do not come.
    pub fn release(&mut self) {
        self.wire.stopped = Box::new(|| false); // it may be over because of that
        let asked = Command::bwr(AL_CONTROL).ignore_wkc().send(self.main, INIT);
        let _ = self.wire.drive(asked); // who does not hear it has a watchdog
    }

    pub fn slaves(&self) -> usize {
        self.group.len()
    }

    /// The working counter of a cycle in which every slave took part.
    pub fn expected(&self) -> u16 {
        self.expected
    }

    /// Frames that came and were not answers to what is under way.
    pub fn strange(&self) -> u64 {
        self.wire.strange
    }
}

impl<L: Line> Wire<L> {
    /// The words for an error on the way to OP.
    fn not_brought_up(&mut self, main: &'static MainDevice<'static>, error: Error) -> Trouble {
        let found = main.num_subdevices();
        if found == 0 && error == Error::Timeout(TimeoutError::Pdu) {
            return wrong_number(0, None);
        }
        let mut behind = String::new();
        for position in 0..found as u16 {
            let station = FIRST_STATION.wrapping_add(position);
            let asked = self.drive(async {
                let status = Command::fprd(station, AL_STATUS)
                    .receive::<u16>(main)
                    .await?;
                let code = Command::fprd(station, AL_CODE).receive::<u16>(main).await?;
                Ok::<_, Error>((status, code))
            });
            match asked {
                Ok(Ok((status, _))) if status & 0x1f == 8 => continue,
                Ok(Ok((status, code))) => {
                    behind = format!(
                        "; slave {position} is in {} (AL status code {code:#06x})",
                        state_name(status)
                    );
                }
                _ => behind = format!("; slave {position} does not answer"),
            }
            break;
        }
        Trouble::new(
            "the slaves were not brought to OP",
            format!("{error}{behind}"),
            "look this slave's AL status code up, and at its wiring and configuration",
        )
    }
}

fn timed_out() -> Error {
    Error::Timeout(TimeoutError::StateTransition)
}

fn expected_counter(group: &Group, main: &'static MainDevice<'static>) -> u16 {
    group
        .iter(main)
        .map(|slave| {
            let data = slave.io_raw();
            u16::from(!data.inputs().is_empty()) + 2 * u16::from(!data.outputs().is_empty())
        })
        .sum()
}

fn wrong_number(found: usize, wanted: Option<u16>) -> Trouble {
    match wanted {
        Some(wanted) if found > 0 => Trouble::new(
            format!("the segment has {found} slaves, not {wanted}"),
            "so many answered on this interface",
            "correct the number, or look at the wiring",
        ),
        _ => Trouble::new(
            "no slave answers",
            "what was sent did not come back from any slave",
            "look at the cable, the slaves' power, and whether this is their interface",
        ),
    }
}

fn line_failed(error: &io::Error) -> Trouble {
    Trouble::new(
        "the interface failed",
        error.to_string(),
        "see whether it is up: ip link show",
    )
}

fn state_name(status: u16) -> &'static str {
    match status & 0x0f {
        1 => "INIT",
        2 => "PREOP",
        3 => "BOOT",
        4 => "SAFEOP",
        8 => "OP",
        _ => "no state",
    }
}
