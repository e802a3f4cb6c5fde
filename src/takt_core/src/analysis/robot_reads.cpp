// SPDX-License-Identifier: Apache-2.0
#include "robot_reads.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "methods.hpp"
#include "takt/application/threads.hpp"

namespace takt::analysis {
namespace {

using application::Callback;

constexpr std::size_t most_ways = 64;  // to one reader
constexpr std::string_view age_of_chains = "longest age of the chains to it, eq. 10";

}  // namespace

// Backwards from a topic, over the messages that release its writers, to the timers that sample.
class RobotReads::Ways {
 public:
  explicit Ways(const application::Application& robot)
      : robot_(robot), visited_(robot.callbacks.size(), false) {}

  // Whether these are all of them.
  bool follow(const std::string& topic, const std::vector<std::string>& rest) {
    const application::Topic* const declared = robot_.find_topic(topic);
    bool known = declared == nullptr || !declared->external;
    for (std::size_t i = 0; i < robot_.callbacks.size(); ++i) {
      const Callback& writer = robot_.callbacks[i];
      if (std::ranges::find(writer.task.writes, topic) == writer.task.writes.end()) {
        continue;
      }
      if (visited_[i] || writer.server || writer.reentrant || found_.size() >= most_ways) {
        return false;  // a circle, data that comes by calls, or older data after newer
      }
      std::vector<std::string> path{writer.task.name};
      path.insert(path.end(), rest.begin(), rest.end());
      if (writer.task.kind == sched::TaskKind::timer) {
        found_.push_back(std::move(path));
        continue;
      }
      visited_[i] = true;
      known = follow(writer.task.trigger, path) && known;
      visited_[i] = false;
    }
    return known;
  }

  [[nodiscard]] std::vector<std::vector<std::string>>& found() noexcept { return found_; }

 private:
  const application::Application& robot_;
  std::vector<bool> visited_;
  std::vector<std::vector<std::string>> found_;
};

namespace {

// Whether all callbacks of the ways are of one process.
bool stays_within(const application::Application& robot, std::size_t process,
                  const std::vector<std::vector<std::string>>& ways) {
  return std::ranges::all_of(robot.callbacks, [&](const Callback& callback) {
    return callback.process == process || std::ranges::none_of(ways, [&](const auto& way) {
             return std::ranges::find(way, callback.task.name) != way.end();
           });
  });
}

}  // namespace

RobotReads::RobotReads(application::Application& robot) : described_(robot.chains.size()) {
  const application::Application whole = application::with_drivers(robot);
  for (const Callback& reader : whole.callbacks) {
    for (const sched::Read& read : reader.task.reads) {
      if (read.max_age.count() == 0) {
        continue;
      }
      Limited& limited = reads_.emplace_back(Limited{.report = {.callback = reader.task.name,
                                                                .topic = read.topic,
                                                                .source = {},
                                                                .max_age = read.max_age},
                                                     .chains = {}});
      Ways ways{whole};
      limited.known = ways.follow(read.topic, {reader.task.name}) && !ways.found().empty();
      limited.report.bound_by =
          stays_within(whole, reader.process, ways.found()) ? age_of_chains : methods::age_across;
      if (!ways.found().empty()) {
        limited.report.source = ways.found().front().front();
      }
      if (!limited.known) {
        continue;
      }
      for (std::vector<std::string>& way : ways.found()) {
        limited.chains.push_back(robot.chains.size());
        robot.chains.push_back({.name = reader.task.name + " reads " + read.topic + " of " +
                                        way.front() + ", " + std::to_string(robot.chains.size()),
                                .callbacks = std::move(way)});
      }
    }
  }
}

void RobotReads::complete(std::vector<ChainReport>& chains, std::vector<AgeReport>& ages) const {
  std::vector<AgeReport> result;
  for (const Limited& limited : reads_) {
    AgeReport report = limited.report;
    const auto own = std::ranges::find_if(ages, [&](const AgeReport& one) {
      return one.callback == report.callback && one.topic == report.topic;
    });
    if (own != ages.end() && own->age) {
      result.push_back(*own);
      continue;
    }
    if (limited.known) {
      std::optional<nanoseconds> age{0};
      for (const std::size_t chain : limited.chains) {
        const std::optional<nanoseconds>& way = chains[chain].age;
        age = age && way ? std::optional{std::max(*age, *way)} : std::nullopt;
      }
      report.age = age;
    }
    report.verdict =
        report.age && *report.age <= report.max_age ? Verdict::meets : Verdict::not_proved;
    result.push_back(std::move(report));
  }
  ages = std::move(result);
  chains.erase(std::next(chains.begin(), static_cast<std::ptrdiff_t>(described_)), chains.end());
}

}  // namespace takt::analysis
