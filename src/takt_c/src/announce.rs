// SPDX-License-Identifier: Apache-2.0
//! How a thread of a middleware tells the other language of a message.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of the other language.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Callback {
    pub call: extern "C" fn(*mut c_void),
    pub context: *mut c_void,
}

// SAFETY: the other side promises that both may be used from any thread while the link lives.
unsafe impl Send for Callback {}

/// Calls back as long as the link lives: a middleware may call afterwards.
pub struct Announce(Mutex<Option<Callback>>);

impl Announce {
    pub fn new(callback: Callback) -> Self {
        Announce(Mutex::new(Some(callback)))
    }

    #[inline]
    pub fn call(&self) {
        if let Some(one) = self.locked().as_ref() {
            (one.call)(one.context);
        }
    }

    /// For the end of the link; returns when no call is under way.
    pub fn end(&self) {
        *self.locked() = None;
    }

    fn locked(&self) -> MutexGuard<'_, Option<Callback>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn count(context: *mut c_void) {
        unsafe { *context.cast::<u32>() += 1 };
    }

    #[test]
    fn nobody_is_called_once_the_link_has_ended() {
        let mut calls = 0_u32;
        let announce = Announce::new(Callback {
            call: count,
            context: (&raw mut calls).cast(),
        });
        announce.call();
        announce.call();
        announce.end();
        announce.call();
        assert_eq!(calls, 2);
    }
}
