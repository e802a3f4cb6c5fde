// SPDX-License-Identifier: Apache-2.0
//
// Random lives of nodes, executors and all that belongs to them, one subject after the other.
// Whatever the order: no callback runs after its removal, none is left out or kept, nothing waits
// without end. Meant for sanitizers, too.
//
//   takt_rclcpp_life_fuzz [--seconds S] [--rounds N] [--seed N] [--subject NAME] [--crowd N]
//
// Ends when the time (default: 5 s) or the rounds are over, whichever is first. Without a subject
// the rounds are drawn from all. Prints the first seed, and how many rounds each subject had.
#include <rcutils/logging.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>

#include "fuzz.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/policies.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace takt::fuzz {
namespace {

std::atomic<std::uint64_t> seed_of_round{0};
std::atomic<const char*> subject_of_round{""};
std::atomic<os::TimePoint> round_until{os::TimePoint::max()};

// With which round it comes again.
void print_round() {
  std::fprintf(stderr, "subject %s, seed %llu\n", subject_of_round.load(),
               static_cast<unsigned long long>(seed_of_round.load()));
}

// Where each thread is, if there is a debugger: what hangs may not come again with the same seed.
void print_stacks() {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::vector<std::string> words{"timeout", "120", "gdb",
                                 "-batch",  "-ex", "thread apply all bt 30"};
  words.insert(words.end(), {"-p", std::to_string(getpid())});
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  pid_t debugger = 0;
  if (posix_spawnp(&debugger, pointers[0], nullptr, nullptr, pointers.data(), environ) == 0) {
    waitpid(debugger, nullptr, 0);
  }
}

// Apart from what it looks after: a round that hangs is what it is there for.
class Watchdog {
 public:
  Watchdog() : thread_{[this] { watch(); }} {}
  ~Watchdog() {
    ends_.store(true);
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  Watchdog(Watchdog&&) = delete;
  Watchdog& operator=(Watchdog&&) = delete;

 private:
  void watch() {
    while (!ends_.load()) {
      check(os::now() < round_until.load(), "the round does not end");
      os::sleep_until(os::now() + 200ms);
    }
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

struct Wanted {
  std::uint64_t seconds = 5;
  std::uint64_t rounds = UINT64_MAX;
  std::uint64_t seed = std::random_device{}();
  std::string subject;
};

int run(const Wanted& wanted) {
  std::vector<Subject> chosen;
  for (const Subject& one : subjects()) {
    if (wanted.subject.empty() || wanted.subject == one.name) {
      chosen.push_back(one);
    }
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "takt_rclcpp_life_fuzz: no subject '%s'; one of:", wanted.subject.c_str());
    for (const Subject& one : subjects()) {
      std::fprintf(stderr, " %.*s", static_cast<int>(one.name.size()), one.name.data());
    }
    std::fputs("\n", stderr);
    return 2;
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(print_round);
#endif
  const Watchdog watchdog;
  std::map<std::string_view, std::uint64_t> rounds;
  const auto end = os::now() + std::chrono::seconds{wanted.seconds};
  for (std::uint64_t round = 0; round == 0 || (os::now() < end && round < wanted.rounds); ++round) {
    seed_of_round = wanted.seed + round;
    Random random{seed_of_round};
    const Subject& subject = chosen[below(random, chosen.size())];
    subject_of_round = subject.name.data();
    round_until = os::now() + 5 * patience;
    try {
      subject.round(random);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    ++rounds[subject.name];
  }
  std::printf("seeds from %llu, rounds:", static_cast<unsigned long long>(wanted.seed));
  for (const auto& [name, count] : rounds) {
    std::printf(" %.*s %llu", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(count));
  }
  std::printf("\n");
  return 0;
}

}  // namespace

std::size_t crowd_size = 300;

void fail(std::string_view what) {
  print_round();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  print_stacks();
  std::abort();
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all{
      {"nodes", nodes},         {"destruction", destruction}, {"clocks", clocks},
      {"crowd", crowd},         {"libraries", libraries},
#ifdef TAKT_FUZZ_ACTIONS
      {"actions", actions},
#endif
#ifdef TAKT_FUZZ_LIFECYCLE
      {"lifecycle", lifecycle},
#endif
#ifdef TAKT_FUZZ_CONTAINER
      {"container", container},
#endif
  };
  return all;
}

takt_rclcpp::Options draw_options(Random& random) {
  static const std::array<const char*, 5> policies{"fp", "edf", "np-fp", "np-edf", "rm"};
  takt_rclcpp::Options options;
  auto& scheduling = options.scheduling;
  scheduling.policy = sched::parse_policy(policies.at(below(random, policies.size())));
  scheduling.cpus = os::current_thread().cpus;
  scheduling.cpus.resize(std::min<std::size_t>(scheduling.cpus.size(), 1 + below(random, 2)));
  scheduling.real_time = one_in(random, 2) && !sanitized;
  scheduling.lock_memory = false;
  scheduling.on_not_granted = [](const auto&) {};
  // By what the callback is: the same each time it is asked for.
  options.timing = [salt = random()](const takt_rclcpp::CallbackId& id) {
    Random own{salt ^ std::hash<std::string>{}(id.text())};
    takt_rclcpp::Timing timing;
    if (one_in(own, 2)) {
      timing.priority = static_cast<int>(1 + below(own, 60));
    }
    if (one_in(own, 3)) {
      timing.deadline = std::chrono::milliseconds{1 + below(own, 50)};
    }
    if (one_in(own, 6) && id.kind == takt_rclcpp::CallbackKind::subscription) {
      timing.overrun = sched::Overrun::queue_one;
    }
    return timing;
  };
  return options;
}

Host::Host(takt_rclcpp::Options options, const rclcpp::Context::SharedPtr& context)
    : executor{std::move(options),
               [&] {
                 rclcpp::ExecutorOptions of_base;
                 of_base.context = context;
                 return of_base;
               }()},
      thread_{[this, context] {
        try {
          while (!ends_.load() && rclcpp::ok(context)) {
            executor.spin();
          }
        } catch (const std::exception& error) {
          fail(error.what());
        }
      }} {}

void Host::end() {
  if (thread_.joinable()) {
    ends_.store(true);
    executor.cancel();
    thread_.join();
  }
}

}  // namespace takt::fuzz

int main(int argc, char** argv) {
  // Keeps to this host, and out of the domains that people use.
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  constexpr int usual_domains = 100;
  setenv("ROS_DOMAIN_ID", std::to_string(1 + getpid() % usual_domains).c_str(), 0);
  // Much is refused here, as it should be.
  rcutils_logging_set_default_logger_level(RCUTILS_LOG_SEVERITY_FATAL);
  takt::fuzz::Wanted wanted;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    std::uint64_t number = 0;
    const bool has_value = i + 1 < argc;
    if (has_value && name != "--subject") {
      number = std::strtoull(argv[i + 1], nullptr, 10);
    }
    if (has_value && name == "--seconds") {
      wanted.seconds = number;
    } else if (has_value && name == "--rounds") {
      wanted.rounds = number;
    } else if (has_value && name == "--seed") {
      wanted.seed = number;
    } else if (has_value && name == "--crowd") {
      takt::fuzz::crowd_size = number;
    } else if (has_value && name == "--subject") {
      wanted.subject = argv[i + 1];
    } else {
      std::fprintf(stderr,
                   "usage: %s [--seconds S] [--rounds N] [--seed N] [--subject NAME] [--crowd N]\n",
                   argv[0]);
      return 2;
    }
  }
  return takt::fuzz::run(wanted);
}
