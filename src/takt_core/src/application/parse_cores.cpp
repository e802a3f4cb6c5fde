// SPDX-License-Identifier: Apache-2.0
#include "parse_cores.hpp"

namespace takt::application {
namespace {

constexpr std::int64_t most_burst = 1'000;
// Sums over windows and bursts stay far from what fits into an integer.
constexpr nanoseconds longest = std::chrono::hours{1};

void read_time(Object& object, const char* key, nanoseconds least, nanoseconds& value) {
  object.read(key, value);
  if (value < least || value > longest) {
    Object::fail(object.at(key),
                 "is not a time from " + std::to_string(least.count()) + " ns to an hour");
  }
}

Supply parse_supply(const Json& json, const std::string& path) {
  constexpr nanoseconds tick{1};
  Object object{json, path};
  Supply supply;
  if (object.find("period") != nullptr) {
    read_time(object, "period", tick, supply.period);
    read_time(object, "budget", tick, supply.budget);
    if (supply.budget > supply.period) {
      Object::fail(object.at("budget"), "is above the period");
    }
  } else {
    supply.rate = Object::integer<std::int64_t>(object.get("rate"), object.at("rate"));
    if (supply.rate < 1 || supply.rate > Supply::whole) {
      Object::fail(object.at("rate"), "is not a number of billionths from 1 to 1000000000");
    }
    read_time(object, "delay", nanoseconds{0}, supply.delay);
  }
  object.finish();
  return supply;
}

Interrupts parse_interrupts(const Json& json, const std::string& path) {
  constexpr nanoseconds tick{1};
  Object object{json, path};
  Interrupts interrupts;
  read_time(object, "period", tick, interrupts.period);
  read_time(object, "duration", tick, interrupts.duration);
  object.read("burst", interrupts.burst);
  if (interrupts.burst < 1 || interrupts.burst > most_burst) {
    Object::fail(object.at("burst"), "is not a number from 1 to " + std::to_string(most_burst));
  }
  object.finish();
  return interrupts;
}

Measured parse_measured(const Json& json, const std::string& path) {
  constexpr std::int64_t most_windows = 1'000'000'000;
  constexpr nanoseconds tick{1};
  Object object{json, path};
  Measured measured;
  object.read("windows", measured.windows);
  if (measured.windows < 1 || measured.windows > most_windows) {
    Object::fail(object.at("windows"), "is not a number from 1 to " + std::to_string(most_windows));
  }
  read_time(object, "window", tick, measured.window);
  object.finish();
  return measured;
}

}  // namespace

Core parse_core(const Json& json, const std::string& path, std::string* host) {
  Object object{json, path};
  Core core{.cpu = Object::integer<int>(object.get("cpu"), object.at("cpu"))};
  if (host != nullptr) {
    object.read("host", *host);
  }
  if (const Json* const supply = object.find("supply")) {
    core.supply = parse_supply(*supply, object.at("supply"));
  }
  read_time(object, "latency", nanoseconds{0}, core.latency);
  object.each("interrupts", [&](const Json& item, const std::string& at) {
    core.interrupts.push_back(parse_interrupts(item, at));
  });
  if (const Json* const measured = object.find("measured")) {
    core.measured = parse_measured(*measured, object.at("measured"));
  }
  object.finish();
  return core;
}

}  // namespace takt::application
