// SPDX-License-Identifier: Apache-2.0
#include "parse_segments.hpp"

#include <cstddef>
#include <string>

#include "../sched/text.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

Segment parse_segment(const Json& json, const std::string& path) {
  Object object{json, path};
  Segment segment;
  if (object.find("call") != nullptr) {
    object.read("call", segment.call);
    if (segment.call.empty()) {
      Object::fail(object.at("call"), "is not the name of a service");
    }
    object.finish();
    return segment;
  }
  static_cast<void>(object.get("longest"));
  object.read("longest", segment.longest);
  segment.shortest = segment.longest;
  object.read("shortest", segment.shortest);
  if (object.find("device") != nullptr) {
    object.read("device", segment.device);
    if (segment.device.empty()) {
      Object::fail(object.at("device"), "is not the name of a device");
    }
    segment.occupies = segment.longest;
  }
  object.finish();
  if (segment.longest.count() <= 0 || segment.longest > sched::longest_time) {
    Object::fail(object.at("longest"), "is not a time above 0 of up to 100 years");
  }
  if (segment.shortest.count() < 0 || segment.shortest > segment.longest) {
    Object::fail(object.at("shortest"), "is not between 0 and longest");
  }
  return segment;
}

}  // namespace

void parse_segments(Object& object, Callback& callback) {
  object.each("segments", [&](const Json& item, const std::string& path) {
    callback.segments.push_back(parse_segment(item, path));
  });
  const std::size_t count = callback.segments.size();
  if (count == 0) {
    return;
  }
  const std::string place = object.at("segments");
  if (count % 2 == 0 || count == 1) {
    Object::fail(place, "does not compute, wait, and so on, up to a last time of computing");
  }
  Segment computes;
  nanoseconds waits{0};
  for (std::size_t i = 0; i < count; ++i) {
    const Segment& segment = callback.segments[i];
    if (i % 2 == 0) {
      if (!segment.call.empty()) {
        Object::fail(place, "calls a service where it computes");
      }
      if (!segment.device.empty()) {
        Object::fail(place, "occupies a device where it computes");
      }
      computes.shortest += segment.shortest;
      computes.longest += segment.longest;
    } else {
      waits += segment.longest;
    }
  }
  if (computes.longest != callback.execution.worst ||
      computes.shortest != callback.execution.best) {
    Object::fail(place, "has other times of computing than execution");
  }
  if (waits != callback.suspension || std::ssize(callback.segments) / 2 != callback.suspensions) {
    Object::fail(place, "has other waits than suspension and suspensions");
  }
}

void check_segments(const Application& application) {
  if (!application.strategy) {
    return;
  }
  for (const Callback& callback : application.callbacks) {
    if (callback.segments.empty()) {
      continue;
    }
    for (const sched::ScenarioPtr& scenario : application.strategy->scenarios()) {
      for (const sched::TaskChange& change : scenario->tasks()) {
        if (change.task == callback.task.name && change.expected_execution) {
          throw sched::ScheduleError(
              sched::task_text(callback.task),
              "its segments say how long it computes, and scenario " +
                  sched::name_text(scenario->name()) + " says it anew",
              "remove wcet from the scenario, or give suspension in place of segments");
        }
      }
    }
  }
}

}  // namespace takt::application
