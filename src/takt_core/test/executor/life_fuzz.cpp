// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of start, add, remove, switch, notify and stop against each other, from several
// threads and from callbacks, on one executor after the other. Whatever their order: nothing runs
// after its removal, nothing is lost, nothing waits for ever. Meant for sanitizers, too.
//
//   takt_core_life_fuzz [--seconds S] [--seed N]
//
// Prints the seed, from which the operations of each thread follow, and how many there were.
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>

#include "life_fuzz_subject.hpp"
#include "takt/os/thread.hpp"

namespace takt::fuzz {
namespace {

class Round {
 public:
  Round(std::uint64_t seed, Counts& counts)
      : random_(seed), counts_(counts), cpus_(some_cpus()), subject_(options(), counts) {
    orderly_ = !one_in(random_, 4);
    if (one_in(random_, 2)) {
      policy_of_third_ = sched::parse_policy(one_in(random_, 2) ? "np-fp" : "edf");
    }
    for (int i = 0; i < 4; ++i) {
      Guest& guest = *guests_.emplace_back(make_guest(random_));
      guest.named = true;
      guest.always_active = i % 2 == 0;
      named_.push_back(guest.task.name);
    }
    check(subject_.set_strategy(some_strategy(random_, named_, policy_of_third_)), "of all",
          "is refused");
    for (const auto& guest : guests_) {
      check(subject_.add(*guest), guest->task.name, "is refused");
    }
  }

  ~Round() {
    std::error_code ignored;
    std::filesystem::remove(trace_, ignored);
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  Round(Round&&) = delete;
  Round& operator=(Round&&) = delete;

  void play() {
    const std::size_t threads = 2 + below(random_, 3);
    std::vector<std::thread> operators;
    for (std::size_t i = 0; i < threads; ++i) {
      operators.emplace_back([this, i, own = Random{random_()}]() mutable { operate(i, own); });
    }
    for (std::thread& each : operators) {
      each.join();
    }
    calm_ = true;
    if (orderly_) {
      expect_everybody_alive();
    }
    subject_.stop();
    for (const auto& guest : guests_) {
      if (guest->present) {  // the places of the others may have been used again
        expect_counted(*guest);
      }
    }
  }

 private:
  std::vector<int> some_cpus() {
    std::vector<int> cpus = os::current_thread().cpus;
    cpus.resize(std::min<std::size_t>(cpus.size(), 1 + below(random_, 2)));
    return cpus;
  }

  executor::Options options() {
    const std::vector<std::string> policies{"fp", "edf", "np-edf", "np-fp", "dm", "custom"};
    const std::string& name = policies[below(random_, policies.size())];
    const auto later = [](const sched::Job& a, const sched::Job& b) {
      return a.deadline - a.release > b.deadline - b.release;
    };
    return {.policy = name == "custom" ? sched::custom("latest", later) : sched::parse_policy(name),
            .cpus = cpus_,
            .external_topics = {"outside"},
            .real_time = one_in(random_, 2) && !sanitized,
            .lock_memory = false,
            .trace = one_in(random_, 4) ? trace_ : std::filesystem::path{},
            .handlers = {.deadline_miss = [](const auto&) {}, .skip = [](const auto&) {}},
            .on_shortfalls = [](const auto&) {}};
  }

  std::unique_ptr<Guest> make_guest(Random& random) {
    auto guest = std::make_unique<Guest>();
    sched::Task& task = guest->task;
    task.name = "guest" + std::to_string(names_++);
    task.parameters.priority = static_cast<int>(1 + below(random, 40));
    task.parameters.overrun = static_cast<sched::Overrun>(below(random, 3));
    task.parameters.deadline = std::chrono::milliseconds{1 + below(random, 20)};
    task.parameters.period = task.parameters.deadline + std::chrono::milliseconds{below(random, 9)};
    task.cpu = cpus_[below(random, cpus_.size())];
    if (one_in(random, 2)) {
      task.kind = sched::TaskKind::message;
      task.trigger = "outside";
      guest->queue = 1 + below(random, 64);
    } else if (one_in(random, 3)) {
      task.parameters.offset = std::chrono::microseconds{below(random, 5000)};
    }
    if (one_in(random, 3)) {  // its members have to be on one core
      task.group = "group";
      task.cpu = cpus_.front();
      guest->in_group = &in_group_;
    }
    guest->work = std::chrono::microseconds{below(random, 60)};
    if (one_in(random, 3)) {
      guest->meanwhile = [this, own = Random{random()}]() mutable { from_callback(own); };
    }
    return guest;
  }

  void operate(std::size_t number, Random& random) {
    if (number == 0) {
      os::sleep_until(os::now() + std::chrono::microseconds{below(random, 2000)});
      subject_.start();
      started_ = true;
    }
    for (std::uint64_t left = 20 + below(random, 100); left > 0; --left) {
      switch (below(random, 10)) {
        case 0:
          add(random);
          break;
        case 1:
          remove(random, true);
          break;
        case 2:
          subject_.switch_to(scenarios[below(random, scenarios.size())]);
          break;
        case 3:
          os::sleep_until(os::now() + std::chrono::microseconds{below(random, 500)});
          break;
        case 4:
          exchange(random);
          break;
        case 5:
          disturb(random);
          break;
        default:
          notify(random, 1 + below(random, 8));
      }
      if (!orderly_ && one_in(random, 200)) {
        one_in(random, 2) ? subject_.request_stop() : subject_.stop();
      }
      if (!orderly_ && one_in(random, 100)) {
        subject_.start();
      }
    }
  }

  // Each job brings about less than one other, or the core would never be free again.
  void from_callback(Random& random) {
    if (calm_ || one_in(random, 3)) {
      return;
    }
    ++counts_.from_callbacks;
    if (one_in(random, 4)) {
      subject_.switch_to(scenarios[below(random, scenarios.size())]);
    } else if (one_in(random, 6)) {
      disturb(random);
    } else if (one_in(random, 6)) {
      add(random);
    } else if (one_in(random, 6)) {
      remove(random, false);
    } else if (!orderly_ && one_in(random, 200)) {
      subject_.request_stop();
    } else {
      notify(random, 1);
    }
  }

  void add(Random& random) {
    Guest* guest = nullptr;
    {
      const std::lock_guard lock{mutex_};
      if (guests_.size() >= 40) {
        return;  // the load has to stay below that of a core
      }
      guest = guests_.emplace_back(make_guest(random)).get();
    }
    check(subject_.add(*guest), guest->task.name, "is refused");
  }

  // What a scenario names is refused, but only by an executor that spins.
  Guest* somebody_to_remove(Random& random) {
    Guest* const guest =
        somebody(random, [this](const Guest& one) { return started_ || !one.named; });
    return guest != nullptr && guest->present.exchange(false) ? guest : nullptr;
  }

  void remove(Random& random, bool waits) {
    if (Guest* const guest = somebody_to_remove(random)) {
      subject_.remove(*guest, waits);
    }
  }

  void exchange(Random& random) {
    Guest* const going = somebody_to_remove(random);
    if (going == nullptr) {
      return;
    }
    Guest* coming = nullptr;
    {
      const std::lock_guard lock{mutex_};
      coming = guests_.emplace_back(make_guest(random)).get();
    }
    subject_.exchange(*going, *coming);
  }

  // Pauses somebody, sets a timer, or says other things of scenarios.
  void disturb(Random& random) {
    if (one_in(random, 4)) {
      subject_.set_strategy(some_strategy(random, named_, policy_of_third_));
      return;
    }
    Guest* const guest = somebody(random, [](const Guest& one) { return one.present.load(); });
    if (guest == nullptr) {
      return;
    }
    if (guest->by_messages() || one_in(random, 2)) {
      subject_.pause(*guest, one_in(random, 2));
    } else {
      subject_.set_timer(*guest, one_in(random, 2));
    }
  }

  void notify(Random& random, std::uint64_t times) {
    Guest* const guest = somebody(random, [](const Guest& one) { return one.by_messages(); });
    for (; guest != nullptr && times > 0; --times) {
      subject_.notify(*guest);
    }
  }

  // Null when there is none for whom it holds.
  template <typename Condition>
  Guest* somebody(Random& random, Condition holds) {
    const std::lock_guard lock{mutex_};
    std::vector<Guest*> candidates;
    for (const auto& guest : guests_) {
      if ((guest->present || guest->leaves) && holds(*guest)) {
        candidates.push_back(guest.get());
      }
    }
    return candidates.empty() ? nullptr : candidates[below(random, candidates.size())];
  }

  // Every accepted message ends as a job or as a skipped one, and every timer goes on.
  void expect_everybody_alive() {
    std::vector<Guest*> everybody;
    {
      const std::lock_guard lock{mutex_};  // a callback may still be adding somebody
      for (const auto& guest : guests_) {
        everybody.push_back(guest.get());
      }
    }
    for (Guest* const guest : everybody) {
      if (!guest->present || !guest->always_active || !guest->left_alone) {
        continue;
      }
      const std::uint64_t runs = guest->runs;
      const auto done = [&] {
        const auto statistics = subject_.statistics(*guest);
        return guest->by_messages() ? statistics.completed + statistics.skipped == guest->accepted
                                    : guest->runs > runs;
      };
      if (comes_about(done)) {
        continue;
      }
      // On a machine that is too busy for all of them somebody starves by right; alone, nobody
      // does.
      for (Guest* const other : everybody) {
        if (other != guest && other->present && !other->by_messages()) {
          subject_.pause(*other, true);
        }
      }
      if (!comes_about(done)) {
        const auto counted = subject_.statistics(*guest);
        fail("task '" + guest->task.name + "' is forgotten: " +
             (guest->by_messages() ? std::to_string(guest->accepted) + " messages accepted, "
                                   : "a timer, ") +
             std::to_string(counted.completed) + " completed, " + std::to_string(counted.skipped) +
             " skipped, " + std::to_string(counted.releases) + " released, " +
             std::to_string(runs) + " runs before");
      }
    }
  }

  template <typename Condition>
  static bool comes_about(Condition condition) {
    const auto give_up = os::now() + patience;
    while (!condition()) {
      if (os::now() >= give_up) {
        return false;
      }
      os::sleep_until(os::now() + 100us);
    }
    return true;
  }

  void expect_counted(const Guest& guest) {
    const auto statistics = subject_.statistics(guest);
    const std::string& name = guest.task.name;
    check(!guest.running, name, "runs after the stop");
    check(guest.ran_as == -1 || guest.ran_as == guest.added.index, name, "runs as another one");
    check(statistics.completed == guest.runs, name, "counts other jobs than it had");
    const std::uint64_t over = statistics.completed + statistics.skipped;
    check(over <= statistics.releases, name, "completed and skipped more than was released");
    check(statistics.releases <= over + (orderly_ ? 1 : counts_.starts + 1), name,
          "has more than one job of each start that has not ended");
    if (guest.by_messages()) {
      check(statistics.lost_arrivals == guest.refused, name, "counts other losses than it had");
      check(over <= guest.accepted, name, "has had more jobs than messages");
      const bool catches_up = guest.task.parameters.overrun == sched::Overrun::catch_up;
      check(statistics.skipped == 0 || !catches_up || !orderly_ || !guest.left_alone ||
                !guest.always_active,
            name, "skips messages that it should catch up with");
    }
    counts_.jobs += statistics.completed;
  }

  Random random_;
  Counts& counts_;
  const std::filesystem::path trace_ =
      std::filesystem::temp_directory_path() / ("takt." + std::to_string(getpid()) + ".life");
  const std::vector<int> cpus_;
  sched::PolicyPtr policy_of_third_;  // null: the executor's
  std::vector<std::string> named_;    // by scenarios
  bool orderly_ = true;               // stopped at the end only
  std::atomic<bool> started_{false};
  std::atomic<bool> calm_{false};
  std::atomic<int> in_group_{0};
  std::atomic<int> names_{0};
  std::mutex mutex_;
  std::deque<std::unique_ptr<Guest>> guests_;  // of all times; more are added under the mutex
  Subject subject_;                            // after what its callbacks use
};

int run(std::chrono::seconds time, std::uint64_t seed) {
  Counts counts;
  const auto end = os::now() + time;
  for (std::uint64_t round = seed; counts.rounds == 0 || os::now() < end; ++round) {
    seed_of_round = round;
    Round{round, counts}.play();
    ++counts.rounds;
  }
  const auto number = [](const auto& count) {
    return static_cast<unsigned long long>(count.load());
  };
  std::printf(
      "seeds from %llu: %llu rounds, %llu starts, %llu stops, %llu adds, %llu removes, "
      "%llu refused, %llu switches, %llu pauses, %llu timers set, %llu strategies, %llu batches, "
      "%llu operations from callbacks, %llu notifications, %llu lost, %llu jobs\n",
      static_cast<unsigned long long>(seed), number(counts.rounds), number(counts.starts),
      number(counts.stops), number(counts.adds), number(counts.removes), number(counts.refused),
      number(counts.switches), number(counts.pauses), number(counts.settings),
      number(counts.strategies), number(counts.batches), number(counts.from_callbacks),
      number(counts.notifications), number(counts.lost), number(counts.jobs));
  return 0;
}

}  // namespace
}  // namespace takt::fuzz

int main(int argc, char** argv) {
  std::uint64_t seconds = 5;
  std::uint64_t seed = std::random_device{}();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--seconds") == 0) {
      seconds = value;
    } else if (std::strcmp(argv[i], "--seed") == 0) {
      seed = value;
    } else {
      std::fprintf(stderr, "usage: %s [--seconds S] [--seed N]\n", argv[0]);
      return 2;
    }
  }
  return takt::fuzz::run(std::chrono::seconds{seconds}, seed);
}
