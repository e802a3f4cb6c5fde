// SPDX-License-Identifier: Apache-2.0
#include "chain_paths.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "busy_period.hpp"
#include "chain_meetings.hpp"
#include "chain_pace.hpp"
#include "later_jobs.hpp"
#include "message_order.hpp"
#include "path_rivals.hpp"
#include "path_work.hpp"

namespace takt::analysis {
namespace {

// Longer than so many periods of its root no chain is followed.
constexpr std::int64_t most_periods = 100;

}  // namespace

class PathLatencies::PathTest {
 public:
  explicit PathTest(const ChainNet& net)
      : net_(net), rivals_(net), work_(net.cores.size(), net.links.size()) {}

  Response run(std::size_t last, const Bound& known, Effort& effort) {
    begin(last);
    effort_ = &effort;
    Response result{.bound = {}, .by = By::path};
    if (!visit() || (known && least_ >= *known) || !add_rivals()) {
      return result;
    }
    nanoseconds most = most_periods * net_.links[root_].demand->releases.period;
    if (known) {
      most = std::min(most, *known - nanoseconds{1});
    }
    for (nanoseconds time = least_; time <= most;) {
      if (!effort_->spend(work_.effort())) {
        return result;
      }
      const nanoseconds next = lag_ + work_.time_for(time);
      if (next <= time) {
        result.bound = time;
        result.by = work_.by(time);
        return result;
      }
      time = next;
    }
    return result;
  }

 private:
  [[nodiscard]] const ChainLink& link(std::size_t i) const { return net_.links[i]; }
  [[nodiscard]] const ChainCore& core(std::size_t i) const { return net_.cores[link(i).core]; }

  void begin(std::size_t last) {
    last_ = last;
    root_ = link(last).root;
    own_ = net_.instances[root_];
    work_.begin(link(root_).demand->releases);
    path_.clear();
    visits_.clear();
    delays_.assign(net_.links.size(), false);
    only_instance_ = true;
    least_ = lag_ = nanoseconds{0};
  }

  // False if a core of the path does not keep the order.
  bool visit() {
    for (std::size_t i = last_; i != nobody; i = link(i).before) {
      path_.push_back(i);
    }
    std::ranges::reverse(path_);
    for (std::size_t k = 0; k < path_.size(); ++k) {
      const std::size_t i = path_[k];
      const Demand& demand = *link(i).demand;
      const std::optional<nanoseconds> entry =
          link(i).before == nobody ? std::optional{nanoseconds{0}} : net_.latencies[link(i).before];
      if (!core(i).usable || !entry) {
        return false;
      }
      lag_ += demand.lag;
      least_ += demand.execution + demand.lag;
      PathCore& visited = work_.core(link(i).core);
      visited.supply = &core(i).supply;
      visited.work += demand.execution;
      visited.floor = std::min(visited.floor, demand.level);
      visited.due = std::max(visited.due, *entry + demand.deadline);
      if (k == 0 || !link(i).joined) {
        visits_.push_back({.core = link(i).core, .begin = k});
        ++visited.visits;
        visited.work += net_.release_overhead;
        least_ += net_.release_overhead;
      }
      sched::Level& floor = visits_.back().floor;
      floor = std::min(floor, demand.level);
    }
    find_behind();
    return true;
  }

  void find_behind() {
    behind_.assign(own_.size(), false);
    within_.assign(own_.size(), false);
    for (const std::size_t i : own_.subspan(link(last_).number + 1)) {
      const std::size_t before = link(i).before;
      const std::size_t from = link(before).number;
      behind_[link(i).number] = before == last_ || behind_[from];
      within_[link(i).number] = (before == last_ || within_[from]) && runs_within_last(i);
    }
  }

  // Whether a job of the link, which the message of the path's last job has led to, may run before
  // that job has ended: on other cores, or where it preempts it.
  [[nodiscard]] bool runs_within_last(std::size_t i) const {
    const Demand& demand = *link(i).demand;
    const Demand& last = *link(last_).demand;
    return link(i).core != link(last_).core || demand.level > std::max(last.level, last.ceiling);
  }

  // Whether jobs of the link that come after the job at this place of the path may run before those
  // behind that place on their core, and not only keep the core for one of them.
  [[nodiscard]] bool may_follow(std::size_t i, std::size_t place) const {
    for (std::size_t k = place + 1; k < path_.size(); ++k) {
      if (link(path_[k]).core == link(i).core &&
          (!core(i).by_level || link(i).demand->level >= link(path_[k]).demand->level)) {
        return true;
      }
    }
    return false;
  }

  // Whether the path has left the core of the link for good when a job of it comes that messages of
  // the job at this place lead to.
  [[nodiscard]] bool has_left(std::size_t i, std::size_t place) const {
    if (place == nobody || behind_[link(i).number]) {
      return false;
    }
    const auto from = path_.begin() +
                      static_cast<std::ptrdiff_t>(link(path_[place]).overlaps ? place : place + 1);
    return std::none_of(from, path_.end(), [&](std::size_t k) {
      const auto& ended = net_.latencies[k];
      return link(k).core == link(i).core && (k == last_ || !ended || *ended > link(i).offset);
    });
  }

  // Whether a job of the link that has started keeps the core when this part of the path comes.
  [[nodiscard]] bool may_block(std::size_t i, const PathVisit& visit) const {
    const Demand& demand = *link(i).demand;
    const ChainCore& here = core(i);
    if (demand.execution.count() == 0) {
      return false;
    }
    return here.by_level ? demand.level < visit.floor && demand.ceiling >= visit.floor
                         : here.by_deadline && !here.preemptive;
  }

  // `all`: its jobs; nothing: not known. `counted`: those of them that are rivals.
  void add_blocker(std::size_t i, std::optional<PathRival> all,
                   const std::optional<PathRival>& counted, const LaterJobs& order) {
    if (counted && core(i).by_level && !counted->after) {
      return;  // all are rivals
    }
    if (counted && core(i).by_deadline) {
      all->after = counted->after;
      all->now = counted->now;
    }
    // What is no rival only because of its level comes late on the path.
    const bool late = counted && core(i).by_level;
    const std::int64_t visits = std::ranges::count_if(visits_, [&](const PathVisit& visit) {
      return visit.core == link(i).core && may_block(i, visit) &&
             (!late || visit.begin > order.place(link(i).number));
    });
    if (visits == 0) {
      return;
    }
    const std::size_t of = link(i).root == root_ ? nobody : add_to_instance(i, all);
    work_.core(link(i).core)
        .blockers.push_back({.all = all,
                             .part = counted,
                             .length = link(i).demand->execution - core(i).supply.head_start(),
                             .visits = visits,
                             .of = of});
  }

  // `jobs` of the link that may delay the path. Returns the place of the instances.
  std::size_t add_to_instance(std::size_t i, const std::optional<PathRival>& jobs) {
    PathInstances& instances = work_.instances_of(link(i).root);
    const std::size_t place = work_.place_of(instances);
    if (!jobs) {
      instances.known = false;
      return place;
    }
    PathRival& any = instances.any;
    if (instances.links == 0) {
      any = *jobs;
    }
    any.offset = std::min(any.offset, jobs->offset);
    any.end = std::max(any.end, jobs->end);
    any.due = std::max(any.due, jobs->due);
    instances.links += delays_[i] ? 0 : 1;
    delays_[i] = true;
    return place;
  }

  // False if one of them has no bound.
  bool add_rivals() {
    numbers_.clear();
    std::ranges::transform(path_, std::back_inserter(numbers_),
                           [&](std::size_t i) { return link(i).number; });
    const auto number_before = [&](std::size_t number) {
      const std::size_t before = link(own_[number]).before;
      return before == nobody ? nobody : link(before).number;
    };
    const LaterJobs order{numbers_, own_.size(), number_before,
                          [&](std::size_t number) { return link(own_[number]).demand->task; }};
    for (PathCore& visited : work_.cores()) {
      const ChainCore& here = net_.cores[visited.core];
      if (!add_interrupts(here, visited)) {
        return false;
      }
      for (const LinkRival& rival : rivals_.links(visited.core)) {
        if (!add_link(rival, visited, order)) {
          return false;
        }
      }
    }
    for (PathCore& visited : work_.cores()) {
      std::ranges::sort(visited.blockers, std::greater{}, &PathBlocker::length);
    }
    add_messages(order);
    return limit_instances();
  }

  // All that a path waits for counts once, whatever core it is on, so their supply must be whole. A
  // release that is noticed at a cost may be noticed late.
  void add_messages(const LaterJobs& order) {
    if (!only_instance_ || own_.size() == path_.size() || net_.release_overhead.count() > 0 ||
        !is_whole()) {
      return;
    }
    const MessageOrder messages{net_, path_, order};
    if (!messages.several() || !messages.known()) {
      return;
    }
    for (PathCore& visited : work_.cores()) {
      const std::optional<nanoseconds> due = messages.due_on(visited.core);
      if (!due) {
        return;
      }
      visited.messages = messages.jobs_on(visited.core);
      visited.due_later = *due - visited.due;
    }
    work_.order({.longest = messages.longest()});
  }

  [[nodiscard]] bool is_whole() const {
    return std::ranges::all_of(work_.cores(),
                               [](const PathCore& one) { return one.supply->whole(); });
  }

  // Whether a job of the link may run while the path is at a core, besides those that only begin
  // before.
  [[nodiscard]] bool may_run(std::size_t i, const PathVisit& visit) const {
    return visit.core == link(i).core &&
           (!core(i).by_level || link(i).demand->level >= visit.floor || may_block(i, visit));
  }

  // What the path can meet of one instance of each other root, if that is less than all. It is not
  // known on which of the cores, so their supply must be whole.
  bool limit_instances() {
    const bool whole = is_whole();
    for (PathInstances& instances : work_.instances()) {
      if (!whole || !instances.known || visits_.size() < 2 || instances.links < 2) {
        continue;
      }
      const std::vector<std::size_t>& links = net_.instances[instances.root];
      if (!effort_->spend(links.size() * visits_.size())) {
        return false;
      }
      instances.any.execution = most_met(links);
      instances.limited = true;
      if (work_.instances().size() == 1 && !preempts_its_end()) {
        instances.at_its_pace = most_at_its_pace(net_, path_, instances.root, *effort_);
      }
    }
    return true;
  }

  // Whether the path's last job has computed all, but has not ended, while what it leads to runs.
  [[nodiscard]] bool preempts_its_end() const {
    return std::ranges::any_of(own_, [this](std::size_t i) {
      return link(i).core == link(last_).core && within_[link(i).number];
    });
  }

  // `links`: all with one root.
  nanoseconds most_met(std::span<const std::size_t> links) {
    jobs_.clear();
    for (const std::size_t i : links) {
      const std::size_t before = link(i).before;
      jobs_.push_back({.link = i,
                       .before = before == nobody ? nobody : link(before).number,
                       .execution = delays_[i] ? link(i).demand->execution : nanoseconds{0},
                       .overlaps = link(i).overlaps});
    }
    return meetings_.most(jobs_, visits_.size(), [&](std::size_t i, std::size_t visit) {
      return may_run(i, visits_[visit]);
    });
  }

  bool add_link(const LinkRival& one, PathCore& visited, const LaterJobs& order) {
    const std::size_t i = one.link;
    const ChainCore& here = net_.cores[visited.core];
    const bool runs = !here.by_level || one.level >= visited.floor;
    if (!one.known && !runs && net_.release_overhead.count() == 0) {
      add_blocker(i, {}, {}, order);
    }
    if (!one.known) {
      only_instance_ = only_instance_ && one.root != root_;
      return !runs && net_.release_overhead.count() == 0;
    }
    PathRival rival = one.jobs;
    rival.on = &visited;
    rival.own = one.root == root_;
    if (net_.release_overhead.count() > 0) {  // each release is noticed
      rival.execution = net_.release_overhead;
      work_.add(rival);
      rival.execution = one.jobs.execution;
    }
    if (rival.own) {
      const std::size_t number = link(i).number;
      const std::size_t place = order.place(number);
      rival.on_path = path_[place] == i;
      rival.after = behind_[number];
      rival.now = rival.within = within_[number] && link(i).core == link(last_).core;
      rival.elsewhere = has_left(i, order.branches_from(number));
      rival.message = order.matches(number);
      rival.at_end = place + 1 == path_.size();
      only_instance_ = only_instance_ && rival.releases->closed(rival.end - nanoseconds{1}) == 1;
    }
    std::optional<PathRival> counted;
    if (runs) {
      counted = rival;
      const std::size_t number = link(i).number;
      if (rival.own && !behind_[number] && !may_follow(i, order.place(number))) {
        counted->after = true;
        counted->ordered = i != last_;
        counted->now = !rival.on_path && !order.later_message(number);
      }
      if (here.by_deadline) {
        counted->due = visited.due - link(i).demand->deadline - rival.offset;
      }
      if (!rival.own) {
        counted->of = add_to_instance(i, counted);
      }
      work_.add(*counted);
    }
    if (one.blocks) {
      add_blocker(i, rival, counted, order);
    }
    return true;
  }

  // Those that come within the path, and before it, as long as they may last.
  bool add_interrupts(const ChainCore& here, PathCore& visited) {
    if (here.interrupts.empty()) {
      return true;
    }
    const auto busy = busy_period(here.interrupts, nanoseconds{0}, *effort_, here.supply);
    if (!busy) {
      return false;
    }
    for (std::size_t k = 0; k < here.interrupts.size(); ++k) {
      work_.add({.releases = &rivals_.interrupts(visited.core)[k],
                 .end = *busy,
                 .execution = here.interrupts[k].execution,
                 .on = &visited});
    }
    return true;
  }

  const ChainNet& net_;
  PathRivals rivals_;
  PathWork work_;
  std::size_t last_ = 0;
  std::size_t root_ = 0;
  std::span<const std::size_t> own_;  // the links with this root
  Effort* effort_ = nullptr;
  std::vector<std::size_t> path_;
  std::vector<std::size_t> numbers_;  // of its links
  std::vector<bool> behind_;          // by number
  std::vector<bool> within_;          // of those behind: may run before the last one has ended
  std::vector<bool> delays_;          // by link: of those with other roots, whether it may
  std::vector<PathVisit> visits_;
  Meetings meetings_;
  std::vector<Meeting> jobs_;  // of an instance
  bool only_instance_ = true;  // of its root, when that is released
  nanoseconds least_{0};       // the path's own
  nanoseconds lag_{0};         // until the path's jobs are noticed
};

PathLatencies::PathLatencies(const ChainNet& net) : test_(std::make_unique<PathTest>(net)) {}
PathLatencies::~PathLatencies() = default;

Response PathLatencies::until(std::size_t last, const Bound& known, Effort& effort) {
  return test_->run(last, known, effort);
}

}  // namespace takt::analysis
