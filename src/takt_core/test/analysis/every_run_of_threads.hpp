// SPDX-License-Identifier: Apache-2.0
//
// Every run of a few callbacks under rclcpp's multi-threaded executor.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Every run of a few callbacks: whenever the wait set is looked at, any of the jobs that may be
// taken is taken, each job computes for any time up to its longest, and each callback is released
// as often as its period and jitter allow. Of a reentrant callback any number of jobs runs, which
// begin in the order of their releases. While an interrupt has a core, none is taken, as whoever
// looks may be on it, and one of the running jobs at most does not go on. The end of a job releases
// those that follow it. Knows nothing of the analysis.
class EveryRunOfThreads {
 public:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  struct Longest {
    std::vector<std::int64_t> responses;  // of each callback, from its release
    std::vector<std::int64_t> latencies;  // from the release that its chain begins with
  };

  // `after`: by callback, whose jobs release its own; empty: nobody's.
  EveryRunOfThreads(std::vector<Demand> demands, std::size_t threads,
                    std::vector<std::size_t> after = {})
      : demands_(std::move(demands)),
        threads_(threads),
        after_(std::move(after)),
        longest_{.responses = std::vector<std::int64_t>(demands_.size(), 0),
                 .latencies = std::vector<std::int64_t>(demands_.size(), 0)} {
    after_.resize(demands_.size(), nobody);
  }

  // Empty where there are too many situations.
  Longest run() {
    std::vector<Situation> open{Situation(demands_.size())};
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      open.front()[i].credit = most_credit(i);
    }
    known_.insert(open.front().key());
    while (!open.empty()) {
      const Situation situation = open.back();
      open.pop_back();
      release(situation, 0, open);
      if (known_.size() > 40'000) {
        return {};
      }
    }
    return longest_;
  }

 private:
  struct Job {
    std::int64_t left = 0;
    std::int64_t age = 0;
    std::int64_t of_chain = 0;  // age of the release that the chain begins with

    auto operator<=>(const Job&) const = default;
  };
  struct Callback {
    std::int64_t credit = 0;   // a release takes a period of it, which time gives
    std::vector<Job> running;  // ascending
    std::deque<Job> waiting;   // the oldest first
  };
  struct Situation : std::vector<Callback> {
    explicit Situation(std::size_t count) : std::vector<Callback>(count) {}

    [[nodiscard]] std::string key() const {
      std::string key;
      for (const Callback& callback : *this) {
        key += static_cast<char>(callback.credit);
        for (const Job& job : callback.running) {
          add(key, job);
        }
        key += '\xfe';
        for (const Job& job : callback.waiting) {
          add(key, job);
        }
        key += '\xff';
      }
      return key;
    }

    static void add(std::string& key, const Job& job) {
      key += static_cast<char>(job.left);
      key += static_cast<char>(job.age);
      key += static_cast<char>(job.of_chain);
    }
  };

  [[nodiscard]] std::int64_t most_credit(std::size_t i) const {
    return (demands_[i].releases.period + demands_[i].releases.jitter).count();
  }

  void release(const Situation& situation, std::size_t i, std::vector<Situation>& open) {
    if (i == demands_.size()) {
      start(situation, open);
      return;
    }
    release(situation, i + 1, open);
    if (const std::int64_t period = demands_[i].releases.period.count();
        after_[i] == nobody && situation[i].credit >= period) {
      Situation next = situation;
      next[i].credit -= period;
      if (demands_[i].interrupt) {
        next[i].running.push_back({.left = demands_[i].execution.count()});
      } else {
        next[i].waiting.emplace_back();
      }
      release(next, i, open);
    }
  }

  void start(const Situation& situation, std::vector<Situation>& open) {
    if (is_interrupted(situation)) {
      pass(situation, situation.size(), 0, open);
      for (std::size_t i = 0; i < situation.size(); ++i) {
        for (std::size_t job = 0; job < situation[i].running.size(); ++job) {
          if (!demands_[i].interrupt) {
            pass(situation, i, job, open);
          }
        }
      }
      return;
    }
    std::size_t running = 0;
    for (const Callback& callback : situation) {
      running += callback.running.size();
    }
    bool any = false;
    for (std::size_t i = 0; running < threads_ && i < demands_.size(); ++i) {
      if (situation[i].waiting.empty() || group_runs(situation, i)) {
        continue;
      }
      any = true;
      for (std::int64_t time = 1; time <= demands_[i].execution.count(); ++time) {
        Situation next = situation;
        std::vector<Job>& jobs = next[i].running;
        jobs.push_back(next[i].waiting.front());
        jobs.back().left = time;
        std::ranges::sort(jobs);
        next[i].waiting.pop_front();
        start(next, open);
      }
    }
    if (!any) {
      pass(situation, situation.size(), 0, open);
    }
  }

  [[nodiscard]] bool is_interrupted(const Situation& situation) const {
    for (std::size_t i = 0; i < situation.size(); ++i) {
      if (demands_[i].interrupt && !situation[i].running.empty()) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool group_runs(const Situation& situation, std::size_t i) const {
    for (std::size_t other = 0; !demands_[i].reentrant && other < demands_.size(); ++other) {
      if (!situation[other].running.empty() && demands_[other].group == demands_[i].group) {
        return true;
      }
    }
    return false;
  }

  // `held`, `of_it`: the callback of which this job does not go on.
  void pass(Situation situation, std::size_t held, std::size_t of_it,
            std::vector<Situation>& open) {
    std::vector<std::pair<std::size_t, Job>> messages;
    for (std::size_t i = 0; i < situation.size(); ++i) {
      Callback& callback = situation[i];
      callback.credit = std::min(callback.credit + 1, most_credit(i));
      for (Job& job : callback.waiting) {
        ++job.age;
        ++job.of_chain;
      }
      for (std::size_t job = 0; job < callback.running.size(); ++job) {
        Job& one = callback.running[job];
        ++one.age;
        ++one.of_chain;
        one.left -= i == held && job == of_it ? 0 : 1;
        if (one.left == 0) {
          end(i, one, messages);
        }
      }
      std::erase_if(callback.running, [](const Job& one) { return one.left == 0; });
      std::ranges::sort(callback.running);
    }
    for (const auto& [receiver, job] : messages) {
      situation[receiver].waiting.push_back(job);
    }
    if (known_.insert(situation.key()).second) {
      open.push_back(std::move(situation));
    }
  }

  void end(std::size_t i, const Job& job, std::vector<std::pair<std::size_t, Job>>& messages) {
    longest_.responses[i] = std::max(longest_.responses[i], job.age);
    longest_.latencies[i] = std::max(longest_.latencies[i], job.of_chain);
    for (std::size_t other = 0; other < after_.size(); ++other) {
      if (after_[other] == i) {
        messages.emplace_back(other, Job{.of_chain = job.of_chain});
      }
    }
  }

  std::vector<Demand> demands_;
  std::size_t threads_;
  std::vector<std::size_t> after_;
  Longest longest_;
  std::unordered_set<std::string> known_;
};

}  // namespace takt::analysis
