// SPDX-License-Identifier: Apache-2.0
//! Topics of iceoryx2 behind the C interface of `include/takt_iceoryx2.h`, which says what each
//! function means. Pointers are those that the functions here gave; what is null is no such thing
//! and must not be passed, but for the folder.

mod link;

use std::ffi::{c_char, c_int};
use std::time::Duration;

use link::{Head, Link};
use takt_c::{text, Why};

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
) -> *mut Link {
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
    Why::at(why, why_bytes).boxed(open())
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_close(link: *mut Link) {
    drop(Box::from_raw(link));
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_open_writer(
    link: *mut Link,
    topic: *const c_char,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).done(text(topic).and_then(|topic| (*link).open_writer(topic)))
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_close_writer(link: *mut Link) {
    (*link).close_writer();
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_writers(link: *const Link) -> usize {
    (*link).writers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_readers(link: *const Link) -> usize {
    (*link).readers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_send(link: *mut Link, head: *const Head) -> bool {
    (*link).send(*head)
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_reply(link: *mut Link) -> bool {
    (*link).reply()
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_take(link: *mut Link, head: *mut Head) -> c_int {
    match (*link).take() {
        Ok(Some(taken)) => {
            *head = taken;
            1
        }
        Ok(None) => 0,
        Err(()) => -1,
    }
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_wait(link: *mut Link, at_most_ns: u64) -> bool {
    (*link).wait(Duration::from_nanos(at_most_ns))
}

#[no_mangle]
pub unsafe extern "C" fn takt_iceoryx2_problem(
    link: *const Link,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).told((*link).problem.as_deref())
}
