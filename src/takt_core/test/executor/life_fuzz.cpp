// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of start, add, remove, switch, notify and stop against each other, from several
// threads, callbacks and handlers, on one executor after the other. Whatever their order: nothing
// runs after its removal, nothing is lost, nothing waits for ever, and what handlers are told
// agrees with what callbacks and traces saw (life_fuzz_ledger.hpp). Meant for sanitizers, too. Ends
// itself where something hangs.
//
//   takt_core_life_fuzz [--seconds S] [--rounds N] [--seed N]
//
// Ends when the time (default: 5 s) or the rounds are over, whichever is first. Prints the seed,
// from which the operations of each thread follow, and how many there were.
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>

#include "life_fuzz_draw.hpp"
#include "life_fuzz_expect.hpp"
#include "life_fuzz_subject.hpp"
#include "takt/os/thread.hpp"

namespace takt::fuzz {
namespace {

class Round {
 public:
  Round(std::uint64_t seed, Counts& counts)
      : random_(seed),
        seed_(seed),
        counts_(counts),
        cpus_(some_cpus()),
        drawn_(draw_round(random_)),
        subject_(options(), ledger_, counts) {
    orderly_ = !one_in(random_, 4);
    for (int i = 0; i < 4; ++i) {
      Guest& guest = *guests_.emplace_back(make_guest(random_));
      guest.named = true;
      guest.always_active = i % 2 == 0;
      named_.push_back(guest.task.name);
    }
    check(subject_.set_strategy(some_strategy(random_, named_, drawn_.policy_of_third)), "of all",
          "is refused");
    for (const auto& guest : guests_) {
      check(subject_.add(*guest), guest->task.name, "is refused");
    }
  }

  ~Round() {
    std::error_code ignored;
    for (std::uint64_t start = 1; start <= subject_.starts(); ++start) {
      std::filesystem::remove(trace_of(start), ignored);
    }
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  Round(Round&&) = delete;
  Round& operator=(Round&&) = delete;

  void play() {
    const Limit limit{"the round", 10 * patience};
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
      expect_alive(subject_, everybody());
    }
    subject_.stop();
    if (drawn_.traced) {
      for (std::uint64_t start = 1; start <= subject_.starts(); ++start) {
        read_trace_of(start);
      }
    }
    ledger_.expect_agreement(drawn_.reported_misses, drawn_.reported_budgets);
    const Counted counted{subject_, ledger_, drawn_, orderly_, counts_.starts};
    counts_.misses += ledger_.misses();
    counts_.overruns += ledger_.overruns();
    for (const auto& guest : guests_) {
      counts_.skips += guest->skipped;
      if (guest->present) {  // the places of the others may have been used again
        expect_counted(*guest, counted);
        counts_.jobs += guest->runs;
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
    executor::Options options{.policy = drawn_.policy,
                              .cpus = cpus_,
                              .external_topics = {"outside"},
                              .real_time = drawn_.real_time,
                              .lock_memory = false,
                              .handlers = {},
                              .on_not_granted = [](const auto&) {}};
    if (drawn_.traced) {
      options.trace = trace_;
      options.trace_capacity = std::size_t{1} << 17U;
    }
    if (drawn_.reported_misses) {
      options.handlers.deadline_miss = [this](const executor::Miss& miss) {
        check(miss.ended > miss.deadline && miss.ended <= os::now(), std::to_string(miss.task),
              "is told of at a wrong time");
        from_handler();
        ledger_.reported(miss, os::now());
      };
    }
    if (drawn_.reported_budgets) {
      options.handlers.budget_overrun = [this](const executor::BudgetOverrun& overrun) {
        from_handler();
        ledger_.reported(overrun);
      };
    }
    if (drawn_.reported_skips) {
      options.handlers.skip = [this](const executor::Skip& skip) {
        Guest::last()->skips(skip);
        from_handler();
      };
    }
    return options;
  }

  std::unique_ptr<Guest> make_guest(Random& random) {
    auto guest = draw_guest(random, drawn_, "guest" + std::to_string(names_++), cpus_);
    if (!guest->task.group.empty()) {
      guest->in_group = &in_group_;
    }
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

  // On whatever thread it is told; one in a few does something, or all would only tell.
  void from_handler() {
    thread_local Random random;
    thread_local std::uint64_t seeded = 0;
    if (seeded != seed_ + 1) {
      seeded = seed_ + 1;
      random.seed(seed_ + 1'000'003 * ++handler_threads_);
    }
    if (one_in(random, 8)) {
      subject_.ask("guest" + std::to_string(below(random, 40)));
    }
    if (one_in(random, 8)) {
      from_callback(random);
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
  Guest* one_to_remove(Random& random) {
    Guest* const guest =
        a_task(random, [this](const Guest& one) { return started_ || !one.named; });
    return guest != nullptr && guest->present.exchange(false) ? guest : nullptr;
  }

  void remove(Random& random, bool waits) {
    if (Guest* const guest = one_to_remove(random)) {
      subject_.remove(*guest, waits);
    }
  }

  void exchange(Random& random) {
    Guest* const going = one_to_remove(random);
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
      subject_.set_strategy(some_strategy(random, named_, drawn_.policy_of_third));
      return;
    }
    Guest* const guest = a_task(random, [](const Guest& one) { return one.present.load(); });
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
    Guest* const guest = a_task(random, [](const Guest& one) { return one.by_messages(); });
    for (; guest != nullptr && times > 0; --times) {
      subject_.notify(*guest);
    }
  }

  // Null when there is none for whom it holds.
  template <typename Condition>
  Guest* a_task(Random& random, Condition holds) {
    const std::lock_guard lock{mutex_};
    std::vector<Guest*> candidates;
    for (const auto& guest : guests_) {
      if ((guest->present || guest->leaves) && holds(*guest)) {
        candidates.push_back(guest.get());
      }
    }
    return candidates.empty() ? nullptr : candidates[below(random, candidates.size())];
  }

  std::vector<Guest*> everybody() {
    const std::lock_guard lock{mutex_};  // a callback may still be adding somebody
    std::vector<Guest*> everybody;
    for (const auto& guest : guests_) {
      everybody.push_back(guest.get());
    }
    return everybody;
  }

  [[nodiscard]] std::filesystem::path trace_of(std::uint64_t start) const {
    std::filesystem::path path = trace_;
    if (start > 1) {
      path.replace_filename(path.stem().string() + "-" + std::to_string(start) +
                            path.extension().string());
    }
    return path;
  }

  void read_trace_of(std::uint64_t start) {
    if (std::filesystem::exists(trace_of(start))) {  // starts that were refused have none
      ledger_.read(trace_of(start));
      ++counts_.traces;
    }
  }

  Random random_;
  const std::uint64_t seed_;
  Counts& counts_;
  const std::filesystem::path trace_ =
      std::filesystem::temp_directory_path() / ("takt." + std::to_string(getpid()) + ".life");
  const std::vector<int> cpus_;
  const DrawnRound drawn_;
  std::vector<std::string> named_;  // by scenarios
  bool orderly_ = true;             // stopped at the end only
  std::atomic<bool> started_{false};
  std::atomic<bool> calm_{false};
  std::atomic<int> in_group_{0};
  std::atomic<int> names_{0};
  std::atomic<std::uint64_t> handler_threads_{0};
  std::mutex mutex_;
  std::deque<std::unique_ptr<Guest>> guests_;  // of all times; more are added under the mutex
  Ledger ledger_;
  Subject subject_;  // after what its callbacks use
};

struct Wanted {
  std::uint64_t seconds = 5;
  std::uint64_t rounds = UINT64_MAX;
  std::uint64_t seed = std::random_device{}();
};

int run(const Wanted& wanted) {
  Counts counts;
  const auto end = os::now() + std::chrono::seconds{wanted.seconds};
  while (counts.rounds == 0 || (os::now() < end && counts.rounds < wanted.rounds)) {
    seed_of_round = wanted.seed + counts.rounds;
    Round{seed_of_round, counts}.play();
    ++counts.rounds;
  }
  std::printf("seeds from %llu:", static_cast<unsigned long long>(wanted.seed));
  const char* before = " ";
  for (const auto& [count, what] : counts.all()) {
    std::printf("%s%llu %s", std::exchange(before, ", "),
                static_cast<unsigned long long>(count->load()), what);
  }
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace takt::fuzz

int main(int argc, char** argv) {
  takt::fuzz::Wanted wanted;
  for (int i = 1; i < argc; i += 2) {
    std::uint64_t* value = nullptr;
    if (std::strcmp(argv[i], "--seconds") == 0) {
      value = &wanted.seconds;
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      value = &wanted.rounds;
    } else if (std::strcmp(argv[i], "--seed") == 0) {
      value = &wanted.seed;
    }
    if (value == nullptr || i + 1 == argc) {
      std::fprintf(stderr, "usage: %s [--seconds S] [--rounds N] [--seed N]\n", argv[0]);
      return 2;
    }
    *value = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return takt::fuzz::run(wanted);
}
