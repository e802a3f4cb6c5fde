// SPDX-License-Identifier: Apache-2.0
#include "parse_locks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "../sched/text.hpp"
#include "locks.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {

Lock parse_lock(const Json& json, const std::string& path) {
  Object object{json, path};
  Lock lock;
  object.read("name", lock.name);
  if (lock.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  std::string protocol = "inheritance";
  object.read("protocol", protocol);
  if (protocol == "ceiling") {
    lock.protocol = LockProtocol::ceiling;
  } else if (protocol == "spin") {
    lock.protocol = LockProtocol::spin;
  } else if (protocol == "fmlp+") {
    lock.protocol = LockProtocol::fmlp_plus;
  } else if (protocol != "inheritance") {
    Object::fail(object.at("protocol"), "is not inheritance, ceiling, spin or fmlp+");
  }
  object.finish();
  return lock;
}

namespace {

CriticalSection parse_section(const Json& json, const std::string& path,
                              const std::vector<Lock>& locks) {
  Object object{json, path};
  CriticalSection section;
  std::string name;
  object.read("lock", name);
  const auto lock = std::ranges::find(locks, name, &Lock::name);
  if (lock == locks.end()) {
    Object::fail(object.at("lock"), "is none of locks");
  }
  section.lock = static_cast<std::size_t>(lock - locks.begin());
  object.read("begin", section.begin);
  static_cast<void>(object.get("longest"));
  object.read("longest", section.longest);
  section.shortest = section.longest;
  object.read("shortest", section.shortest);
  object.finish();
  if (section.begin.count() < 0 || section.begin > sched::longest_time) {
    Object::fail(object.at("begin"), "is not a time of up to 100 years");
  }
  if (section.longest.count() <= 0 || section.longest > sched::longest_time) {
    Object::fail(object.at("longest"), "is not a time above 0 of up to 100 years");
  }
  if (section.shortest.count() < 0 || section.shortest > section.longest) {
    Object::fail(object.at("shortest"), "is not between 0 and longest");
  }
  return section;
}

}  // namespace

void parse_critical_sections(Object& object, const std::vector<Lock>& locks, Callback& callback) {
  object.each("critical_sections", [&](const Json& item, const std::string& path) {
    callback.critical_sections.push_back(parse_section(item, path, locks));
  });
  std::ranges::stable_sort(callback.critical_sections, {}, [](const CriticalSection& section) {
    return std::pair{section.begin, -section.longest};
  });
  for (const CriticalSection& section : callback.critical_sections) {
    const std::string& name = locks[section.lock].name;
    if (goes_across_cores(locks[section.lock].protocol)) {
      continue;  // it may be taken on several cores
    }
    if (std::ranges::find(callback.task.locks, name) == callback.task.locks.end()) {
      callback.task.locks.push_back(name);
    }
  }
}

std::vector<sched::Level> lock_ceilings(const Application& application,
                                        const sched::Ceilings& levels) {
  std::vector<sched::Level> ceilings(application.locks.size(), sched::no_ceiling);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    for (const CriticalSection& section : application.callbacks[i].critical_sections) {
      // Whoever holds a lock across cores comes before all others of its core.
      ceilings[section.lock] =
          goes_across_cores(application.locks[section.lock].protocol)
              ? sched::infinite_ceiling
              : std::max(ceilings[section.lock],
                         levels.boosted_level(static_cast<sched::TaskIndex>(i)));
    }
  }
  return ceilings;
}

}  // namespace takt::application
