// SPDX-License-Identifier: Apache-2.0
//
// One process of drawn applications. Reads of each run: its name, its seed, the executor and
// threads of both processes. Says "ready" once its nodes and those of the other process know each
// other, reads when to begin, and prints the jobs.
#include <iostream>

#include "drawn_robot.hpp"

namespace takt::test {
namespace {

bool run(std::size_t process) {
  std::string name;
  std::uint64_t seed = 0;
  std::array<std::string, 2> executors;
  std::array<std::size_t, 2> threads{};
  std::int64_t begin = 0;
  std::int64_t duration = 0;
  if (!(std::cin >> name >> seed >> executors[0] >> threads[0] >> executors[1] >> threads[1])) {
    return false;
  }
  Recorder recorder{draw_robot(seed, threads), name, process};
  if (!eventually([&] { return recorder.is_heard(); })) {
    return false;
  }
  std::cout << "ready" << std::endl;
  if (!(std::cin >> begin >> duration)) {
    return false;
  }
  const Recording recording = recorder.run(executors.at(process), threads.at(process),
                                           nanoseconds{duration}, TimePoint{nanoseconds{begin}});
  std::cout << recording.begin.time_since_epoch().count() << ' ' << recording.jobs.size() << '\n';
  for (const RecordedJob& job : recording.jobs) {
    std::cout << job.callback << ' ' << job.thread;
    for (const TimePoint time : {job.release, job.start, job.computed, job.published}) {
      std::cout << ' ' << time.time_since_epoch().count();
    }
    std::cout << '\n';
  }
  std::cout.flush();
  return true;
}

}  // namespace
}  // namespace takt::test

int main(int, char** argv) {
  using namespace takt;
  rclcpp::init(0, nullptr);
  // The threads of the middleware and those that wait for timers begin at this priority, above
  // those of the executor.
  os::Thread urgent{{.policy = os::SchedulingPolicy::fifo, .priority = 50}, [&] {
                      // Keeps the participant, so that others need not find it for each run.
                      const auto keeper = std::make_shared<rclcpp::Node>("keeper");
                      while (test::run(std::stoul(argv[1]))) {
                      }
                    }};
  urgent.join();
  rclcpp::shutdown();
}
