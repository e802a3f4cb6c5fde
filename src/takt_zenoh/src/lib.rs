// SPDX-License-Identifier: Apache-2.0
//! Topics of Zenoh behind the C interface of `include/takt_zenoh.h`, which says what each function
//! means. Pointers are those that the functions here gave; what is null is no such thing and must
//! not be passed.

mod link;

use std::ffi::{c_char, c_int, c_void};

use link::{Callback, Head, Link};
use takt_c::{text, Why};

#[repr(C)]
pub struct Settings {
    topic: *const c_char,
    endpoint: *const c_char,
    listens: bool,
    depth: usize,
    payload_bytes: usize,
    announce: extern "C" fn(*mut c_void),
    context: *mut c_void,
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_open(
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
        let settings = link::Settings {
            topic: text(given.topic)?,
            endpoint: text(given.endpoint)?,
            listens: given.listens,
            depth: given.depth,
            payload_bytes: given.payload_bytes,
        };
        Link::open(&settings, callback)
    };
    Why::at(why, why_bytes).boxed(open())
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_close(link: *mut Link) {
    drop(Box::from_raw(link));
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_open_writer(
    link: *mut Link,
    topic: *const c_char,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).done(text(topic).and_then(|topic| (*link).open_writer(topic)))
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_close_writer(link: *mut Link) {
    (*link).close_writer();
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_writers(link: *const Link) -> usize {
    (*link).writers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_readers(link: *const Link) -> usize {
    (*link).readers()
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_send(link: *mut Link, head: *const Head) -> bool {
    (*link).send(*head)
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_reply(link: *mut Link) -> bool {
    (*link).reply()
}

#[no_mangle]
pub unsafe extern "C" fn takt_zenoh_take(link: *mut Link, head: *mut Head) -> c_int {
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
pub unsafe extern "C" fn takt_zenoh_problem(
    link: *const Link,
    why: *mut c_char,
    why_bytes: usize,
) -> bool {
    Why::at(why, why_bytes).told((*link).problem.as_deref())
}
