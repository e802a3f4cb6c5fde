// SPDX-License-Identifier: Apache-2.0
//! A reader and a writer of RustDDS, and how many other ends each of them has found.

use std::ffi::c_void;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures::Stream;
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{
    DataReaderStatus, DataWriterStatus, DomainParticipant, Duration, QosPolicies, QosPolicyBuilder,
    StatusEvented, Topic, TopicKind,
};
use serde::{Deserialize, Serialize};

/// The type as ROS 2 calls it on the wire.
const TYPE: &str = "takt_interfaces::msg::dds_::Sample_";
const MOST_KEPT: i32 = 1_000_000_000; // as many samples as a measurement may have
const LONGEST_BLOCKED: Duration = Duration::from_millis(100); // as ROS 2 leaves it

/// takt_interfaces/msg/Sample. A clone shares the payload.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Sample {
    pub sequence: u64,
    pub intended_ns: i64,
    pub sent_ns: i64,
    pub last: bool,
    pub payload: Bytes,
}

/// Of all ends of a link.
pub struct Quality {
    pub reliable: bool,
    pub transient_local: bool, // else volatile
    pub depth: u32,            // of KEEP_LAST; 0: KEEP_ALL
}

/// The callback of the other language, called by a thread of RustDDS.
pub struct Callback {
    pub call: extern "C" fn(*mut c_void),
    pub context: *mut c_void,
}

// The other side promises that both may be used from any thread while the link lives.
unsafe impl Send for Callback {}

/// Calls back as long as the link lives: RustDDS may hold a waker of a reader that is gone.
struct Announce(Mutex<Option<Callback>>);

impl Announce {
    fn set(&self, callback: Option<Callback>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    }
}

impl Wake for Announce {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(one) = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
        {
            (one.call)(one.context);
        }
    }
}

pub struct Link {
    participant: DomainParticipant,
    qos: QosPolicies,
    reader: SimpleDataReader<Sample>,
    writer: Option<DataWriter<Sample>>,
    writers: usize,
    readers: usize,
    announce: Arc<Announce>,
    waker: Waker,
    payload: Bytes,
    taken: Sample,
    pub problem: Option<String>,
}

impl Link {
    pub fn open(
        participant: &DomainParticipant,
        topic: &str,
        quality: &Quality,
        payload_bytes: usize,
        callback: Callback,
    ) -> Result<Self, String> {
        let reliability = if quality.reliable {
            Reliability::Reliable {
                max_blocking_time: LONGEST_BLOCKED,
            }
        } else {
            Reliability::BestEffort
        };
        let durability = if quality.transient_local {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        };
        let history = match i32::try_from(quality.depth) {
            Ok(0) => History::KeepAll,
            depth => History::KeepLast {
                depth: depth.unwrap_or(i32::MAX),
            },
        };
        let mut qos = QosPolicyBuilder::new()
            .reliability(reliability)
            .durability(durability)
            .history(history);
        if history == History::KeepAll {
            // Without limits RustDDS keeps 64 samples, whatever the history.
            qos = qos.resource_limits(ResourceLimits {
                max_samples: MOST_KEPT,
                max_instances: 1,
                max_samples_per_instance: MOST_KEPT,
            });
        }
        let qos = qos.build();
        let topic = open_topic(participant, topic, &qos)?;
        let reader = participant
            .create_subscriber(&qos)
            .and_then(|one| one.create_simple_datareader_no_key(&topic, Some(qos.clone())))
            .map_err(|error| format!("a reader: {error}"))?;
        let announce = Arc::new(Announce(Mutex::new(Some(callback))));
        Ok(Self {
            participant: participant.clone(),
            qos,
            reader,
            writer: None,
            writers: 0,
            readers: 0,
            waker: Waker::from(announce.clone()),
            announce,
            payload: Bytes::from(vec![0; payload_bytes]),
            taken: Sample::default(),
            problem: None,
        })
    }

    pub fn open_writer(&mut self, topic: &str) -> Result<(), String> {
        let topic = open_topic(&self.participant, topic, &self.qos)?;
        let writer = self
            .participant
            .create_publisher(&self.qos)
            .and_then(|one| one.create_datawriter_no_key_cdr(&topic, Some(self.qos.clone())))
            .map_err(|error| format!("a writer: {error}"))?;
        self.writer = Some(writer);
        self.readers = 0;
        Ok(())
    }

    pub fn close_writer(&mut self) {
        self.writer = None;
        self.readers = 0;
    }

    pub fn writers(&mut self) -> usize {
        while let Some(status) = self.reader.try_recv_status() {
            if let DataReaderStatus::SubscriptionMatched { current, .. } = status {
                self.writers = usize::try_from(current.count()).unwrap_or(0);
            }
        }
        self.writers
    }

    pub fn readers(&mut self) -> usize {
        while let Some(status) = self
            .writer
            .as_ref()
            .and_then(StatusEvented::try_recv_status)
        {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.readers = usize::try_from(current.count()).unwrap_or(0);
            }
        }
        self.readers
    }

    /// Sends a message with the payload of the settings.
    pub fn send(&mut self, mut message: Sample) -> bool {
        message.payload = self.payload.clone();
        self.write(message)
    }

    /// Sends the message that was taken last back.
    pub fn reply(&mut self) -> bool {
        self.write(self.taken.clone())
    }

    fn write(&mut self, message: Sample) -> bool {
        match self
            .writer
            .as_ref()
            .map(|writer| writer.write(message, None))
        {
            Some(Ok(())) => true,
            Some(Err(error)) => self.failed(format!("write: {error}")),
            None => self.failed("write: there is no writer".to_owned()),
        }
    }

    /// The next message; none: the next one will be announced.
    pub fn take(&mut self) -> Result<Option<&Sample>, ()> {
        let next = {
            let stream = pin!(self.reader.as_async_stream());
            stream.poll_next(&mut Context::from_waker(&self.waker))
        };
        match next {
            Poll::Ready(Some(Ok(change))) => {
                self.taken = change.into_value();
                Ok(Some(&self.taken))
            }
            Poll::Ready(Some(Err(error))) => {
                self.failed(format!("take: {error}"));
                Err(())
            }
            Poll::Ready(None) | Poll::Pending => Ok(None),
        }
    }

    fn failed(&mut self, why: String) -> bool {
        self.problem = Some(why);
        false
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.announce.set(None);
    }
}

fn open_topic(
    participant: &DomainParticipant,
    name: &str,
    qos: &QosPolicies,
) -> Result<Topic, String> {
    participant
        .create_topic(name.to_owned(), TYPE.to_owned(), qos, TopicKind::NoKey)
        .map_err(|error| format!("the topic {name}: {error}"))
}
