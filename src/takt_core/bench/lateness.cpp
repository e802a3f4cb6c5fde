// SPDX-License-Identifier: Apache-2.0
//
// How late the most important timer starts, against the bare loop of cyclictest (clock_nanosleep to
// absolute times) at the same priority on the same core, the two taking turns. wakeup: among 50
// tasks. preempt: over a callback, or for the bare loop a thread, that burns the core.
#include <atomic>
#include <functional>

#include "bench.hpp"
#include "takt/os/thread.hpp"

namespace takt::bench {
namespace {

constexpr nanoseconds period = 2ms;
constexpr int priority = 80;
constexpr int low_priority = 10;
constexpr nanoseconds burn_period = 50ms;
constexpr nanoseconds burn_time = 40ms;  // leaves room below the limit for real-time threads

using Samples = std::vector<std::int64_t>;

Samples bare(const Settings& settings, bool burning) {
  Samples samples;
  samples.reserve(static_cast<std::size_t>(settings.duration / period) + 1);
  std::atomic<bool> done{false};
  const auto begin = os::now() + 20ms;
  // The loop first: once the other one burns, threads of no priority get nothing done here.
  os::Thread loop{{.policy = os::SchedulingPolicy::fifo,
                   .priority = priority,
                   .cpus = {settings.cpu},
                   .name = "bare"},
                  [&] {
                    const auto end = begin + settings.duration;
                    for (auto next = begin; next < end; next += period) {
                      os::sleep_until(next);
                      samples.push_back((os::now() - next).count());
                    }
                  }};
  std::unique_ptr<os::Thread> burner;
  if (burning) {
    burner = std::make_unique<os::Thread>(os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                                                             .priority = low_priority,
                                                             .cpus = {settings.cpu},
                                                             .name = "burner"},
                                          [&] {
                                            for (auto next = begin; !done; next += burn_period) {
                                              os::sleep_until(next);
                                              burn_until(next + burn_time);
                                            }
                                          });
  }
  loop.join();
  note_not_granted(loop.not_granted());
  done = true;
  if (burner) {
    burner->join();
  }
  return samples;
}

Samples executed(const Settings& settings, const char* policy, bool burning) {
  Samples samples;
  samples.reserve(static_cast<std::size_t>(settings.duration / period) + 100);
  executor::Executor executor{{.policy = sched::parse_policy(policy),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  executor.add(timer("top", period, priority), {[&](const sched::Job& job) {
                 if (samples.size() < samples.capacity()) {
                   samples.push_back((os::now() - job.release).count());
                 }
               }});
  for (int i = 1; i < 50 - (burning ? 1 : 0); ++i) {
    executor.add(timer("task" + std::to_string(i), (i + 60) * 1ms, 20 + i % 10, i * 1300us),
                 {[](const auto&) {}});
  }
  if (burning) {
    executor.add(timer("burner", burn_period, low_priority),
                 {[](const sched::Job& job) { burn_until(job.release + burn_time); }});
  }
  executor.start();
  os::sleep_until(executor.start_time() + settings.duration);
  executor.stop();
  return samples;
}

void compare(const std::string& mode, const Settings& settings, bool burning) {
  struct Variant {
    std::string name;
    std::function<Samples()> measure;
    std::vector<double> p50 = {};
    std::vector<double> p99 = {};
    Samples all = {};
  };
  std::vector<Variant> variants;
  variants.push_back({"bare", [&] { return bare(settings, burning); }});
  variants.push_back({"fp", [&] { return executed(settings, "fp", burning); }});
  variants.push_back({"edf", [&] { return executed(settings, "edf", burning); }});
  for (int round = 0; round < settings.rounds; ++round) {
    std::rotate(variants.begin(), variants.begin() + 1, variants.end());
    for (Variant& variant : variants) {
      Samples samples = variant.measure();
      variant.p50.push_back(static_cast<double>(quantile(samples, 0.5)));
      variant.p99.push_back(static_cast<double>(quantile(samples, 0.99)));
      variant.all.insert(variant.all.end(), samples.begin(), samples.end());
    }
  }
  const auto baseline = std::ranges::find(variants, "bare", &Variant::name);
  Json rows = Json::array();
  for (Variant& variant : variants) {
    rows.push_back({{"loop", variant.name},
                    {"p50_ns", median(variant.p50)},
                    {"p99_ns", median(variant.p99)},
                    {"max_ns", quantile(variant.all, 1)},
                    {"p50_over_bare", median(variant.p50) / median(baseline->p50)},
                    {"p99_over_bare", median(variant.p99) / median(baseline->p99)},
                    {"samples", variant.all.size()},
                    {"p50_by_round", variant.p50},
                    {"p99_by_round", variant.p99}});
  }
  print_document(mode, settings, rows);
}

}  // namespace

void wakeup(const Settings& settings) {
  compare("wakeup", settings, false);
}

void preempt(const Settings& settings) {
  compare("preempt", settings, true);
}

}  // namespace takt::bench
