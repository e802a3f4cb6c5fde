// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/placement.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "check_cores.hpp"
#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

// What moves as a whole: all tasks that share groups or locks, or one task without either.
struct Cluster {
  std::vector<TaskIndex> tasks;
  double utilization = 0;
  int cpu = -1;          // asked for by a member
  TaskIndex asking = 0;  // that member
};

// Of each task the first one that must be on the same core.
std::vector<std::size_t> first_of_each(std::span<const Task> tasks) {
  std::vector<std::size_t> firsts(tasks.size());
  std::iota(firsts.begin(), firsts.end(), std::size_t{0});
  const auto first = [&](std::size_t i) {
    while (firsts[i] != i) {
      i = firsts[i];
    }
    return i;
  };
  std::unordered_map<std::string_view, std::size_t> groups;
  std::unordered_map<std::string_view, std::size_t> locks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto join = [&](std::unordered_map<std::string_view, std::size_t>& members,
                          std::string_view name) {
      const std::size_t one = first(members.emplace(name, i).first->second);
      const std::size_t other = first(i);
      firsts[std::max(one, other)] = std::min(one, other);
    };
    if (!tasks[i].group.empty()) {
      join(groups, tasks[i].group);
    }
    for (const std::string& lock : tasks[i].locks) {
      join(locks, lock);
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    firsts[i] = first(i);
  }
  return firsts;
}

// The lock that keeps a task on the core of the others; empty: it is a group.
std::string shared_lock(std::span<const Task> tasks, const Cluster& cluster, const Task& task) {
  for (const std::string& lock : task.locks) {
    if (std::ranges::any_of(cluster.tasks, [&](TaskIndex other) {
          return std::ranges::count(tasks[other].locks, lock) > 0;
        })) {
      return lock;
    }
  }
  return {};
}

void add_to(Cluster& cluster, std::span<const Task> tasks, TaskIndex index, double utilization) {
  const Task& task = tasks[index];
  if (task.cpu >= 0 && cluster.cpu >= 0 && task.cpu != cluster.cpu) {
    const std::string lock = shared_lock(tasks, cluster, task);
    const std::string cores = " must run on one core, but " + task_text(tasks[cluster.asking]) +
                              " asks for core " + std::to_string(cluster.cpu) + " and " +
                              task_text(task) + " for core " + std::to_string(task.cpu);
    if (!lock.empty()) {
      throw ScheduleError(
          "lock " + name_text(lock),
          "all tasks that take it" + cores + ": a lock across cores is not analysed yet",
          "ask for the same core, or give each core a lock of its own");
    }
    throw ScheduleError("group " + name_text(task.group), "its members" + cores,
                        "ask for the same core, or take one of them out of the group");
  }
  if (task.cpu >= 0 && cluster.cpu < 0) {
    cluster.cpu = task.cpu;
    cluster.asking = index;
  }
  cluster.tasks.push_back(index);
  cluster.utilization += utilization;
}

std::vector<Cluster> clusters_of(std::span<const Task> tasks,
                                 std::span<const double> utilizations) {
  std::vector<Cluster> clusters;
  const std::vector<std::size_t> firsts = first_of_each(tasks);
  std::vector<std::size_t> places(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (firsts[i] == i) {
      places[i] = clusters.size();
      clusters.emplace_back();
    }
    add_to(clusters[places[firsts[i]]], tasks, static_cast<TaskIndex>(i), utilizations[i]);
  }
  return clusters;
}

void assign(Core& core, const Cluster& cluster) {
  core.tasks.insert(core.tasks.end(), cluster.tasks.begin(), cluster.tasks.end());
  core.utilization += cluster.utilization;
}

// How many lanes of the callback are on the core.
std::ptrdiff_t lanes_on(const Core& core, const std::string& callback,
                        std::span<const Task> tasks) {
  return std::ranges::count_if(core.tasks,
                               [&](TaskIndex index) { return tasks[index].lane_of == callback; });
}

}  // namespace

void check_cores(std::string_view where, std::span<const int> cpus) {
  if (cpus.empty()) {
    throw ScheduleError(std::string(where), "none is given",
                        "name at least one, such as cpus = {1}");
  }
  std::set<int> used;
  for (const int cpu : cpus) {
    if (cpu < 0 || !used.insert(cpu).second) {
      throw ScheduleError(
          std::string(where),
          "core " + std::to_string(cpu) + (cpu < 0 ? " does not exist" : " is named twice"),
          "name each core once, from 0");
    }
  }
}

double utilization(const TaskParameters& parameters) noexcept {
  if (!parameters.active || parameters.period.count() <= 0) {
    return 0;
  }
  return static_cast<double>(parameters.expected_execution.count()) /
         static_cast<double>(parameters.period.count());
}

std::vector<Core> place(std::span<const Task> tasks, std::span<const double> utilizations,
                        std::span<const int> cpus) {
  check_cores("cores", cpus);
  std::vector<Core> cores;
  for (const int cpu : cpus) {
    cores.push_back({.cpu = cpu, .utilization = 0, .tasks = {}});
  }
  std::vector<Cluster> clusters = clusters_of(tasks, utilizations);
  for (const Cluster& cluster : clusters) {
    if (cluster.cpu < 0) {
      continue;
    }
    const auto core = std::ranges::find_if(
        cores, [&](const Core& candidate) { return candidate.cpu == cluster.cpu; });
    if (core == cores.end()) {
      throw ScheduleError(task_text(tasks[cluster.asking]),
                          "it asks for core " + std::to_string(cluster.cpu) +
                              ", which is not among the cores of this executor",
                          "ask for one of them, or add the core to the executor");
    }
    assign(*core, cluster);
  }
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.cpu >= 0; });
  // Whoever has gone takes no room from whoever is there.
  const auto is_vacant = [&](const Cluster& cluster) { return tasks[cluster.tasks[0]].vacant; };
  std::ranges::stable_sort(clusters, [&](const Cluster& a, const Cluster& b) {
    return is_vacant(a) != is_vacant(b) ? is_vacant(b) : a.utilization > b.utilization;
  });
  for (const Cluster& cluster : clusters) {
    const std::string& callback = tasks[cluster.tasks[0]].lane_of;
    const auto load = [&](const Core& core) {
      return std::tuple{callback.empty() ? 0 : lanes_on(core, callback, tasks), core.utilization,
                        core.tasks.size()};
    };
    assign(*std::ranges::min_element(cores, {}, load), cluster);
  }
  for (Core& core : cores) {
    std::ranges::sort(core.tasks);
  }
  return cores;
}

}  // namespace takt::sched
