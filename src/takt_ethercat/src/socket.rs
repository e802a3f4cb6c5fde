// SPDX-License-Identifier: Apache-2.0
//! Frames of EtherCAT on one network interface (AF_PACKET).

use std::ffi::CString;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::clock::now_ns;
use crate::segment::ETHERTYPE;

/// The longest frame without its checksum.
pub const LONGEST_FRAME: usize = 1514;

pub struct Socket {
    socket: OwnedFd,
}

/// Why an interface cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Missing,
    Down,
    NoCarrier,
    NotEthernet,
    Usable,
}

impl Socket {
    /// Opens it on an interface; PermissionDenied without CAP_NET_RAW.
    pub fn open(interface: &str) -> Result<Self> {
        let protocol = i32::from(ETHERTYPE.to_be());
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: a system call without pointers; the descriptor is ours from here on.
        let socket = unsafe {
            let opened = check(libc::socket(libc::AF_PACKET, kind, protocol))?;
            OwnedFd::from_raw_fd(opened)
        };
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: ETHERTYPE.to_be(),
            sll_ifindex: index(interface)?,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        // SAFETY: the address lives for the call, and its length is its own.
        check(unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        })?;
        Ok(Self { socket })
    }

    pub fn send(&self, frame: &[u8]) -> Result<()> {
        // SAFETY: the frame lives for the call, and its length is its own.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
            )
        };
        match sent {
            -1 => Err(Error::last_os_error()),
            bytes if bytes as usize == frame.len() => Ok(()),
            _ => Err(ErrorKind::WriteZero.into()),
        }
    }

    /// The next frame, into `frame`; none until `deadline_ns`, or after a signal.
    pub fn receive(&self, frame: &mut [u8], deadline_ns: u64) -> Result<Option<usize>> {
        loop {
            let descriptor = self.socket.as_raw_fd();
            // SAFETY: the frame lives for the call, and its length is its own.
            let taken =
                unsafe { libc::recv(descriptor, frame.as_mut_ptr().cast(), frame.len(), 0) };
            if taken >= 0 {
                return Ok(Some(taken as usize));
            }
            match Error::last_os_error().kind() {
                ErrorKind::WouldBlock => {}
                ErrorKind::Interrupted => return Ok(None),
                _ => return Err(Error::last_os_error()),
            }
            let now = now_ns();
            if now >= deadline_ns {
                return Ok(None);
            }
            let left = (deadline_ns - now).min(1_000_000_000);
            let wait = libc::timespec {
                tv_sec: (left / 1_000_000_000) as i64,
                tv_nsec: (left % 1_000_000_000) as i64,
            };
            let mut event = libc::pollfd {
                fd: descriptor,
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one event, which lives for the call.
            if unsafe { libc::ppoll(&mut event, 1, &wait, std::ptr::null()) } < 0 {
                return match Error::last_os_error() {
                    error if error.kind() == ErrorKind::Interrupted => Ok(None),
                    error => Err(error),
                };
            }
        }
    }
}

/// Looks at an interface, without opening anything on it.
pub fn look_at(interface: &str) -> Interface {
    if interface.len() >= libc::IFNAMSIZ || index(interface).is_err() {
        return Interface::Missing;
    }
    // SAFETY: the request is plain memory with the name in it; the descriptor is closed when dropped.
    unsafe {
        let Ok(any) = check(libc::socket(
            libc::AF_INET,
            libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
            0,
        )) else {
            return Interface::Usable; // opening it will say why not
        };
        let any = OwnedFd::from_raw_fd(any);
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(interface.bytes()) {
            *place = byte as libc::c_char;
        }
        if libc::ioctl(any.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request) < 0 {
            return Interface::Missing;
        }
        let flags = i32::from(request.ifr_ifru.ifru_flags);
        if flags & libc::IFF_UP == 0 {
            return Interface::Down;
        }
        if flags & libc::IFF_LOOPBACK != 0 {
            return Interface::NotEthernet;
        }
        if flags & libc::IFF_RUNNING == 0 {
            return Interface::NoCarrier;
        }
    }
    Interface::Usable
}

fn index(interface: &str) -> Result<i32> {
    let name = CString::new(interface).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    // SAFETY: a string that ends with zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        found => Ok(found as i32),
    }
}

fn check(result: i32) -> Result<i32> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}
