// SPDX-License-Identifier: Apache-2.0
//! Topics of Zenoh behind the C interface of `include/takt_zenoh.h` and `takt_link.h`, which say what
//! each function means. Pointers are those that the functions here gave; what is null is no such
//! thing and must not be passed.

mod link;

use std::ffi::c_char;

use link::Link;
use takt_c::{text, Callback, Opened, Why};

takt_c::link_functions!(Link);

#[repr(C)]
pub struct Settings {
    topic: *const c_char,
    endpoint: *const c_char,
    listens: bool,
    depth: usize,
    payload_bytes: usize,
    announce: Callback,
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_open(
    settings: *const Settings,
    why: *mut c_char,
    why_bytes: usize,
) -> *mut Opened<Link> {
    let given = &*settings;
    let open = || {
        let settings = link::Settings {
            topic: text(given.topic)?,
            endpoint: text(given.endpoint)?,
            listens: given.listens,
            depth: given.depth,
            payload_bytes: given.payload_bytes,
        };
        Link::open(&settings, given.announce)
    };
    Why::at(why, why_bytes).boxed(open().map(Opened::new))
}
