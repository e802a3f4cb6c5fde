// SPDX-License-Identifier: Apache-2.0
//! A subscriber and a publisher of iceoryx2, each with an event that wakes who waits for messages.

use std::fmt::Debug;
use std::time::Duration;

use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::service::port_factory::event::PortFactory as Events;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory as Messages;
use takt_c::Head;

type Ipc = ipc::Service;

/// The head of a message in shared memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Header(Head);

// SAFETY: numbers, with no pointer among them, and laid out as C does it.
unsafe impl ZeroCopySend for Header {}

pub struct Settings<'a> {
    pub topic: &'a str,
    pub root: Option<&'a str>,
    pub depth: usize,
    pub payload_bytes: usize,
    pub ends: usize,
}

struct Writer {
    service: Messages<Ipc, [u8], Header>,
    publisher: Publisher<Ipc, [u8], Header>,
    notifier: Notifier<Ipc>,
}

pub struct Link {
    writer: Option<Writer>,
    taken: Option<Sample<Ipc, [u8], Header>>,
    subscriber: Subscriber<Ipc, [u8], Header>,
    listener: Listener<Ipc>,
    service: Messages<Ipc, [u8], Header>,
    node: Node<Ipc>,
    depth: usize,
    ends: usize,
    payload: Vec<u8>,
}

impl Link {
    pub fn open(settings: &Settings) -> Result<Self, String> {
        set_log_level(LogLevel::Error);
        let mut config = Config::global_config().clone();
        if let Some(root) = settings.root {
            let path = Path::new(root.as_bytes()).map_err(said("the folder", root))?;
            config.global.set_root_path(&path);
        }
        let node = NodeBuilder::new()
            .signal_handling_mode(SignalHandlingMode::Disabled) // signals are the probe's
            .config(&config)
            .create::<Ipc>()
            .map_err(said("a node", ""))?;
        let (depth, ends) = (settings.depth, settings.ends);
        let service = messages(&node, settings.topic, depth, ends)?;
        let subscriber = service
            .subscriber_builder()
            .create()
            .map_err(said("a subscriber", ""))?;
        let listener = events(&node, settings.topic, ends)?
            .listener_builder()
            .create()
            .map_err(said("a listener", ""))?;
        Ok(Self {
            writer: None,
            taken: None,
            subscriber,
            listener,
            service,
            node,
            depth,
            ends,
            payload: vec![0; settings.payload_bytes],
        })
    }

    /// Waits until there may be a message; an interruption is the end of it, too.
    pub fn wait(&mut self, at_most: Duration) -> Result<(), String> {
        match self.listener.timed_wait(|_| {}, at_most) {
            Ok(_) | Err(ListenerWaitError::InterruptSignal) => Ok(()),
            Err(error) => Err(format!("wait: {error}")),
        }
    }
}

impl takt_c::Link for Link {
    fn open_writer(&mut self, topic: &str) -> Result<(), String> {
        let service = messages(&self.node, topic, self.depth, self.ends)?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(self.payload.len().max(1))
            .create()
            .map_err(said("a publisher", ""))?;
        let notifier = events(&self.node, topic, self.ends)?
            .notifier_builder()
            .create()
            .map_err(said("a notifier", ""))?;
        self.writer = Some(Writer {
            service,
            publisher,
            notifier,
        });
        Ok(())
    }

    fn close_writer(&mut self) {
        self.writer = None;
    }

    fn writers(&mut self) -> usize {
        self.service.dynamic_config().number_of_publishers()
    }

    fn readers(&mut self) -> usize {
        self.writer.as_ref().map_or(0, |one| {
            one.service.dynamic_config().number_of_subscribers()
        })
    }

    fn send(&mut self, head: Head) -> Result<(), String> {
        match &self.writer {
            Some(writer) => writer.write(Header(head), &self.payload),
            None => nobody_writes(),
        }
    }

    fn reply(&mut self) -> Result<(), String> {
        match (&self.writer, &self.taken) {
            (Some(writer), Some(taken)) => writer.write(*taken.user_header(), taken.payload()),
            _ => nobody_writes(),
        }
    }

    fn take(&mut self) -> Result<Option<Head>, String> {
        self.taken = None; // given back before the next one is asked for
        self.taken = self
            .subscriber
            .receive()
            .map_err(|error| format!("receive: {error}"))?;
        Ok(self.taken.as_ref().map(|one| one.user_header().0))
    }
}

impl Writer {
    /// One copy into shared memory, none out of it.
    fn write(&self, header: Header, payload: &[u8]) -> Result<(), String> {
        let lent = self
            .publisher
            .loan_slice_uninit(payload.len())
            .map_err(said("loan", "memory"))?;
        let mut message = lent.write_from_slice(payload);
        *message.user_header_mut() = header;
        message.send().map_err(said("send", ""))?;
        self.notifier.notify().map_err(said("notify", ""))?;
        Ok(())
    }
}

fn nobody_writes() -> Result<(), String> {
    Err("send: there is no writer".to_owned())
}

fn messages(
    node: &Node<Ipc>,
    topic: &str,
    depth: usize,
    ends: usize,
) -> Result<Messages<Ipc, [u8], Header>, String> {
    let name = ServiceName::new(topic).map_err(said("the topic", topic))?;
    node.service_builder(&name)
        .publish_subscribe::<[u8]>()
        .user_header::<Header>()
        .enable_safe_overflow(true) // the history of a topic: the oldest gives way
        .subscriber_max_buffer_size(depth)
        .max_publishers(ends)
        .max_subscribers(ends)
        .max_nodes(2 * ends + 2)
        .open_or_create()
        .map_err(said("the topic", topic))
}

fn events(node: &Node<Ipc>, topic: &str, ends: usize) -> Result<Events<Ipc>, String> {
    let name = ServiceName::new(topic).map_err(said("the topic", topic))?;
    node.service_builder(&name)
        .event()
        .max_notifiers(ends)
        .max_listeners(ends)
        .max_nodes(2 * ends + 2)
        .open_or_create()
        .map_err(said("the event of the topic", topic))
}

/// What failed, of what, and why.
fn said<E: Debug>(what: &str, of: &str) -> impl FnOnce(E) -> String {
    let name = format!("{what} {of}");
    move |error| format!("{}: {error:?}", name.trim())
}
