// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/roles.hpp"

#include <algorithm>

#include "loop.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// For what receive() has just returned.
os::TimePoint arrival_of(const std::optional<Message>& message) noexcept {
  return message && message->received ? *message->received : os::now();
}

/// Waits for the reply to `message`; replies to earlier ones are counted and passed over. Returns
/// `never` when it is lost, nothing when a stop or a failure left it undecided.
std::optional<os::TimePoint> await_reply(const Bench& bench, Link& link, const Message& message,
                                         SequenceLedger& ledger, Outcome& outcome) noexcept {
  const auto deadline = message.sent + bench.options.lost_after;
  while (true) {
    const auto reply = link.receive(deadline);
    const auto received = arrival_of(reply);
    if (!reply) {
      return received >= deadline ? std::optional{never} : std::nullopt;
    }
    if (reply->last || reply->sequence > message.sequence) {
      continue;  // of an earlier run on the same topic
    }
    if (ledger.has(reply->sequence)) {
      ++outcome.duplicated;
    } else if (reply->sequence < message.sequence) {
      ++outcome.late;
    } else if (received > deadline) {
      ++outcome.late;
      return never;
    } else {
      ledger.enter(reply->sequence);
      return received;
    }
  }
}

/// Tells the pong to end and waits for its agreement, a few times: the message may get lost.
void close_exchange(const Bench& bench, Link& link, std::uint64_t sent) noexcept {
  constexpr int attempts = 3;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (!link.send({.sequence = sent, .sent = os::now(), .last = true})) {
      return;
    }
    const auto deadline = os::now() + 100ms;
    while (os::now() < deadline && !bench.stop.requested()) {
      const auto reply = link.receive(deadline);
      if (reply && reply->last) {
        return;
      }
    }
  }
}

/// What was taken is no measurement of a transport that did not carry it.
std::optional<os::NotGranted> fault_of(const Link& link, const Outcome& outcome) {
  auto problem = link.problem();
  return problem || !outcome.finished || outcome.received == 0 ? problem : link.detour();
}

}  // namespace

Outcome wakeup(const Bench& bench) {
  Outcome outcome;
  Loop loop{outcome};
  Pacer pacer = make_pacer(bench.options);
  for (std::uint64_t k = 0; k < bench.options.count; ++k) {
    pacer.wait(k, bench.stop);
    const auto woken = os::now();
    if (bench.stop.requested()) {
      break;
    }
    const auto intended = pacer.intended(k);
    record(bench, {.sequence = k, .intended = intended, .sent = intended}, woken);
    outcome.sent = outcome.received = k + 1;
  }
  outcome.finished = outcome.sent == bench.options.count;
  loop.end(pacer);
  return outcome;
}

Outcome ping(const Bench& bench, Link& link) {
  Outcome outcome;
  SequenceLedger ledger{bench.options.count};
  Loop loop{outcome};
  Pacer pacer = make_pacer(bench.options);  // of handing over
  const auto lead = link.lead();
  const bool skips = bench.options.late == Late::next_cycle;
  std::uint64_t under_way = 0;
  std::uint64_t k = 0;  // the cycle, which is also the sequence
  for (; k < bench.options.count; ++k) {
    if (skips && (k = pacer.upcoming(k)) >= bench.options.count) {
      break;
    }
    pacer.wait(k, bench.stop);
    if (bench.stop.requested()) {
      break;
    }
    const auto intended = pacer.intended(k) + lead;
    const Message message{
        .sequence = k, .intended = intended, .sent = std::max(intended, os::now())};
    under_way = k + 1;
    if (!link.send(message)) {
      break;
    }
    const auto received = await_reply(bench, link, message, ledger, outcome);
    if (!received) {
      break;
    }
    record(bench, message, *received);
    outcome.lost += *received == never ? 1 : 0;
    ++outcome.sent;
  }
  outcome.finished = k >= bench.options.count;
  outcome.received = ledger.received();
  loop.end(pacer, fault_of(link, outcome));
  close_exchange(bench, link, under_way);
  return outcome;
}

Outcome pong(const Bench& bench, Link& link) {
  Outcome outcome;
  Loop loop{outcome};
  while (!outcome.finished && !bench.stop.requested()) {
    const auto message = link.receive(os::TimePoint::max());
    if (!message) {
      if (link.problem()) {
        break;
      }
      continue;
    }
    if (!link.reply()) {
      break;
    }
    outcome.finished = message->last;
    outcome.received += message->last ? 0 : 1;
    outcome.sent = outcome.received;
  }
  loop.end(link.problem());
  return outcome;
}

Outcome publish(const Bench& bench, Link& link) {
  Outcome outcome;
  Loop loop{outcome};
  Pacer pacer = make_pacer(bench.options);
  for (std::uint64_t k = 0; k < bench.options.count; ++k) {
    pacer.wait(k, bench.stop);
    if (bench.stop.requested() ||
        !link.send({.sequence = k, .intended = pacer.intended(k), .sent = os::now()})) {
      break;
    }
    outcome.sent = k + 1;
  }
  outcome.finished = outcome.sent == bench.options.count;
  loop.end(pacer, link.problem());
  // The last message has as much time as all others before one comes beside it.
  const auto next = std::min<os::TimePoint>(pacer.intended(outcome.sent), os::now() + 1s);
  static_cast<void>(bench.stop.wait_until(next));
  // Subscribers leave when they have the closing message: said again until they are gone, because
  // it may get lost, and because leaving first would take unsent messages along.
  const auto deadline =
      os::now() + std::max<std::chrono::nanoseconds>(bench.options.lost_after, 1s);
  do {
    if (!link.send({.sequence = outcome.sent, .sent = os::now(), .last = true})) {
      break;
    }
  } while (!bench.stop.wait_until(os::now() + 20ms) && link.peers() > 0 && os::now() < deadline);
  return outcome;
}

Outcome subscribe(const Bench& bench, Link& link) {
  Outcome outcome;
  SequenceLedger ledger{bench.options.count};
  Loop loop{outcome};
  std::uint64_t sent = 0;  // known from the closing message
  while (!outcome.finished && !bench.stop.requested()) {
    const auto message = link.receive(os::TimePoint::max());
    const auto received = arrival_of(message);
    if (!message) {
      if (link.problem()) {
        break;
      }
    } else if (message->last) {
      sent = message->sequence;
      outcome.finished = true;
    } else if (ledger.enter(message->sequence)) {
      record(bench, *message, received);
    }
  }
  outcome.received = ledger.received();
  outcome.duplicated = ledger.duplicated();
  outcome.out_of_order = ledger.out_of_order();
  outcome.lost = ledger.lost(sent);
  outcome.sent = outcome.received + outcome.lost;
  outcome.addresses = link.addresses();
  loop.end(fault_of(link, outcome));
  link.leave();
  return outcome;
}

}  // namespace takt::probe
