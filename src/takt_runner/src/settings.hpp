// SPDX-License-Identifier: Apache-2.0
//
// app_runner: executes an application description on ROS 2, in one of three ways (./takt execute).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <takt/application/application.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <utility>
#include <vector>

namespace takt::runner {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

struct Settings {
  std::filesystem::path application_file{};
  std::string approach{};  // a key of approaches()
  nanoseconds duration{0};
  std::filesystem::path trace{};
  std::uint64_t seed{1};
  std::string host{};               // whose processes are executed; empty: all are on one
  std::filesystem::path meeting{};  // the file by which hosts agree on their start; empty: alone
  // The control groups that the threads of processes with a quota enter, by the process.
  std::map<std::string, std::filesystem::path> quotas{};
  nanoseconds clock_offset{0};  // of the clock that stamps in messages are of, less this one's
};

struct Execution {
  Settings settings{};
  application::Application application{};
  // What every trace says about itself: the description, the approach, the seed.
  std::vector<std::pair<std::string, std::string>> attributes{};
};

// A moment less than the duration, because what is released right at its end is no part of it.
inline nanoseconds released_for(const Execution& execution) noexcept {
  return execution.settings.duration - 100us;
}

// When an execution ends whose releases began at `start`.
inline os::TimePoint end_of(const Execution& execution, os::TimePoint start) noexcept {
  return start + released_for(execution);
}

// Each runs until `duration` after the first release, or until `stop` is requested, and leaves a
// whole trace. They throw what takt_rcl and rclcpp throw; std::runtime_error when no start came
// about; sched::ScheduleError for an application that they cannot execute.
using Approach = void (*)(const Execution&, os::StopFlag&);

// What this program has.
const std::map<std::string, Approach>& approaches();

class Common;

// The files in which a process leaves its part of the trace.
struct Parts {
  std::filesystem::path jobs{};    // of its executor
  std::filesystem::path beside{};  // of the threads beside it; empty: none is described
};

// One process of a robot whose executor is rclcpp's: in that process, after its fork.
using RclcppProcess = void (*)(const Execution& execution, Common& common, std::size_t number,
                               const Parts& parts, os::StopFlag& stop);

// Null: this program was built without rclcpp.
RclcppProcess rclcpp_process();

void run_takt(const Execution& execution, os::StopFlag& stop);
// As run_takt() does, for an application of several processes.
void run_robot(const Execution& described, os::StopFlag& stop);
void run_baseline0(const Execution& execution, os::StopFlag& stop);
void run_baseline1(const Execution& execution, os::StopFlag& stop);
void run_rclcpp(const Execution& execution, os::StopFlag& stop);
void run_rclcpp_baseline1(const Execution& execution, os::StopFlag& stop);
void run_rclcpp_process(const Execution& execution, Common& common, std::size_t number,
                        const Parts& parts, os::StopFlag& stop);

}  // namespace takt::runner
