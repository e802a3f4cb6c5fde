// SPDX-License-Identifier: Apache-2.0
//
// From command line to exit code, the same for every stack: options, real-time set-up, sample file,
// links, loops, result document.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "takt/os/idle.hpp"
#include "takt/os/memory.hpp"
#include "takt/probe/bus_loop.hpp"
#include "takt/probe/conditions.hpp"
#include "takt/probe/dds_threads.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"
#include "takt/probe/result.hpp"
#include "takt/probe/roles.hpp"
#include "takt/probe/supply_loop.hpp"
#include "takt/probe/timer_loops.hpp"
#include "takt/probe/traffic_class.hpp"
#include "takt/probe/watchdog.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr int exit_done = 0;
constexpr int exit_failed = 1;
constexpr int exit_wrong_use = 2;

/// How long the active side (ping, publisher) waits for the others, which were started before it:
/// more than 10 s, after which RustDDS announces itself again.
constexpr std::chrono::seconds connect_patience{15};

bool active(Role role) {
  return role == Role::ping || role == Role::publisher;
}

void add_notes(os::SettingsNotGranted& notes, const os::SettingsNotGranted& more) {
  for (const os::NotGranted& note : more) {
    if (std::ranges::find(notes, note) == notes.end()) {
      notes.push_back(note);
    }
  }
}

/// A duration as a person would write it.
std::string in_words(std::chrono::nanoseconds duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g s", std::chrono::duration<double>{duration}.count());
  return text;
}

std::optional<os::NotGranted> no_thread(const std::exception& error) {
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  if (system == nullptr || system->code() != std::errc::resource_unavailable_try_again) {
    return {};
  }
  return os::NotGranted{.what = "the limit on processes and threads is reached",
                        .why = error.what(),
                        .fix = more_processes};
}

os::NotGranted unexpected(const std::exception& error) {
  if (auto reached = no_thread(error)) {
    return *std::move(reached);
  }
  return {.what = "the probe met an error that it does not know",
          .why = error.what(),
          .fix = "report it, with the command line"};
}

/// What is done to a middleware once its ends have met, whatever it is.
struct Middleware {
  explicit Middleware(const Options& options) : threads{options}, traffic{options} {}

  DdsThreads threads;
  TrafficClass traffic;
};

Outcome run_role(Role role, const Bench& bench, Link& link, Middleware& middleware) {
  if (!link.connect(active(role) ? os::now() + connect_patience : os::TimePoint::max())) {
    return {};
  }
  middleware.threads.enforce();
  middleware.traffic.enforce();
  switch (role) {
    case Role::ping:
      return ping(bench, link);
    case Role::pong:
      return pong(bench, link);
    case Role::publisher:
      return publish(bench, link);
    default:
      return subscribe(bench, link);
  }
}

/// One measurement of this process, after its options are known.
class Measurement {
 public:
  Measurement(const Options& options, Stack& stack, os::StopFlag& stop)
      : options_{options}, stack_{stack}, stop_{stop} {}

  /// Sets up, measures and fills in the result. Throws Failure. `finish` is called as soon as the
  /// result stands, before links are closed: closing a middleware may take long or hang.
  template <class Finish>
  void run(Result& result, const Finish& finish) {
    add_notes(result.notes, enter_role(options_, options_.role));
    std::optional<os::NoDeepIdle> no_deep_idle;
    if (options_.real_time()) {
      add_notes(result.notes, os::lock_memory(os::Stacks::whole));
      result.memory_locked = os::memory_locked();  // before the sample file locks pages of its own
      no_deep_idle.emplace();
      if (const auto& refused_setting = no_deep_idle->refused_setting()) {
        add_notes(result.notes, {*refused_setting});
      }
      result.no_deep_idle = no_deep_idle->held();
    }
    if (!options_.samples.empty()) {
      samples_.emplace(options_.samples, options_.count);
      if (options_.real_time() && !samples_->locked()) {
        add_notes(result.notes, {{.what = "sample file locked in memory",
                                  .why = "mlock was refused",
                                  .fix = "raise the limit for locked memory (ulimit -l)"}});
      }
    }
    const Bench bench{options_, stop_, samples_ ? &*samples_ : nullptr};
    if (options_.kind == Kind::wakeup) {
      result.outcome = wakeup(bench);
      finish();
    } else if (options_.kind == Kind::supply) {
      std::optional<SampleFile> gaps;
      if (!options_.gaps.empty()) {
        gaps.emplace(options_.gaps, options_.count * gaps_of_a_window(options_.period));
      }
      result.outcome = supply(bench, gaps ? &*gaps : nullptr);
      finish();
    } else if (is_timer(options_.kind)) {
      const auto timer = stack_.open_timer(options_, stop_);
      result.outcome = options_.kind == Kind::timer_oneshot ? timer_oneshot(bench, *timer)
                                                            : timer_cyclic(bench, *timer);
      finish();
    } else if (options_.kind == Kind::ethercat) {
      const auto bus = stack_.open_bus(options_, stop_);
      if (bus) {
        result.outcome = bus_cycles(bench, *bus);
      }
      finish();
    } else if (options_.role == Role::both) {
      run_both(result, bench, finish);
    } else {
      Middleware middleware{options_};
      const auto link = stack_.open(options_, options_.role, stop_);
      result.outcome = run_role(options_.role, bench, *link, middleware);
      describe(result, middleware);
      finish();
    }
  }

  std::uint64_t dropped() const { return samples_ ? samples_->dropped() : 0; }

 private:
  static void describe(Result& result, const Middleware& middleware) {
    if (result.outcome.finished) {  // otherwise it may have been stopped before they had met
      result.dds_threads = middleware.threads.found(result.outcome.granted.threads);
      add_notes(result.notes, middleware.threads.not_granted(result.dds_threads));
      result.sockets = middleware.traffic.found();
      add_notes(result.notes, middleware.traffic.not_granted(result.sockets));
    }
  }

  template <class Finish>
  void run_both(Result& result, const Bench& bench, const Finish& finish) {
    const bool pingpong = options_.kind == Kind::pingpong;
    const Role here = pingpong ? Role::ping : Role::publisher;
    const Role there = pingpong ? Role::pong : Role::subscriber;
    Middleware middleware{options_};
    const auto link_there = stack_.open(options_, there, stop_);
    const auto link_here = stack_.open(options_, here, stop_);
    // Only the subscriber or the ping records.
    const Bench silent{options_, stop_, nullptr};
    Outcome outcome_there;
    os::ThreadSettings settings = settings_of(options_, there);
    settings.name = "takt." + std::string{name_of(there)};
    os::Thread thread{settings, [&] {
                        try {
                          enter_role(options_, there);
                          outcome_there =
                              run_role(there, pingpong ? silent : bench, *link_there, middleware);
                        } catch (const Failure& failure) {
                          outcome_there.problem = failure.reason();
                          stop_.request();
                        } catch (const std::exception& error) {
                          outcome_there.problem = unexpected(error);
                          stop_.request();
                        }
                      }};
    add_notes(result.notes, thread.not_granted());
    Outcome outcome_here;
    try {
      add_notes(result.notes, enter_role(options_, here));
      outcome_here = run_role(here, pingpong ? bench : silent, *link_here, middleware);
    } catch (...) {
      stop_.request();
      thread.join();
      throw;
    }
    thread.join();
    result.outcome = merge(outcome_here, outcome_there);
    describe(result, middleware);
    finish();
  }

  /// The document of a process with both roles is that of the one that records.
  Outcome merge(const Outcome& here, const Outcome& there) const {
    Outcome both = options_.kind == Kind::pingpong ? here : there;
    if (options_.kind == Kind::pubsub) {
      both.overruns = here.overruns;
      both.rests = here.rests;
      both.finished = here.finished && there.finished;
      if (both.finished) {  // otherwise messages may be under way, which are neither sent nor lost
        both.sent = here.sent;
        both.lost = here.sent - there.received;
      }
    }
    both.problem = here.problem ? here.problem : there.problem;
    return both;
  }

  const Options& options_;
  Stack& stack_;
  os::StopFlag& stop_;
  std::optional<SampleFile> samples_;
};

/// How it ended, in the words of the contract.
void judge(Result& result, const Options& options, bool time_limit_reached) {
  const Outcome& outcome = result.outcome;
  if (outcome.rests > 0 && options.wait == Wait::idle) {  // busy waiting always rests
    result.notes.push_back({.what = "starting a sample each " + in_words(options.period),
                            .why = "the loop stayed behind its start times and rested " +
                                   std::to_string(outcome.rests) +
                                   " times, 10 ms each, to leave the CPU to others",
                            .fix = "choose a longer --period-ns"});
  }
  if (outcome.problem) {
    result.error = outcome.problem;
  } else if (time_limit_reached && !outcome.finished) {
    result.error = {.what = "the time limit of " + in_words(options.time_limit) + " was reached",
                    .why = std::to_string(outcome.sent) + " of " + std::to_string(options.count) +
                           " samples were taken until then",
                    .fix =
                        "look for what holds it up: does the other side run, is the network up? "
                        "(a probe started by hand: --time-limit-ns)"};
  }
  result.status = result.error ? "failed" : outcome.finished ? "complete" : "stopped";
}

void complain(const Stack& stack, const std::exception& error) {
  std::fprintf(stderr, "probe_%s: %s\n", std::string{stack.name()}.c_str(), error.what());
}

int measure(const Options& options, Stack& stack) {
  os::StopFlag stop;
  const os::StopOnSignal stop_on_signal{stop};
  Result result;
  result.stack = stack.name();
  if (const auto refused_setting = os::end_with_parent()) {
    result.notes.push_back(*refused_setting);
  }
  std::atomic<bool> written{false};
  std::atomic<int> exit_code{exit_failed};
  Watchdog watchdog{options, stop, [&] {
                      if (!written.exchange(true)) {
                        Result hung;
                        hung.stack = stack.name();
                        hung.error = {.what = "the probe did not end when asked to",
                                      .why =
                                          "its loop or the middleware hangs; samples taken "
                                          "until then are in the sample file",
                                      .fix = "look at the middleware and the period"};
                        try {
                          write_document(options.result, to_json(options, hung));
                        } catch (const Failure& failure) {
                          complain(stack, failure);
                        }
                      }
                      return exit_code.load();
                    }};
  Measurement measurement{options, stack, stop};
  const auto finish = [&] {
    if (written.exchange(true)) {
      return;
    }
    if (!result.error) {
      judge(result, options, watchdog.time_limit_reached());
    }
    add_notes(result.notes, watchdog.not_granted());
    result.dropped = measurement.dropped();
    result.versions = stack.versions();
    result.pool = stack.pool();
    exit_code = result.error ? exit_failed : exit_done;
    if (result.error) {
      complain(stack, Failure{*result.error});
    }
    try {
      write_document(options.result, to_json(options, result));
    } catch (const Failure& failure) {
      exit_code = exit_failed;
      complain(stack, failure);
    }
    stop.request();  // from here on the watchdog's grace runs: closing the links may hang
  };
  try {
    measurement.run(result, finish);
  } catch (const Failure& failure) {
    result.error = failure.reason();
    finish();
  } catch (const std::exception& error) {
    result.error = unexpected(error);
    finish();
  }
  stack.close();
  return exit_code;
}

}  // namespace

int run(int argc, const char* const* argv, Stack& stack) {
  try {
    const auto options = parse(argc, argv, stack.name(), stack.capabilities());
    if (!options) {
      return exit_done;
    }
    stack.check(*options);
    return measure(*options, stack);
  } catch (const UsageError& error) {
    complain(stack, error);
    return exit_wrong_use;
  } catch (const std::exception& error) {
    if (auto reached = no_thread(error)) {
      complain(stack, Failure{*std::move(reached)});
    } else {
      complain(stack, error);
    }
    return exit_failed;
  }
}

}  // namespace takt::probe
