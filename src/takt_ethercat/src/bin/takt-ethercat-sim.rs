// SPDX-License-Identifier: Apache-2.0
//! A simulated EtherCAT segment on a network interface. It ends by SIGTERM or SIGINT.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use takt_ethercat::clock::now_ns;
use takt_ethercat::segment::{Fault, Segment, OP};
use takt_ethercat::socket::{Socket, LONGEST_FRAME};

const HELP: &str = "A simulated EtherCAT segment: slaves that answer every frame of a master.

Usage: takt-ethercat-sim --interface NAME [options]

  --interface NAME     the network interface that it listens on
  --slaves N           1 to 1000 (default: 16)
  --fault KIND         none, slave-lost, wrong-counter, silent (default: none)
  --fault-cycle K      the cycle of process data from which on it is wrong (default: 0)
  --result FILE        where counts are written, at the start and at the end (JSON)
  --priority N         real-time FIFO at this priority, 1 to 98, memory locked
  --cpu N              the only CPU that it uses

Exit code: 0 ended by a signal, 1 failed, 2 wrong use.

Example: takt-ethercat-sim --interface veth1 --slaves 16
";
const MOST_SLAVES: u16 = 1000;
const HIGHEST_PRIORITY: i32 = 98;
const LOOK_NS: u64 = 100_000_000; // how long a request to end may go unseen

static ENDED: AtomicBool = AtomicBool::new(false);

struct Options {
    interface: String,
    slaves: u16,
    fault: Fault,
    fault_cycle: u64,
    result: Option<String>,
    priority: Option<i32>,
    cpu: Option<usize>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("takt-ethercat-sim: {why}; see takt-ethercat-sim --help");
            return ExitCode::from(2);
        }
    };
    match simulate(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("takt-ethercat-sim: {why}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        interface: String::new(),
        slaves: 16,
        fault: Fault::None,
        fault_cycle: 0,
        result: None,
        priority: None,
        cpu: None,
    };
    while let Some(option) = words.next() {
        if option == "--help" {
            return Ok(None);
        }
        let value = words.next().ok_or(format!("{option} has no value"))?;
        let wrong = || format!("{option} {value}: there is no such value");
        match option.as_str() {
            "--interface" => options.interface = value,
            "--slaves" => {
                options.slaves = value.parse().ok().filter(|n| *n >= 1).ok_or_else(wrong)?;
                if options.slaves > MOST_SLAVES {
                    return Err(format!("--slaves {value}: {MOST_SLAVES} is the most"));
                }
            }
            "--fault" => {
                options.fault = match value.as_str() {
                    "none" => Fault::None,
                    "slave-lost" => Fault::SlaveLost,
                    "wrong-counter" => Fault::WrongCounter,
                    "silent" => Fault::Silent,
                    _ => return Err(wrong()),
                }
            }
            "--fault-cycle" => options.fault_cycle = value.parse().map_err(|_| wrong())?,
            "--result" => options.result = Some(value),
            "--priority" => {
                let priority = value
                    .parse()
                    .ok()
                    .filter(|n| (1..=HIGHEST_PRIORITY).contains(n));
                options.priority = Some(priority.ok_or_else(wrong)?);
            }
            "--cpu" => {
                let cpu = value
                    .parse()
                    .ok()
                    .filter(|n| *n < libc::CPU_SETSIZE as usize);
                options.cpu = Some(cpu.ok_or_else(wrong)?);
            }
            _ => return Err(format!("{option} is no option")),
        }
    }
    if options.interface.is_empty() {
        return Err("--interface is missing".to_owned());
    }
    Ok(Some(options))
}

fn simulate(options: &Options) -> Result<(), String> {
    end_on_signals();
    let not_granted = set_up(options);
    let socket = Socket::open(&options.interface)
        .map_err(|error| format!("{} cannot be opened: {error}", options.interface))?;
    let mut segment = Segment::with_fault(options.slaves, options.fault, options.fault_cycle);
    report(options, &segment, &not_granted)?;
    let mut frame = [0u8; LONGEST_FRAME];
    while !ENDED.load(Ordering::Relaxed) {
        let taken = socket.receive(&mut frame, now_ns() + LOOK_NS);
        match taken {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                if segment.pass(&mut frame[..bytes], now_ns()).is_ok() {
                    // A frame that does not go out is one that got lost on its way.
                    let _ = socket.send(&frame[..bytes]);
                }
            }
            Err(error) => {
                report(options, &segment, &not_granted)?;
                return Err(format!("{} is gone: {error}", options.interface));
            }
        }
    }
    report(options, &segment, &not_granted)
}

/// Makes it as real-time as was asked; what it did not get.
fn set_up(options: &Options) -> Vec<String> {
    let mut not_granted = Vec::new();
    let mut note = |what: &str, result: i32| {
        if result != 0 {
            not_granted.push(format!("{what}: {}", io::Error::last_os_error()));
        }
    };
    // SAFETY: plain values on the stack, whose lengths are their own.
    unsafe {
        if let Some(cpu) = options.cpu {
            let mut cpus: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut cpus);
            note(
                "pinned",
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &cpus),
            );
        }
        if let Some(priority) = options.priority {
            note(
                "memory locked",
                libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE),
            );
            let asked = libc::sched_param {
                sched_priority: priority,
            };
            note(
                "real-time priority",
                libc::sched_setscheduler(0, libc::SCHED_FIFO, &asked),
            );
        }
    }
    not_granted
}

/// Writes the counts, as a whole or not at all.
fn report(options: &Options, segment: &Segment, not_granted: &[String]) -> Result<(), String> {
    let Some(file) = &options.result else {
        return Ok(());
    };
    let counts = segment.counts();
    let mut text = String::new();
    let _ = write!(
        text,
        "{{\"slaves\": {}, \"operational\": {}, \"frames\": {}, \"ignored\": {}, \"cycles\": {}, \
         \"not_granted\": {not_granted:?}}}",
        options.slaves,
        segment.in_state(OP),
        counts.frames,
        counts.ignored,
        counts.cycles,
    );
    let unfinished = format!("{file}.unfinished");
    fs::write(&unfinished, text + "\n")
        .and_then(|()| fs::rename(&unfinished, file))
        .map_err(|error| format!("{file} cannot be written: {error}"))
}

fn end_on_signals() {
    extern "C" fn end(_: libc::c_int) {
        ENDED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic; without SA_RESTART a wait ends at once.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = end as *const () as libc::sighandler_t;
        for signal in [libc::SIGTERM, libc::SIGINT] {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
