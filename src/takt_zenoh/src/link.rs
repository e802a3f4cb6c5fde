// SPDX-License-Identifier: Apache-2.0
//! A subscriber and a publisher of Zenoh, each with a token that tells the other end of it.

use std::collections::{HashSet, VecDeque};
use std::fmt::Display;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_c::{Announce, Callback, Head};
use zenoh::bytes::ZBytes;
use zenoh::key_expr::keyexpr;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::SampleKind;
use zenoh::{Config, Session, Wait};

const HEAD_BYTES: usize = 25;
/// Of a connection that nobody awaits yet; by default Zenoh looks again after seconds.
const RETRY: &str = "{ period_init_ms: 20, period_max_ms: 100, period_increase_factor: 1.5 }";

fn encoded(head: Head, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
    bytes.extend_from_slice(&head.sequence.to_le_bytes());
    bytes.extend_from_slice(&head.intended_ns.to_le_bytes());
    bytes.extend_from_slice(&head.sent_ns.to_le_bytes());
    bytes.push(u8::from(head.last));
    bytes.extend_from_slice(payload);
    bytes
}

/// The head of what begins so; where the payload lies in several parts, it is left there.
fn decoded(message: &ZBytes) -> Option<Head> {
    let mut head = [0; HEAD_BYTES];
    message.reader().read_exact(&mut head).ok()?;
    let number = |from: usize| head[from..from + 8].try_into().ok();
    Some(Head {
        sequence: u64::from_le_bytes(number(0)?),
        intended_ns: i64::from_le_bytes(number(8)?),
        sent_ns: i64::from_le_bytes(number(16)?),
        last: head[24] != 0,
    })
}

pub struct Settings<'a> {
    pub topic: &'a str,
    pub endpoint: &'a str,
    pub listens: bool,
    pub depth: usize,
    pub payload_bytes: usize,
}

/// Messages that wait for their taker; the oldest gives way.
struct History {
    messages: Mutex<VecDeque<ZBytes>>,
    depth: usize,
    announce: Announce,
}

impl History {
    fn add(&self, message: ZBytes) {
        let mut messages = locked(&self.messages);
        if messages.len() == self.depth {
            messages.pop_front();
        }
        messages.push_back(message);
        drop(messages); // who is woken finds it free
        self.announce.call();
    }
}

/// Ends of one kind on a topic, by the tokens that they have now.
struct Ends {
    there: Arc<Mutex<HashSet<String>>>,
    _listener: Subscriber<()>,
}

impl Ends {
    fn of(session: &Session, kind: &str, topic: &str) -> Result<Self, String> {
        let there = Arc::new(Mutex::new(HashSet::new()));
        let announced = there.clone();
        let listener = session
            .liveliness()
            .declare_subscriber(token_key(kind, topic, "*"))
            .history(true)
            .callback(move |sample| {
                let name = sample.key_expr().to_string();
                match sample.kind() {
                    SampleKind::Put => locked(&announced).insert(name),
                    SampleKind::Delete => locked(&announced).remove(&name),
                };
            })
            .wait()
            .map_err(said("who is there"))?;
        Ok(Self {
            there,
            _listener: listener,
        })
    }

    fn count(&self) -> usize {
        locked(&self.there).len()
    }
}

struct Writer {
    readers: Ends,
    publisher: Publisher<'static>,
    _token: LivelinessToken,
}

pub struct Link {
    // In the order in which they end, the session last.
    writer: Option<Writer>,
    _token: LivelinessToken,
    _subscriber: Subscriber<()>,
    writers: Ends,
    history: Arc<History>,
    payload: Vec<u8>,
    taken: ZBytes,
    session: Session,
}

impl Link {
    pub fn open(settings: &Settings, callback: Callback) -> Result<Self, String> {
        let session = zenoh::open(configured(settings)?)
            .wait()
            .map_err(said("a session"))?;
        let history = Arc::new(History {
            messages: Mutex::default(),
            depth: settings.depth,
            announce: Announce::new(callback),
        });
        let filled = history.clone();
        let topic = named(settings.topic)?;
        let writers = Ends::of(&session, "writer", topic)?;
        let subscriber = session
            .declare_subscriber(topic.to_owned())
            .callback(move |sample| filled.add(sample.payload().clone()))
            .wait()
            .map_err(said("a subscriber"))?;
        // After it: who sees the token may count on the subscriber.
        let token = token(&session, "reader", topic)?;
        Ok(Self {
            writer: None,
            _token: token,
            _subscriber: subscriber,
            writers,
            history,
            payload: vec![0; settings.payload_bytes],
            taken: ZBytes::new(),
            session,
        })
    }

    fn write(&self, message: ZBytes) -> Result<(), String> {
        match &self.writer {
            Some(writer) => writer.publisher.put(message).wait().map_err(said("put")),
            None => Err("put: there is no writer".to_owned()),
        }
    }
}

impl takt_c::Link for Link {
    fn open_writer(&mut self, topic: &str) -> Result<(), String> {
        let topic = named(topic)?;
        let readers = Ends::of(&self.session, "reader", topic)?;
        let publisher = self
            .session
            .declare_publisher(topic.to_owned())
            .congestion_control(CongestionControl::Block)
            .wait()
            .map_err(said("a publisher"))?;
        let token = token(&self.session, "writer", topic)?;
        self.writer = Some(Writer {
            readers,
            publisher,
            _token: token,
        });
        Ok(())
    }

    fn close_writer(&mut self) {
        self.writer = None;
    }

    fn writers(&mut self) -> usize {
        self.writers.count()
    }

    fn readers(&mut self) -> usize {
        self.writer.as_ref().map_or(0, |one| one.readers.count())
    }

    fn send(&mut self, head: Head) -> Result<(), String> {
        self.write(encoded(head, &self.payload).into())
    }

    fn reply(&mut self) -> Result<(), String> {
        self.write(self.taken.clone())
    }

    fn take(&mut self) -> Result<Option<Head>, String> {
        let Some(message) = locked(&self.history.messages).pop_front() else {
            return Ok(None);
        };
        self.taken = message;
        decoded(&self.taken).map(Some).ok_or_else(|| {
            let length = self.taken.len();
            format!("take: {length} bytes are no message of a probe")
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.history.announce.end();
    }
}

/// A peer that knows one address, and nobody else.
fn configured(settings: &Settings) -> Result<Config, String> {
    let (known, none) = (format!("[\"{}\"]", settings.endpoint), "[]".to_owned());
    let (listen, connect) = if settings.listens {
        (known, none)
    } else {
        (none, known)
    };
    let mut config = Config::default();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        ("open/return_conditions/connect_scouted", "false"),
        ("listen/endpoints", listen.as_str()),
        ("connect/endpoints", connect.as_str()),
        ("connect/retry", RETRY),
    ] {
        config.insert_json5(key, value).map_err(said(key))?;
    }
    Ok(config)
}

fn token(session: &Session, kind: &str, topic: &str) -> Result<LivelinessToken, String> {
    session
        .liveliness()
        .declare_token(token_key(kind, topic, &session.zid().to_string()))
        .wait()
        .map_err(said("a token"))
}

fn token_key(kind: &str, topic: &str, whose: &str) -> String {
    format!("takt_ends/{kind}/{topic}/{whose}")
}

/// A topic as a key expression, without the slash that names of ROS may begin with.
fn named(topic: &str) -> Result<&str, String> {
    let name = topic.strip_prefix('/').unwrap_or(topic);
    let key = keyexpr::new(name).map_err(said("the topic"))?;
    if key.is_wild() {
        return Err(format!("the topic {name} names several"));
    }
    Ok(name)
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What failed, and why.
fn said<E: Display>(what: &str) -> impl FnOnce(E) -> String {
    let name = what.to_owned();
    move |error| format!("{name}: {}", without_places(&error.to_string()))
}

/// Errors of Zenoh name the lines of its source that made them: " at /a/file.rs:12."
fn without_places(error: &str) -> String {
    let mut parts = error.split(" at /");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(".rs:") {
            Some((_, rest)) => {
                text.push_str(rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
            }
            None => text.extend([" at /", part]),
        }
    }
    text
}
