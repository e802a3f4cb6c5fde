// SPDX-License-Identifier: Apache-2.0
//
// A path is asked about growing times, and counts again only what has changed since: the same as
// if it counted all again.
#include "analysis/path_work.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

struct DrawnPath {
  std::vector<ArrivalCount> releases;
  std::vector<PathRival> rivals;  // `of`: the root
  std::vector<PathInstances> instances;
};

DrawnPath draw_path(RandomTasks& random) {
  DrawnPath path;
  for (std::int64_t root = 0; root < 4; ++root) {
    path.releases.emplace_back(
        Arrivals{.period = nanoseconds{random.number(3, 40)},
                 .jitter = nanoseconds{random.chance(0.5) ? random.number(0, 90) : 0},
                 .distance = nanoseconds{random.number(0, 3)}});
  }
  for (std::int64_t i = random.number(1, 9); i-- > 0;) {
    const auto root = static_cast<std::size_t>(random.number(0, 3));
    const nanoseconds offset{random.number(0, 20)};
    PathRival rival{.offset = offset,
                    .end = offset + nanoseconds{random.number(1, 60)},
                    .execution = nanoseconds{random.number(0, 5)},
                    .of = root,
                    .own = root == 0};
    if (random.chance(0.3)) {
      rival.due = nanoseconds{random.number(-30, 40)};
    }
    rival.after = rival.own && random.chance(0.3);
    rival.on_path = rival.own && random.chance(0.3);
    path.rivals.push_back(rival);
  }
  for (std::size_t root = 1; root < 4; ++root) {
    PathRival any = path.rivals.front();
    any.own = any.after = any.on_path = false;
    any.execution = nanoseconds{random.number(1, 8)};
    PathInstances instances{.root = root, .any = any, .limited = random.chance(0.7)};
    if (instances.limited && random.chance(0.5)) {
      instances.at_its_pace = nanoseconds{random.number(0, 6)};
    }
    path.instances.push_back(instances);
  }
  return path;
}

void fill(PathWork& work, const DrawnPath& path, const Supply& supply) {
  work.begin(path.releases.front().arrivals());
  PathCore& core = work.core(0);
  core.supply = &supply;
  core.visits = 1;
  for (const PathInstances& one : path.instances) {
    PathInstances& added = work.instances_of(one.root);
    added = one;
    added.any.releases = &path.releases[one.root];
  }
  for (PathRival rival : path.rivals) {
    rival.on = &core;
    rival.releases = &path.releases[rival.of];
    rival.of = rival.own ? nobody : work.place_of(work.instances_of(rival.of));
    work.add(rival);
  }
}

TEST(PathWork, CountsWhatHasChanged) {
  const Supply supply;
  PathWork kept{1, 4};
  PathWork fresh{1, 4};
  int fewer = 0;
  int paced = 0;
  for (int round = 0; round < rounds(2000); ++round) {
    RandomTasks random{first_seed() + static_cast<std::uint64_t>(round)};
    const DrawnPath path = draw_path(random);
    fill(kept, path, supply);
    for (nanoseconds time{0}; time.count() < 300; time += nanoseconds{random.number(1, 30)}) {
      fill(fresh, path, supply);
      ASSERT_EQ(kept.time_for(time), fresh.time_for(time)) << round << " at " << time.count();
      ASSERT_EQ(kept.by(time), fresh.by(time)) << round << " at " << time.count();
      fewer += kept.by(time) == By::path_instances ? 1 : 0;
      paced += kept.by(time) == By::path_paced ? 1 : 0;
    }
  }
  EXPECT_GT(fewer, 0);
  EXPECT_GT(paced, 0);
}

}  // namespace
}  // namespace takt::analysis
