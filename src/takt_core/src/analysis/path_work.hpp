// SPDX-License-Identifier: Apache-2.0
//
// What cores do, at most, while a path across them is on its way (docs/reference/analysis.md, eq.
// 17, 37, 38 and 46).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

struct PathCore;

// A link on a core of the path, whose jobs may come before those of the path.
struct PathRival {
  const ArrivalCount* releases = nullptr;  // of its root
  nanoseconds offset{0};
  nanoseconds end{0};      // from the release of its root, at most
  nanoseconds due{never};  // the latest release of its root after that of the path's
  nanoseconds execution{0};
  PathCore* on = nullptr;
  std::size_t of = nobody;  // if their root is not that of the path: the place of its instances
  bool own = false;         // it has the root of the path
  bool on_path = false;     // the path's own job is counted elsewhere
  bool after = false;       // of later instances no job interferes with the path
  bool now = false;         // of these, that of the path's own instance may
  bool within = false;      // the path's last job leads to it, before that has ended
  bool elsewhere = false;   // that of the path's own instance comes when the path has left
  bool message = false;     // its job is among those of PathWork::in_order
  bool at_end = false;      // it comes after the path's last callback
  bool ordered = false;     // `after` because jobs of a callback keep their order

  // Jobs that may run within `time` after the release of the path's root: their roots were released
  // after `end` before that, and not so late that they are released, or due, too late.
  [[nodiscard]] std::int64_t jobs(nanoseconds time) const noexcept;

  // How long at least they are no more than these jobs(time).
  [[nodiscard]] nanoseconds same_before(nanoseconds time, std::int64_t jobs) const noexcept;

  // Those beside the jobs of all messages, if no other instance of the path's root exists.
  [[nodiscard]] std::int64_t jobs_beside_messages(nanoseconds time) const noexcept;
};

// A link on a core of the path, of which a job may have started when the path comes there, and then
// keeps the core.
struct PathBlocker {
  std::optional<PathRival> all;   // of its jobs; nothing: not known
  std::optional<PathRival> part;  // those that count as rivals
  nanoseconds length{0};
  std::int64_t visits = 0;  // which it may delay
  std::size_t of = nobody;  // as of rivals

  // Those that may keep the core, and count nowhere else.
  [[nodiscard]] std::int64_t jobs(nanoseconds time) const noexcept;
  // Of one that may delay so many jobs.
  [[nodiscard]] std::int64_t jobs_beside_messages(nanoseconds time,
                                                  std::int64_t most) const noexcept;
};

// All instances of another root.
struct PathInstances {
  std::size_t root = 0;
  std::size_t links = 0;  // on cores of the path, whose jobs may delay it
  PathRival any = {};     // jobs of any of these; its execution: the most that the path can meet
  bool known = true;      // all of them are
  bool limited = false;   // it cannot meet one job of each
  // The most that it delays the path by if no other instance of the path's root exists; nothing:
  // not known.
  std::optional<nanoseconds> at_its_pace = {};
  std::int64_t jobs = 0;  // of `any`, and before which time there are no more
  nanoseconds same_before{0};
  nanoseconds work{0};  // of each link by itself
  nanoseconds blocking{0};
  bool fewer = false;  // by instances it is less
  bool paced = false;  // because they advance with the path

  // The most that all `jobs` delay the path by.
  [[nodiscard]] nanoseconds met() const noexcept;
};

// The part of the path on one core.
struct PathCore {
  std::size_t core = 0;
  sched::Level floor = sched::infinite_ceiling;  // the lowest level on the path
  nanoseconds due{0};   // the latest deadline of the path's jobs, after the root's release
  nanoseconds work{0};  // the path's own
  std::int64_t visits = 0;
  const Supply* supply = nullptr;
  std::vector<PathBlocker> blockers = {};  // the longest first
  nanoseconds rivals{0};                   // work of these
  std::int64_t messages = 0;               // jobs of all messages, up to the path's last callback
  nanoseconds due_later{0};                // their latest deadline, after `due`
};

// Links of the path that are joined: they come to their core together.
struct PathVisit {
  std::size_t core = 0;
  sched::Level floor = sched::infinite_ceiling;  // the lowest level of them
  std::size_t begin = 0;                         // the place of the first one on the path
};

// Jobs of all messages of the path's own release of its root, in the order of MessageOrder.
struct PathMessages {
  nanoseconds longest{0};  // until the path's last job has ended
};

// Times to which it is asked about a path must not fall.
class PathWork {
 public:
  // Of a net with so many cores and links.
  PathWork(std::size_t cores, std::size_t links)
      : place_of_core_(cores, nobody), place_of_root_(links, nobody) {}

  // Begins another path, with these releases of its root.
  void begin(const Arrivals& releases) noexcept;

  [[nodiscard]] std::span<PathCore> cores() noexcept { return cores_; }
  [[nodiscard]] std::span<const PathCore> cores() const noexcept { return cores_; }
  [[nodiscard]] std::span<PathInstances> instances() noexcept { return instances_; }

  // Of this number, added if it is new: before all rivals.
  [[nodiscard]] PathCore& core(std::size_t number);
  // Of this root, added if it is new. References do not last.
  [[nodiscard]] PathInstances& instances_of(std::size_t root);
  // The index of these.
  [[nodiscard]] std::size_t place_of(const PathInstances& one) const noexcept {
    return place_of_root_[one.root];
  }

  void add(const PathRival& rival) {
    rivals_.push_back(rival);
    jobs_.push_back({});
  }

  // The order of its messages is known.
  void order(const PathMessages& messages) noexcept { in_order_ = messages; }

  // Of time_for(), in evaluations of one demand.
  [[nodiscard]] std::size_t effort() const noexcept;

  // The time in which all cores provide what a path waits for that takes `time`. Of several visits
  // of a core each may begin without supply, and how the work is spread over them is not known.
  [[nodiscard]] nanoseconds time_for(nanoseconds time);

  // What the last time_for() follows from, which was for this time.
  [[nodiscard]] By by(nanoseconds time) const noexcept;

 private:
  // How many of a rival count as work, and before which time there are no more.
  struct Counted {
    nanoseconds same_before{0};
    std::int64_t jobs = 0;
  };

  [[nodiscard]] bool is_only_instance(nanoseconds time) const noexcept;
  void count_rivals(nanoseconds time) noexcept;
  [[nodiscard]] nanoseconds longest_blocking(const PathCore& core, nanoseconds time) noexcept;
  [[nodiscard]] nanoseconds provided(nanoseconds time) noexcept;
  [[nodiscard]] bool is_less_by_instances(nanoseconds time) noexcept;
  [[nodiscard]] nanoseconds one_by_one(nanoseconds time) noexcept;
  [[nodiscard]] nanoseconds beside_messages(nanoseconds time) const noexcept;

  const Arrivals* releases_ = nullptr;  // of the path's root
  std::vector<PathCore> cores_;
  std::vector<std::size_t> place_of_core_;  // by number
  std::vector<PathInstances> instances_;
  std::vector<std::size_t> place_of_root_;  // by link
  std::vector<PathRival> rivals_;
  std::vector<Counted> jobs_;  // by rival
  std::optional<PathMessages> in_order_;
  By by_ = By::path;
};

}  // namespace takt::analysis
