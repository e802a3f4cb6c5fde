// SPDX-License-Identifier: Apache-2.0
//! An EtherCAT master behind the C interface of `include/takt_ethercat.h`, which says what each
//! function means, and a simulated segment. Pointers are those that the functions here gave; what
//! is null is no such thing and must not be passed.

#![allow(clippy::missing_safety_doc)] // the header says what may be passed

pub mod clock;
pub mod master;
pub mod segment;
pub mod socket;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::io::ErrorKind;
use std::ptr;
use std::time::Duration;

use master::{Master, Trouble};
use socket::{look_at, Interface, Socket};

#[repr(C)]
pub struct Settings {
    interface: *const c_char,
    slaves: u16,
    lost_after_ns: u64,
    stopped: extern "C" fn(*mut c_void) -> bool,
    context: *mut c_void,
}

#[repr(C)]
pub struct Words {
    what: [c_char; 160],
    why: [c_char; 400],
    fix: [c_char; 240],
}

#[repr(C)]
pub struct Cycle {
    sent_ns: i64,
    received_ns: i64,
    working_counter: u16,
    operational: u16,
}

impl Words {
    fn say(&mut self, trouble: &Trouble) {
        copy(&trouble.what, &mut self.what);
        copy(&trouble.why, &mut self.why);
        copy(&trouble.fix, &mut self.fix);
    }
}

fn copy(text: &str, into: &mut [c_char]) {
    let length = text.len().min(into.len() - 1);
    for (place, byte) in into.iter_mut().zip(&text.as_bytes()[..length]) {
        *place = *byte as c_char;
    }
    into[length] = 0;
}

fn open(settings: &Settings) -> Result<Option<Master<Socket>>, Trouble> {
    // SAFETY: the caller's string, which ends with zero.
    let name = unsafe { CStr::from_ptr(settings.interface) }.to_string_lossy();
    let cannot = |why: &str, fix: &str| {
        Trouble::new(format!("the interface {name} cannot be used"), why, fix)
    };
    match look_at(&name) {
        Interface::Missing => {
            return Err(cannot("there is none of this name", "see: ip link show"))
        }
        Interface::Down => return Err(cannot("it is down", &format!("ip link set {name} up"))),
        Interface::NoCarrier => return Err(cannot("it has no carrier", "look at its cable")),
        Interface::NotEthernet => return Err(cannot("it is no Ethernet", "take another one")),
        Interface::Usable => {}
    }
    let socket = Socket::open(&name).map_err(|error| {
        let fix = match error.kind() {
            ErrorKind::PermissionDenied => "run it as root, or with CAP_NET_RAW",
            _ => "see: ip link show",
        };
        cannot(&error.to_string(), fix)
    })?;
    let (stopped, context) = (settings.stopped, settings.context as usize);
    Master::bring_up(
        socket,
        (settings.slaves > 0).then_some(settings.slaves),
        Duration::from_nanos(settings.lost_after_ns),
        Box::new(move || stopped(context as *mut c_void)),
    )
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_open(
    settings: *const Settings,
    trouble: *mut Words,
) -> *mut Master<Socket> {
    match open(&*settings) {
        Ok(Some(master)) => Box::into_raw(Box::new(master)),
        Ok(None) => {
            (*trouble).say(&Trouble::new("", "", ""));
            ptr::null_mut()
        }
        Err(reason) => {
            (*trouble).say(&reason);
            ptr::null_mut()
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_close(master: *mut Master<Socket>) {
    Box::from_raw(master).release();
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_slaves(master: *const Master<Socket>) -> u16 {
    (*master).slaves() as u16
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_expected(master: *const Master<Socket>) -> u16 {
    (*master).expected()
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_strange(master: *const Master<Socket>) -> u64 {
    (*master).strange()
}

#[no_mangle]
pub unsafe extern "C" fn takt_ethercat_exchange(
    master: *mut Master<Socket>,
    cycle: *mut Cycle,
    trouble: *mut Words,
) -> c_int {
    match (*master).cycle() {
        Ok(Some(done)) => {
            *cycle = Cycle {
                sent_ns: done.sent_ns as i64,
                received_ns: done.received_ns as i64,
                working_counter: done.working_counter,
                operational: done.operational,
            };
            c_int::from(done.received_ns != 0)
        }
        Ok(None) => -2,
        Err(reason) => {
            (*trouble).say(&reason);
            -1
        }
    }
}
