// SPDX-License-Identifier: Apache-2.0
//! Topics of RustDDS behind the C interface of `include/takt_rustdds.h` and `takt_link.h`, which say
//! what each function means. Pointers are those that the functions here gave; what is null is no
//! such thing and must not be passed.

mod link;

use std::ffi::c_char;
use std::net::IpAddr;

use link::{Link, Quality};
use rustdds::{DomainParticipant, DomainParticipantBuilder};
use takt_c::{text, Callback, Opened, Why};

takt_c::link_functions!(Link);

#[repr(C)]
pub struct Settings {
    topic: *const c_char,
    reliable: bool,
    transient_local: bool,
    depth: u32,
    payload_bytes: usize,
    announce: Callback,
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
) -> *mut Opened<Link> {
    let given = &*settings;
    let open = || {
        Link::open(
            &*participant,
            text(given.topic)?,
            &Quality {
                reliable: given.reliable,
                transient_local: given.transient_local,
                depth: given.depth,
            },
            given.payload_bytes,
            given.announce,
        )
    };
    Why::at(why, why_bytes).boxed(open().map(Opened::new))
}
