// SPDX-License-Identifier: Apache-2.0
#include "takt/sim/simulation.hpp"

#include <algorithm>
#include <deque>
#include <ranges>
#include <utility>
#include <vector>

#include "../application/kernel_scheduling.hpp"
#include "../application/own_subscriptions.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/robot_cores.hpp"
#include "../sched/stock_executor.hpp"
#include "model.hpp"
#include "offsets.hpp"
#include "partition.hpp"
#include "random.hpp"
#include "shared_core.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"
#include "trace.hpp"

namespace takt::sim {
namespace {

class Simulation {
 public:
  Simulation(const application::Application& application, const Options& options)
      : application_(application),
        options_(options),
        default_(options.duration.count() != 0
                     ? DefaultDuration{.time = options.duration, .reason = "given"}
                     : default_duration(application)),
        duration_(default_.time),
        model_(application, options),
        outside_(model_.topics().size() + 1),
        trace_(model_, options, duration_) {
    if (duration_.count() < 0) {
      throw sched::ScheduleError("the simulation", "its duration is negative",
                                 "give a time above zero");
    }
    if (!application.processes.empty()) {
      add_processes();
      return;
    }
    for (std::size_t i = 0; i < model_.compiled().strategy.cores().size(); ++i) {
      const int cpu = model_.compiled().strategy.cores()[i].cpu;
      partitions_.emplace_back(model_, model_.compiled(), i, application_.find_core(cpu),
                               is_fixed(model_.compiled()), trace_);
    }
    if (sched::has_threads(application_.policy)) {
      for (const int cpu : application.cpus | std::views::drop(1)) {
        partitions_.emplace_back(partitions_.front(), policy_of(model_.compiled()), cpu,
                                 application_.find_core(cpu));
      }
    }
  }

  Result run() {
    const TimePoint end{duration_};
    begin();
    TimePoint now{};
    std::uint64_t steps = 0;
    bool interrupted = false;
    for (;;) {
      const TimePoint next = std::max(now, next_time());
      if (next >= end) {
        break;
      }
      now = next;
      step(now);
      if (trace_.full()) {
        trace_.flush();
      }
      if ((++steps & (steps_between_looks - 1)) == 0 && options_.progress &&
          !options_.progress(static_cast<double>(now.time_since_epoch().count()) /
                             static_cast<double>(duration_.count()))) {
        interrupted = true;
        break;
      }
    }
    const TimePoint stopped = interrupted ? now : end;
    for (Partition& partition : partitions_) {
      partition.finish(stopped);
    }
    trace_.close();
    return result(stopped.time_since_epoch(), interrupted);
  }

 private:
  // A thread of an executor.
  struct Place {
    std::size_t process = 0;
    int cpu = 0;     // of its host
    int number = 0;  // of all cores
  };

  // The other streams are in model.cpp, offsets.cpp and withheld.cpp.
  static constexpr std::uint64_t external_stream = std::uint64_t{1} << 38U;
  static constexpr std::uint64_t steps_between_looks = std::uint64_t{1} << 18U;

  static bool is_fixed(const sched::CompiledApplication& compiled) {
    return std::ranges::all_of(compiled.strategy.scenarios(), [](const auto& scenario) {
      return scenario.policy().fixed_priority() && scenario.policy().preemptive();
    });
  }

  static const sched::Policy& policy_of(const sched::CompiledApplication& compiled) {
    return compiled.strategy.scenarios().front().policy();
  }

  // Core by core, in the order in which they decide: servers first.
  void add_processes() {
    const std::vector<application::Process>& processes = application_.processes;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      for (const int cpu : application::places_of(processes[i])) {
        order_.push_back({.process = i,
                          .cpu = cpu,
                          .number = application::core_number(application_, processes[i], cpu)});
      }
    }
    std::ranges::sort(order_, [&](const Place& left, const Place& right) {
      return left.number != right.number
                 ? left.number < right.number
                 : application::runs_before(processes[left.process], processes[right.process]);
    });
    std::vector<Partition*> first(processes.size(), nullptr);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Place& place = order_[i];
      add_partition(place, first[place.process]);
      if (i == 0 || order_[i - 1].number != place.number) {
        shared_.emplace_back(partitions_);
      }
      shared_.back().add(i, processes[place.process]);
    }
  }

  // `first`: the one of its process, if there is one.
  void add_partition(const Place& place, Partition*& first) {
    const sched::CompiledApplication& compiled = *model_.processes()[place.process];
    const application::Core* const declared =
        application::declared_core(application_, application_.processes[place.process], place.cpu);
    if (first == nullptr) {
      first = &partitions_.emplace_back(model_, compiled, 0, declared, is_fixed(compiled), trace_);
      first->set_cpu(place.number);
    } else {
      partitions_.emplace_back(*first, policy_of(compiled), place.number, declared);
    }
  }

  void begin() {
    for (const TopicState& topic : model_.topics()) {
      if (topic.external_period.count() > 0) {
        outside_.set(topic.shared.id, TimePoint{});
      }
    }
    schedule_switch();
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      const sched::CompiledApplication& own = compiled_of(i);
      partitions_[i].begin(*own.targets[own.strategy.default_scenario()]);
    }
    share_cores(TimePoint{});
  }

  // What decides in a partition.
  [[nodiscard]] const sched::CompiledApplication& compiled_of(
      std::size_t partition) const noexcept {
    return order_.empty() ? model_.compiled() : *model_.processes()[order_[partition].process];
  }

  [[nodiscard]] TimePoint next_time() const noexcept {
    TimePoint next = outside_.first_time();
    for (const Partition& partition : partitions_) {
      next = std::min(next, partition.next());
    }
    for (const SharedCore& core : shared_) {
      next = std::min(next, core.next());
    }
    return next;
  }

  // Everything that ends now has ended before anybody decides.
  void step(TimePoint now) noexcept {
    for (Partition& partition : partitions_) {
      if (partition.message_of_running() <= now) {
        partition.publish_running(now);
      }
      if (partition.end_of_running() <= now) {
        partition.end_running(now);
      }
    }
    while (outside_.first_time() <= now) {
      happen_outside(now);
    }
    if (!order_.empty()) {
      share_cores(now);
      return;
    }
    for (Partition& partition : partitions_) {
      if (partition.may_decide(now)) {
        partition.decide(now);
      }
    }
  }

  void share_cores(TimePoint now) noexcept {
    for (SharedCore& core : shared_) {
      core.decide(now);
    }
  }

  // An external message, or a switch of the scenario: the last entry of the calendar.
  void happen_outside(TimePoint now) noexcept {
    const std::uint32_t entry = outside_.first();
    if (entry < model_.topics().size()) {
      TopicState& topic = model_.topics()[entry];
      ++topic.external_messages;
      outside_.set(entry, std::max(now, external_time(topic)));
      if (trace_.on()) {
        trace_.record(trace::EventType::publish, now, trace::no_core, trace::no_task, 0,
                      static_cast<std::int64_t>(topic.published), topic.shared.id);
      }
      Partition::publish(topic, nullptr, now, now);
      return;
    }
    const std::string& name = application_.switches[next_switch_++].scenario;
    schedule_switch();
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      const sched::CompiledApplication& own = compiled_of(i);
      if (const auto scenario = own.strategy.find_scenario(name)) {  // else it knows none
        partitions_[i].switch_to(*own.targets[*scenario], now);
      }
    }
  }

  // Of the next message: up to the jitter early. In the worst case all come as early as possible.
  [[nodiscard]] TimePoint external_time(const TopicState& topic) const noexcept {
    const auto number = static_cast<std::int64_t>(topic.external_messages);
    const TimePoint latest{os::mul_sat(topic.external_period, number)};
    if (options_.execution == ExecutionTimes::worst || topic.external_jitter.count() == 0) {
      return latest - topic.external_jitter;
    }
    const RandomStream draws{options_.seed, external_stream + topic.shared.id};
    return latest - uniform(draws.at(topic.external_messages), topic.external_jitter);
  }

  void schedule_switch() noexcept {
    outside_.set(static_cast<std::uint32_t>(model_.topics().size()),
                 next_switch_ < application_.switches.size()
                     ? TimePoint{application_.switches[next_switch_].at}
                     : TimePoint::max());
  }

  [[nodiscard]] Result result(nanoseconds simulated, bool interrupted) {
    Result result{.application = application_.name,
                  .duration = simulated,
                  .duration_from = default_.reason,
                  .interrupted = interrupted,
                  .seed = options_.seed,
                  .drawn = options_.execution == ExecutionTimes::drawn,
                  .overheads = application_.overheads.any()};
    for (const TaskState& task : model_.tasks()) {
      result.callbacks.push_back(callback_result(task));
      result.jobs += result.callbacks.back().jobs;
      result.misses += result.callbacks.back().misses;
    }
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      CoreResult core = partitions_[i].result();
      if (!order_.empty()) {
        core.cpu = order_[i].cpu;
        core.host = application_.processes[order_[i].process].host;
      }
      if (!result.cores.empty() && result.cores.back().cpu == core.cpu &&
          result.cores.back().host == core.host) {
        result.cores.back().busy += core.busy;
        result.cores.back().jobs += core.jobs;
        result.cores.back().preemptions += core.preemptions;
      } else {
        result.cores.push_back(std::move(core));
      }
    }
    for (const ChainState& chain : model_.chains()) {
      result.chains.push_back({.name = chain.chain->name,
                               .max_latency = chain.chain->max_latency,
                               .violations = chain.violations,
                               .latency = chain.latency.distribution(),
                               .age = chain.age.distribution(),
                               .reaction = chain.reaction.distribution()});
    }
    return result;
  }

  [[nodiscard]] CallbackResult callback_result(const TaskState& task) const {
    const CallbackMetrics& metrics = task.metrics;
    CallbackResult result{.name = task.callback->task.name,
                          .cpu = model_.compiled().strategy.tasks()[task.index].cpu,
                          .releases = metrics.releases,
                          .unfinished = metrics.unfinished,
                          .skipped = metrics.skipped,
                          .misses = metrics.misses,
                          .preemptions = metrics.preemptions,
                          .early_releases = metrics.early_releases,
                          .budget_overruns = metrics.budget_overruns,
                          .age_violations = metrics.age_violations,
                          .without_data = metrics.without_data,
                          .old_data = metrics.old_data,
                          .overwritten = metrics.overwritten,
                          .lost_arrivals = metrics.lost_arrivals,
                          .computed = metrics.computed,
                          .response = metrics.response.distribution(),
                          .start_delay = metrics.start_delay.distribution(),
                          .data_age = metrics.data_age.distribution(),
                          .sample_age = metrics.sample_age.distribution()};
    result.jobs = result.response.count;
    if (!application_.processes.empty()) {
      const application::Process& process = application_.processes[task.callback->process];
      result.cpu = process.cpu;
      result.host = process.host;
    }
    return result;
  }

  const application::Application& application_;
  const Options& options_;
  DefaultDuration default_;
  nanoseconds duration_;
  Model model_;
  std::deque<Partition> partitions_;
  std::vector<Place> order_;  // of each partition; empty: there is one process
  std::vector<SharedCore> shared_;
  sched::Calendar outside_;  // topics by their ids, then switches of the scenario
  std::size_t next_switch_ = 0;
  Trace trace_;
};

// Of what the kernel's weights lead to, nothing is known.
void refuse_weights(const application::Application& robot) {
  for (const application::Process& one : robot.processes) {
    for (const application::Process& other : robot.processes) {
      if (application::share_by_weights(one, other)) {
        throw sched::ScheduleError(
            "process '" + one.name + "'",
            "it shares core " + std::to_string(one.cpu) + " with process '" + other.name +
                "' by weights (SCHED_OTHER), which is not simulated",
            "give one of them a reservation or a priority, or a core of its own");
      }
    }
  }
}

// With the offsets that it has.
Result simulate_as_is(const application::Application& application, const Options& options) {
  if (!application.processes.empty()) {
    refuse_weights(application);
    const application::Application extended = application::with_handover(application);
    return Simulation{extended, options}.run();
  }
  if (application::has_stock_executor(application)) {
    const application::Application extended = application::with_own_subscriptions(application);
    return Simulation{extended, options}.run();
  }
  return Simulation{application, options}.run();
}

}  // namespace

Result simulate(const application::Application& application, const Options& options) {
  if (options.execution == ExecutionTimes::drawn && has_any_offset(application)) {
    return simulate_as_is(with_drawn_offsets(application, options.seed), options);
  }
  return simulate_as_is(application, options);
}

}  // namespace takt::sim
