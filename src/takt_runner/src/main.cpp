// SPDX-License-Identifier: Apache-2.0
//
// app_runner APP.json --approach NAME --duration-ns N --trace FILE [--seed S]
//   [--host NAME --meeting FILE [--clock-offset-ns N]] [--quota PROCESS=FOLDER]...
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <takt/application/compile.hpp>
#include <takt/application/parse.hpp>
#include <takt/application/threads.hpp>
#include <takt/sched/error.hpp>

#include "settings.hpp"

namespace takt::runner {
namespace {

// An application that cannot be read: wrong use, too.
class WrongUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws CLI::ParseError.
Settings parse_arguments(CLI::App& app, int argc, char** argv) {
  Settings settings;
  std::int64_t duration_ns = 0;
  app.add_option("APP.json", settings.application_file,
                 "Application in its flat form, written by ./takt execute")
      ->required();
  app.add_option("--approach", settings.approach, "Executor")
      ->required()
      ->check(CLI::IsMember(approaches()));
  app.add_option("--duration-ns", duration_ns,
                 "Duration of the execution; later releases are excluded")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--trace", settings.trace, "Trace file to create")->required();
  app.add_option("--seed", settings.seed, "Random seed of the execution times")
      ->check(CLI::Range(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  app.add_option("--host", settings.host, "Execute the processes of this host of a robot");
  app.add_option(
      "--meeting", settings.meeting,
      "With --host: FILE.ready is created when all processes are ready; they start at the "
      "time in FILE (ns, CLOCK_MONOTONIC)");
  std::int64_t clock_offset_ns = 0;
  app.add_option("--clock-offset-ns", clock_offset_ns,
                 "With --host: added to this clock in the stamps of messages");
  app.add_option("--quota", settings.quotas,
                 "PROCESS=FOLDER: control group with the quota of a robot's process")
      ->delimiter('=')
      ->type_size(2);
  app.parse(argc, argv);
  settings.clock_offset = nanoseconds{clock_offset_ns};
  settings.duration = nanoseconds{duration_ns};
  return settings;
}

// How much of the time the kernel lets real-time threads have, for who explains a trace.
std::string real_time_share() {
  const auto value = [](const char* name) {
    std::ifstream file{std::string{"/proc/sys/kernel/sched_rt_"} + name};
    std::int64_t number = -1;
    file >> number;
    return number;
  };
  const std::int64_t runtime = value("runtime_us");
  const std::int64_t period = value("period_us");
  if (runtime < 0 || period <= 0) {
    return "all";
  }
  return std::to_string(runtime / 1000) + " of " + std::to_string(period / 1000) + " ms";
}

// Each message would come to each lane: they would need one subscription.
void refuse_lanes(const Execution& execution) {
  const bool takt = execution.settings.approach == "takt";
  for (const application::Callback& callback : execution.application.callbacks) {
    if (callback.lanes > 1 && (!takt || callback.task.kind == sched::TaskKind::message)) {
      throw sched::ScheduleError("task '" + callback.task.name + "'",
                                 "several of its jobs may run at once, which is executed of timers "
                                 "under 'takt' only so far",
                                 "remove at_once, or simulate it");
    }
  }
}

// The executor raises a job that the age of data needs; where the holder of a lock needs a
// real-time priority of its own, both would change that of one thread.
void refuse_boosts(const application::Application& application) {
  if (std::ranges::none_of(application.callbacks, &application::Callback::holds_locks)) {
    return;  // also where no executor of Takt could take the application
  }
  const bool waits = std::ranges::any_of(application.callbacks,
                                         [](const auto& callback) { return callback.task.waits; });
  const sched::CompiledStrategy strategy =
      application::compile(application::with_threads(application));
  const bool raises = std::ranges::any_of(strategy.scenarios(), [](const auto& scenario) {
    return std::ranges::any_of(scenario.age_constraints(), [](const sched::AgeConstraint& age) {
      return age.needs_early_release();
    });
  });
  for (const application::Callback& callback : application.callbacks) {
    for (const application::CriticalSection& section : callback.critical_sections) {
      const application::Lock& lock = application.locks[section.lock];
      const bool changes = lock.protocol == application::LockProtocol::fmlp_plus ||
                           (waits && lock.protocol != application::LockProtocol::inheritance);
      if (raises && changes) {
        throw sched::ScheduleError(
            "lock '" + lock.name + "'",
            "its holder has a priority of its own, and jobs are raised for the age of data, which "
            "is not executed together so far",
            "use the protocol inheritance, or remove max_age");
      }
    }
  }
}

// A mutex belongs to one process, and only members.cpp takes it; one thread alone never waits.
void refuse_locks(const Execution& execution) {
  const std::string& approach = execution.settings.approach;
  const bool executed = approach == "takt" || approach == "baseline0" ||
                        approach == "rclcpp_single_threaded" || approach == "rclcpp_events";
  for (const application::Callback& callback : execution.application.callbacks) {
    if (callback.holds_locks() && !executed) {
      throw sched::ScheduleError(
          "task '" + callback.task.name + "'",
          "it takes a lock, which is not executed under '" + approach + "' so far",
          "use the approach 'takt', or remove critical_sections");
    }
  }
  refuse_boosts(execution.application);
}

// Whether others of its process run meanwhile: it has a thread of its own priority.
bool waits_apart(const application::Application& robot, const application::Callback& callback) {
  const std::string& policy = robot.processes[callback.process].policy;
  return policy == "fp" || policy == "rm" || policy == "dm";
}

// A client waits where others run meanwhile: under Takt, with a thread of its own.
void refuse_waits(const Execution& execution) {
  const bool takt = execution.settings.approach == "takt";
  const bool robot = !execution.application.processes.empty();
  for (const application::Callback& callback : execution.application.callbacks) {
    if (callback.calls() && !takt) {
      throw sched::ScheduleError("task '" + callback.task.name + "'",
                                 "it calls a service, which is executed under 'takt' only",
                                 "use the approach 'takt', or simulate it");
    }
    for (const application::Segment& segment : callback.segments) {
      if (!segment.device.empty() && !takt) {
        throw sched::ScheduleError(
            "task '" + callback.task.name + "'",
            "it occupies device '" + segment.device + "', which is executed under 'takt' only",
            "use the approach 'takt', or simulate it");
      }
    }
    if (callback.task.waits && robot && !waits_apart(execution.application, callback)) {
      throw sched::ScheduleError(
          "task '" + callback.task.name + "'",
          "it waits, which is executed in processes with fixed priorities (fp, rm, dm) only",
          "give its process such a policy, or simulate it");
    }
  }
}

// Where the analysis has them: all who take a lock on one core, and each on a core of its process.
// What Takt's executor would refuse as it starts is refused here, before nodes are created. Throws
// sched::ScheduleError.
void place(application::Application& application, const std::string& approach) {
  if (!application.processes.empty()) {
    const application::Application all = application::with_threads(application);
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      application.callbacks[i].task.cpu = all.processes[all.callbacks[i].process].cpu;
    }
    return;
  }
  const bool takt = approach == "takt" || approach == "rclcpp_takt";
  if (application.locks.empty() && !takt) {
    return;
  }
  const sched::CompiledStrategy strategy = application::compile(application);
  if (application.locks.empty()) {
    return;
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    application.callbacks[i].task.cpu = strategy.tasks()[i].cpu;
  }
}

Execution make_execution(const Settings& settings) {
  Execution execution{.settings = settings};
  std::ifstream file{execution.settings.application_file};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) {
    throw WrongUse{execution.settings.application_file.string() + " cannot be read"};
  }
  execution.application = application::parse(text);
  refuse_lanes(execution);
  refuse_locks(execution);
  refuse_waits(execution);
  place(execution.application, execution.settings.approach);
  // The others know no scenarios: they execute what the callbacks declare.
  if (execution.settings.approach == "takt" || execution.settings.approach == "rclcpp_takt") {
    execution.application = execution.application.with_topics_of_scenarios();
  }
  execution.attributes = {{"application", text},
                          {"rt_share", real_time_share()},
                          {"approach", execution.settings.approach},
                          {"seed", std::to_string(execution.settings.seed)},
                          {"duration_ns", std::to_string(execution.settings.duration.count())}};
  return execution;
}

int run_all(int argc, char** argv) {
  CLI::App app{"Execute an application description on ROS 2.", "app_runner"};
  try {
    const Execution execution = make_execution(parse_arguments(app, argc, argv));
    os::StopFlag stop;
    const os::StopOnSignal on_signal{stop};
    // Whoever started it asked for SIGKILL meanwhile; this is kinder to the trace and to /dev/shm.
    os::end_with_parent(SIGTERM);
    approaches().at(execution.settings.approach)(execution, stop);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const WrongUse& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 2;
  } catch (const application::ParseError& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 2;
  } catch (const sched::ScheduleError& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 2;
  }
}

}  // namespace
}  // namespace takt::runner

int main(int argc, char** argv) try {
  return takt::runner::run_all(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "app_runner: %s\n", error.what());
  return 1;
}
