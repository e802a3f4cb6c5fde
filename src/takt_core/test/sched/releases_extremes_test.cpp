// SPDX-License-Identifier: Apache-2.0
//
// A timer's releases at the ends of time, against a grid in numbers that have room for all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "takt/sched/releases.hpp"

namespace takt::sched {
namespace {

using namespace std::chrono_literals;
__extension__ using Wide = __int128;

constexpr Wide earliest = std::numeric_limits<std::int64_t>::min();
constexpr Wide latest = std::numeric_limits<std::int64_t>::max();

Wide wide(TimePoint time) {
  return time.time_since_epoch().count();
}
TimePoint clamped(Wide time) {
  return TimePoint{nanoseconds{static_cast<std::int64_t>(std::clamp(time, earliest, latest))}};
}

// Release k is at point + (k - number) * period.
struct Grid {
  Wide point = 0;
  std::uint64_t number = 0;
  std::uint64_t next = 0;
  Wide period = 0;

  [[nodiscard]] Wide time(std::uint64_t k) const {
    return point + (Wide{k} - Wide{number}) * period;
  }
  // How many releases from the next one on are before `time`.
  [[nodiscard]] std::uint64_t before(Wide time_limit) const {
    const Wide first = time(next);
    return first >= time_limit ? 0
                               : static_cast<std::uint64_t>((time_limit - 1 - first) / period + 1);
  }
  void set(Wide time) {
    point = time;
    number = next;
  }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_{seed} {}

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }
  TimePoint time() {
    const std::vector<Wide> all{earliest, earliest / 2, -1, 0, 1, 1'000'000, latest / 2, latest};
    const Wide around = static_cast<Wide>(below(2001)) - 1000;
    const Wide time = all[below(all.size())] + around;
    return clamped(std::min(time, latest - 1));  // the end of time is never
  }
  nanoseconds period() {
    const std::vector<nanoseconds> all{
        1us, 3us, 1ms + 1ns, longest_time / 3, longest_time - 1ns, longest_time};
    return all[below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

void play(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Draw draw{seed};
  TimerReleases timer;
  TaskParameters parameters{.period = draw.period(), .overrun = Overrun::skip};
  parameters.offset = draw.below(2) == 0 ? 0ns : draw.period();
  const TimePoint start = draw.time();
  timer.follow(parameters, start);
  Grid grid;
  grid.period = parameters.period.count();
  grid.set(wide(start) + parameters.offset.count());
  std::optional<Release> remembered;
  const auto next = [&] {
    return remembered ? *remembered
                      : Release{.index = grid.next, .time = clamped(grid.time(grid.next))};
  };
  for (int step = 0; step < 30; ++step) {
    const TimePoint time = draw.time();
    switch (draw.below(4)) {
      case 0: {  // set, as it was at `now`: what has passed by then comes now
        const TimePoint now = draw.time();
        timer.release_at(time, now);
        grid.set(wide(time));
        if (time < now && !remembered) {
          remembered = Release{.index = grid.next, .time = now};
          const std::uint64_t passed = grid.before(wide(now) + 1);
          const Wide following = grid.time(grid.next + passed);
          ++grid.next;
          grid.set(following);
        }
        break;
      }
      case 1:  // its job is taken, and ends some time
        if (next().time <= time) {
          timer.take();
          ASSERT_EQ(timer.taken(), next());
          if (!remembered) {
            ++grid.next;
          }
          remembered.reset();
          const Skipped skipped = timer.end_of_job(time);
          const std::uint64_t count = grid.before(wide(time));
          ASSERT_EQ(skipped.count, count);
          if (count > 0) {
            ASSERT_EQ(skipped.first,
                      (Release{.index = grid.next, .time = clamped(grid.time(grid.next))}));
          }
          grid.next += count;
        }
        break;
      case 2: {
        const std::uint64_t passed = grid.before(wide(time) + 1);
        ASSERT_EQ(
            timer.next_after(time),
            (Release{.index = grid.next + passed, .time = clamped(grid.time(grid.next + passed))}));
        break;
      }
      default: {  // another period, from the last job on or from now
        parameters.period = draw.period();
        if (parameters.period.count() != grid.period) {
          const Wide from = timer.taken() ? wide(timer.taken()->time) + parameters.period.count()
                                          : grid.time(grid.next);
          timer.follow(parameters, time);
          grid.period = parameters.period.count();
          grid.set(std::max(from, wide(time)));
        }
      }
    }
    ASSERT_EQ(timer.next(), next()) << "step " << step;
  }
}

TEST(ReleasesExtremes, KeepTheirGridUpToTheEndsOfTime) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    play(seed);
    if (HasFatalFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace takt::sched
