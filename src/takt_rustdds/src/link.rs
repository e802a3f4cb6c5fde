// SPDX-License-Identifier: Apache-2.0
//! A reader and a writer of RustDDS, and how many other ends each of them has found.

use std::pin::pin;
use std::sync::Arc;
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
use takt_c::{Announce, Callback, Head};

/// The type as ROS 2 calls it on the wire.
const TYPE: &str = "takt_interfaces::msg::dds_::Sample_";
const MOST_KEPT: i32 = 1_000_000_000; // as many samples as a measurement may have
const LONGEST_BLOCKED: Duration = Duration::from_millis(100); // as ROS 2 leaves it

/// takt_interfaces/msg/Sample. A clone shares the payload.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Sample {
    sequence: u64,
    intended_ns: i64,
    sent_ns: i64,
    last: bool,
    payload: Bytes,
}

/// Of all ends of a link.
pub struct Quality {
    pub reliable: bool,
    pub transient_local: bool, // else volatile
    pub depth: u32,            // of KEEP_LAST; 0: KEEP_ALL
}

/// RustDDS may hold a waker of a reader that is gone.
struct Woken(Announce);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.call();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.call();
    }
}

pub struct Link {
    participant: DomainParticipant,
    qos: QosPolicies,
    reader: SimpleDataReader<Sample>,
    writer: Option<DataWriter<Sample>>,
    writers: usize,
    readers: usize,
    woken: Arc<Woken>,
    waker: Waker,
    payload: Bytes,
    taken: Sample,
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
        let woken = Arc::new(Woken(Announce::new(callback)));
        Ok(Self {
            participant: participant.clone(),
            qos,
            reader,
            writer: None,
            writers: 0,
            readers: 0,
            waker: Waker::from(woken.clone()),
            woken,
            payload: Bytes::from(vec![0; payload_bytes]),
            taken: Sample::default(),
        })
    }

    fn write(&self, message: Sample) -> Result<(), String> {
        match &self.writer {
            Some(writer) => writer
                .write(message, None)
                .map_err(|error| format!("write: {error}")),
            None => Err("write: there is no writer".to_owned()),
        }
    }
}

impl takt_c::Link for Link {
    fn open_writer(&mut self, topic: &str) -> Result<(), String> {
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

    fn close_writer(&mut self) {
        self.writer = None;
        self.readers = 0;
    }

    fn writers(&mut self) -> usize {
        while let Some(status) = self.reader.try_recv_status() {
            if let DataReaderStatus::SubscriptionMatched { current, .. } = status {
                self.writers = usize::try_from(current.count()).unwrap_or(0);
            }
        }
        self.writers
    }

    fn readers(&mut self) -> usize {
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

    fn send(&mut self, head: Head) -> Result<(), String> {
        self.write(Sample {
            sequence: head.sequence,
            intended_ns: head.intended_ns,
            sent_ns: head.sent_ns,
            last: head.last,
            payload: self.payload.clone(),
        })
    }

    fn reply(&mut self) -> Result<(), String> {
        self.write(self.taken.clone())
    }

    /// Where there is none, the next one will be announced.
    fn take(&mut self) -> Result<Option<Head>, String> {
        let next = {
            let stream = pin!(self.reader.as_async_stream());
            stream.poll_next(&mut Context::from_waker(&self.waker))
        };
        let Poll::Ready(Some(change)) = next else {
            return Ok(None);
        };
        self.taken = change
            .map_err(|error| format!("take: {error}"))?
            .into_value();
        Ok(Some(Head {
            sequence: self.taken.sequence,
            intended_ns: self.taken.intended_ns,
            sent_ns: self.taken.sent_ns,
            last: self.taken.last,
        }))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.woken.0.end();
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
