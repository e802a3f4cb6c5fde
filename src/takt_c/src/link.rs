// SPDX-License-Identifier: Apache-2.0
//! Topics behind the C interface of `include/takt_link.h`, which says what each function means. A
//! crate implements `Link`, and opens it by settings of its own.

/// The head of a message, to the other language.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Head {
    pub sequence: u64,
    pub intended_ns: i64,
    pub sent_ns: i64,
    pub last: bool,
}

pub trait Link {
    fn open_writer(&mut self, topic: &str) -> Result<(), String>;
    fn close_writer(&mut self);
    fn writers(&mut self) -> usize;
    fn readers(&mut self) -> usize;

    /// Sends a message with the payload of the settings.
    fn send(&mut self, head: Head) -> Result<(), String>;

    /// Sends the message that was taken last back.
    fn reply(&mut self) -> Result<(), String>;

    /// The next message, if there is one.
    fn take(&mut self) -> Result<Option<Head>, String>;
}

/// A link as C has it, which asks later why something failed.
pub struct Opened<L> {
    link: L,
    problem: Option<String>,
}

impl<L> Opened<L> {
    pub fn new(link: L) -> Self {
        Opened {
            link,
            problem: None,
        }
    }

    /// What came of it; nothing where it failed, and the reason is kept.
    #[inline] // sending and taking are measured
    pub fn attempt<T>(&mut self, what: impl FnOnce(&mut L) -> Result<T, String>) -> Option<T> {
        what(&mut self.link)
            .map_err(|reason| self.problem = Some(reason))
            .ok()
    }

    pub fn link(&mut self) -> &mut L {
        &mut self.link
    }

    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

/// The functions of the C interface for the Link of a crate: what is generic has no name in C. They
/// are called alike in all crates, of which a program has one.
#[macro_export]
macro_rules! link_functions {
    ($link:ty) => {
        const _: () = {
            use std::ffi::{c_char, c_int};
            use $crate::{text, Head, Link as _, Opened, Why};

            #[no_mangle]
            unsafe extern "C" fn takt_link_close(link: *mut Opened<$link>) {
                drop(Box::from_raw(link));
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_open_writer(
                link: *mut Opened<$link>,
                topic: *const c_char,
                why: *mut c_char,
                why_bytes: usize,
            ) -> bool {
                let opened = text(topic).and_then(|topic| (*link).link().open_writer(topic));
                Why::at(why, why_bytes).done(opened)
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_close_writer(link: *mut Opened<$link>) {
                (*link).link().close_writer();
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_writers(link: *mut Opened<$link>) -> usize {
                (*link).link().writers()
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_readers(link: *mut Opened<$link>) -> usize {
                (*link).link().readers()
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_send(
                link: *mut Opened<$link>,
                head: *const Head,
            ) -> bool {
                (*link).attempt(|one| one.send(*head)).is_some()
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_reply(link: *mut Opened<$link>) -> bool {
                (*link).attempt(|one| one.reply()).is_some()
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_take(
                link: *mut Opened<$link>,
                head: *mut Head,
            ) -> c_int {
                match (*link).attempt(|one| one.take()) {
                    Some(Some(taken)) => {
                        *head = taken;
                        1
                    }
                    Some(None) => 0,
                    None => -1,
                }
            }

            #[no_mangle]
            unsafe extern "C" fn takt_link_problem(
                link: *const Opened<$link>,
                why: *mut c_char,
                why_bytes: usize,
            ) -> bool {
                Why::at(why, why_bytes).explain((*link).problem())
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{c_char, c_int, c_void, CStr};

    /// Takes what is sent, as long as it has a writer.
    #[derive(Default)]
    struct Loop {
        topic: Option<String>,
        waiting: Option<Head>,
        taken: Option<Head>,
    }

    impl Link for Loop {
        fn open_writer(&mut self, topic: &str) -> Result<(), String> {
            if topic.is_empty() {
                return Err("no name".to_owned());
            }
            self.topic = Some(topic.to_owned());
            Ok(())
        }

        fn close_writer(&mut self) {
            self.topic = None;
        }

        fn writers(&mut self) -> usize {
            2
        }

        fn readers(&mut self) -> usize {
            self.topic.as_ref().map_or(0, String::len)
        }

        fn send(&mut self, head: Head) -> Result<(), String> {
            self.topic.as_ref().ok_or("there is no writer")?;
            self.waiting = Some(head);
            Ok(())
        }

        fn reply(&mut self) -> Result<(), String> {
            let taken = self.taken.ok_or("nothing was taken")?;
            self.send(taken)
        }

        fn take(&mut self) -> Result<Option<Head>, String> {
            if self.waiting.is_some_and(|one| one.last) {
                return Err("the last one".to_owned());
            }
            self.taken = self.waiting.take();
            Ok(self.taken)
        }
    }

    crate::link_functions!(Loop);

    extern "C" {
        fn takt_link_close(link: *mut c_void);
        fn takt_link_open_writer(
            link: *mut c_void,
            topic: *const c_char,
            why: *mut c_char,
            why_bytes: usize,
        ) -> bool;
        fn takt_link_close_writer(link: *mut c_void);
        fn takt_link_writers(link: *mut c_void) -> usize;
        fn takt_link_readers(link: *mut c_void) -> usize;
        fn takt_link_send(link: *mut c_void, head: *const Head) -> bool;
        fn takt_link_reply(link: *mut c_void) -> bool;
        fn takt_link_take(link: *mut c_void, head: *mut Head) -> c_int;
        fn takt_link_problem(link: *const c_void, why: *mut c_char, why_bytes: usize) -> bool;
    }

    fn opened() -> *mut c_void {
        Box::into_raw(Box::new(Opened::new(Loop::default()))).cast()
    }

    /// What a function says where it fails.
    fn said(act: impl FnOnce(*mut c_char, usize) -> bool) -> (bool, String) {
        let mut why = [0; 32];
        let result = act(why.as_mut_ptr(), why.len());
        let text = unsafe { CStr::from_ptr(why.as_ptr()) };
        (result, text.to_str().unwrap().to_owned())
    }

    fn open_writer(link: *mut c_void, topic: &CStr) -> (bool, String) {
        said(|why, room| unsafe { takt_link_open_writer(link, topic.as_ptr(), why, room) })
    }

    #[test]
    fn a_writer_that_cannot_be_opened_says_why() {
        unsafe {
            let link = opened();
            assert_eq!(open_writer(link, c""), (false, "no name".to_owned()));
            assert!(!open_writer(link, c"\xb5s").0);
            assert_eq!((takt_link_writers(link), takt_link_readers(link)), (2, 0));
            assert_eq!(open_writer(link, c"there"), (true, String::new()));
            assert_eq!((takt_link_writers(link), takt_link_readers(link)), (2, 5));
            takt_link_close_writer(link);
            assert_eq!(takt_link_readers(link), 0);
            takt_link_close(link);
        }
    }

    #[test]
    fn a_message_is_there_or_not_or_taking_failed() {
        let message = |sequence, last| Head {
            sequence,
            intended_ns: -1,
            sent_ns: 2,
            last,
        };
        unsafe {
            let link = opened();
            let mut head = Head::default();
            assert!(open_writer(link, c"there").0);
            assert_eq!(takt_link_take(link, &mut head), 0);
            assert_eq!(head, Head::default());
            assert!(takt_link_send(link, &message(7, false)));
            assert_eq!(takt_link_take(link, &mut head), 1);
            assert_eq!(head, message(7, false));
            assert!(takt_link_reply(link));
            assert_eq!(takt_link_take(link, &mut head), 1);
            assert!(takt_link_send(link, &message(8, true)));
            assert_eq!(takt_link_take(link, &mut head), -1);
            assert_eq!(head, message(7, false));
            takt_link_close(link);
        }
    }

    #[test]
    fn why_something_failed_the_last_time_is_kept() {
        unsafe {
            let link = opened();
            let problem = || said(|why, room| takt_link_problem(link, why, room));
            assert_eq!(problem(), (false, String::new()));
            assert!(!takt_link_reply(link));
            assert_eq!(problem(), (true, "nothing was taken".to_owned()));
            assert!(!takt_link_send(link, &Head::default()));
            assert_eq!(problem(), (true, "there is no writer".to_owned()));
            assert!(open_writer(link, c"there").0);
            assert!(takt_link_send(link, &Head::default()));
            assert_eq!(problem(), (true, "there is no writer".to_owned()));
            takt_link_close(link);
        }
    }
}
