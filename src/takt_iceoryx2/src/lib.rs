// SPDX-License-Identifier: Apache-2.0
//! Topics of iceoryx2 behind the C interface of `include/takt_iceoryx2.h` and `takt_link.h`, which
//! say what each function means. Pointers are those that the functions here gave; what is null is no
//! such thing and must not be passed, but for the folder.

mod link;

use std::ffi::c_char;
use std::time::Duration;

use link::Link;
use takt_c::{text, Opened, Why};

takt_c::link_functions!(Link);

#[repr(C)]
pub struct Settings {
    topic: *const c_char,
    root: *const c_char,
    depth: usize,
    payload_bytes: usize,
    ends: usize,
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_open(
    settings: *const Settings,
    why: *mut c_char,
    why_bytes: usize,
) -> *mut Opened<Link> {
    let given = &*settings;
    let open = || {
        let root = if given.root.is_null() {
            None
        } else {
            Some(text(given.root)?)
        };
        Link::open(&link::Settings {
            topic: text(given.topic)?,
            root,
            depth: given.depth,
            payload_bytes: given.payload_bytes,
            ends: given.ends,
        })
    };
    Why::at(why, why_bytes).boxed(open().map(Opened::new))
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_wait(link: *mut Opened<Link>, at_most_ns: u64) -> bool {
    let at_most = Duration::from_nanos(at_most_ns);
    (*link).attempt(|one| one.wait(at_most)).is_some()
}
