// SPDX-License-Identifier: Apache-2.0
//! What crates behind C interfaces share: the functions of topics, callbacks, text that comes from
//! C, and reasons that go there.

mod announce;
mod link;

pub use announce::{Announce, Callback};
pub use link::{Head, Link, Opened};

use std::ffi::{c_char, CStr};
use std::ptr;

/// Where a function says why it failed: memory of its caller's.
pub struct Why {
    text: *mut c_char,
    bytes: usize,
}

impl Why {
    /// # Safety
    /// So many bytes can be written there for as long as this lives.
    pub unsafe fn at(text: *mut c_char, bytes: usize) -> Self {
        Why { text, bytes }
    }

    /// As much of the reason as there is room for, and a zero.
    pub fn say(&self, reason: &str) {
        if self.bytes == 0 {
            return;
        }
        let length = reason.len().min(self.bytes - 1);
        // SAFETY: there is room for the length and the zero.
        unsafe {
            ptr::copy_nonoverlapping(reason.as_ptr().cast(), self.text, length);
            *self.text.add(length) = 0;
        }
    }

    /// The value for C to keep, or null and the reason.
    pub fn boxed<T>(&self, made: Result<T, String>) -> *mut T {
        match made {
            Ok(value) => Box::into_raw(Box::new(value)),
            Err(reason) => {
                self.say(&reason);
                ptr::null_mut()
            }
        }
    }

    /// Whether it went well; if not, the reason.
    pub fn done(&self, result: Result<(), String>) -> bool {
        !self.explain(result.err().as_deref())
    }

    /// Whether there is a reason, which is written.
    pub fn explain(&self, reason: Option<&str>) -> bool {
        if let Some(reason) = reason {
            self.say(reason);
        }
        reason.is_some()
    }
}

/// # Safety
/// The text ends with zero, and stays as it is for as long as it is used.
pub unsafe fn text<'a>(given: *const c_char) -> Result<&'a str, String> {
    CStr::from_ptr(given)
        .to_str()
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(room: usize, reason: &str) -> Vec<u8> {
        let mut memory = [b'#'; 16];
        unsafe { Why::at(memory.as_mut_ptr().cast(), room) }.say(reason);
        memory.to_vec()
    }

    #[test]
    fn a_reason_is_cut_where_there_is_no_more_room() {
        assert_eq!(&said(16, "no room")[..9], b"no room\0#");
        assert_eq!(&said(8, "no room")[..9], b"no room\0#");
        assert_eq!(&said(4, "no room")[..5], b"no \0#");
        assert_eq!(&said(1, "no room")[..2], b"\0#");
        assert_eq!(&said(0, "no room")[..1], b"#");
    }

    #[test]
    fn what_is_made_goes_to_c_and_what_is_not_leaves_its_reason() {
        let mut memory = [0u8; 16];
        let why = unsafe { Why::at(memory.as_mut_ptr().cast(), memory.len()) };
        let made = why.boxed(Ok(7));
        assert_eq!(*unsafe { Box::from_raw(made) }, 7);
        assert!(why.boxed::<i32>(Err("broken".into())).is_null());
        assert_eq!(&memory[..7], b"broken\0");
    }

    #[test]
    fn a_reason_is_written_only_where_there_is_one() {
        let mut memory = [b'#'; 16];
        let why = unsafe { Why::at(memory.as_mut_ptr().cast(), memory.len()) };
        assert!(why.done(Ok(())) && !why.explain(None));
        assert_eq!(memory[0], b'#');
        assert!(!why.done(Err("late".into())) && why.explain(Some("late")));
        assert_eq!(&memory[..5], b"late\0");
    }

    #[test]
    fn text_that_is_none_is_refused() {
        let read = |given: &[u8]| unsafe { text(given.as_ptr().cast()) }.map(str::to_owned);
        assert_eq!(read(b"\xc2\xb5s\0"), Ok("µs".into()));
        assert!(read(b"\xb5s\0").is_err());
    }
}
