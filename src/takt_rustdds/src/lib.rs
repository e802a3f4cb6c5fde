// SPDX-License-Identifier: Apache-2.0
//! Topics of RustDDS behind the C interface of `include/takt_rustdds.h`, which says what each
//! function means. Pointers are those that the functions here gave; what is null is no such thing
//! and must not be passed.

mod link;

use std::ffi::{c_char, c_int, c_void};
use std::net::IpAddr;

use link::{Callback, Link, Quality, Sample};
use rustdds::{DomainParticipant, DomainParticipantBuilder};
use takt_c::{text, Why};

#[repr(C)]
pub struct Head {
    sequence: u64,
    intended_ns: i64,
    sent_ns: i64,
    last: bool,
}

#[repr(C)]
pub struct Settings {
    topic: *const c_char,
    reliable: bool,
    transient_local: bool,
    depth: u32,
    payload_bytes: usize,
    announce: extern "C" fn(*mut c_void),
    context: *mut c_void,
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_join(
    domain: u16,
    address: *const c_char,
    receive_buffer: usize,
    why: *mut c_char,
    why_bytes: usize,
) -> *mut DomainParticipant {
    let join = || {
        let address = text(address)?;
        let only: IpAddr = address
            .parse()
            .map_err(|error| format!("{address}: {error}"))?;
        let mut builder = DomainParticipantBuilder::new(domain)
            .with_only_networks([only])
            .same_host_loopback(only.is_loopback());
        if receive_buffer > 0 {
            builder = builder.socket_receive_buffer_size(receive_buffer);
        }
        builder.build().map_err(|error| error.to_string())
    };
    Why::at(why, why_bytes).boxed(join())
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_part(participant: *mut DomainParticipant) {
    drop(Box::from_raw(participant));
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_open(
    participant: *const DomainParticipant,
    settings: *const Settings,
    why: *mut c_char,
    why_bytes: usize,
) -> *mut Link {
    let given = &*settings;
    let open = || {
        let callback = Callback {
            call: given.announce,
            context: given.context,
        };
        let topic = text(given.topic)?;
        Link::open(
            &*participant,
            topic,
            &Quality {
                reliable: given.reliable,
                transient_local: given.transient_local,
                depth: given.depth,
            },
            given.payload_bytes,
            callback,
        )
    };
    Why::at(why, why_bytes).boxed(open())
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_close(link: *mut Link) {
    drop(Box::from_raw(link));
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_open_writer(
    link: *mut Link,
    topic: *const c_char,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).done(text(topic).and_then(|topic| (*link).open_writer(topic)))
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_close_writer(link: *mut Link) {
    (*link).close_writer();
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_writers(link: *mut Link) -> usize {
    (*link).writers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_readers(link: *mut Link) -> usize {
    (*link).readers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_send(link: *mut Link, head: *const Head) -> bool {
    let Head {
        sequence,
        intended_ns,
        sent_ns,
        last,
    } = *head;
    (*link).send(Sample {
        sequence,
        intended_ns,
        sent_ns,
        last,
        ..Sample::default()
    })
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_reply(link: *mut Link) -> bool {
    (*link).reply()
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_take(link: *mut Link, head: *mut Head) -> c_int {
    match (*link).take() {
        Ok(Some(&Sample {
            sequence,
            intended_ns,
            sent_ns,
            last,
            ..
        })) => {
            *head = Head {
                sequence,
                intended_ns,
                sent_ns,
                last,
            };
            1
        }
        Ok(None) => 0,
        Err(()) => -1,
    }
}

#[no_mangle]
pub unsafe extern "C" fn takt_rustdds_problem(
    link: *const Link,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).told((*link).problem.as_deref())
}
