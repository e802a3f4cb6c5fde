// SPDX-License-Identifier: Apache-2.0
//
// The file of rules: those that match a callback are applied one after the other, so that what a
// later one says of it counts.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core_names.hpp"
#include "takt/rclcpp/timing.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "timing_document.hpp"
#include "timing_rules.hpp"
#include "timing_values.hpp"

namespace takt_rclcpp {
namespace {

constexpr std::array kinds{CallbackKind::timer,         CallbackKind::subscription,
                           CallbackKind::intra_process, CallbackKind::service,
                           CallbackKind::client,        CallbackKind::qos_event,
                           CallbackKind::waitable};

class Reader : Values {
 public:
  explicit Reader(const std::filesystem::path& file) : Values{file.string()}, file_{file} {}

  TimingFile read() {
    const YAML::Node root = load_document(file_, *this);
    try {
      return read(root);
    } catch (const YAML::Exception& problem) {
      refuse(problem.mark, problem.msg, "correct that line");
    }
  }

 private:
  [[nodiscard]] TimingFile read(const YAML::Node& root) const {
    // `takt spin` sets the threads, and reads what is said of them.
    expect_map(root, {"policy", "cpus", "callbacks", "threads"});
    TimingFile result;
    if (const YAML::Node policy = root["policy"]) {
      try {
        result.policy = sched::parse_policy(text(policy));
      } catch (const sched::ScheduleError& error) {
        refuse(policy.Mark(), error.problem(), error.fix());
      }
    }
    for (const YAML::Node& cpu : list(root["cpus"])) {
      const int number = static_cast<int>(integer(cpu, 0, 4095));
      if (std::ranges::find(result.cpus, number) != result.cpus.end()) {
        refuse(cpu.Mark(), "core " + std::to_string(number) + " stands here twice", "keep one");
      }
      result.cpus.push_back(number);
    }
    std::vector<Rule> rules;
    for (const YAML::Node& entry : list(root["callbacks"])) {
      rules.push_back(rule(entry));
      refuse_what_cannot_be(entry, rules.back(), result);
      rules.back().where = file_.string() + ":" + std::to_string(entry.Mark().line + 1);
    }
    result.rule = RulesOfFile{std::move(rules)};
    return result;
  }

  // What the executor would refuse when it meets the callback, which may be much later.
  void refuse_what_cannot_be(const YAML::Node& entry, const Rule& rule,
                             const TimingFile& of_executor) const {
    if (rule.cpu && !of_executor.cpus.empty() &&
        std::ranges::find(of_executor.cpus, *rule.cpu) == of_executor.cpus.end()) {
      refuse(entry["cpu"].Mark(), "core " + std::to_string(*rule.cpu) + " is none of cpus",
             "name one of them, or add it there");
    }
    const sched::PolicyPtr& policy = of_executor.policy;
    if (rule.waits.value_or(false) && policy &&
        (!policy->fixed_priority() || !policy->preemptive())) {
      refuse(
          entry["waits"].Mark(),
          "policy '" + std::string{policy->name()} + "' has no rule for callbacks that wait inside",
          "use a policy of fixed priorities ('fp', 'rm' or 'dm'), or leave waits out: then its "
          "waiting is execution time");
    }
  }

  // With its namespace, as tools of ROS show it; anything else would match nothing, unseen.
  [[nodiscard]] std::string full_name(const YAML::Node& node, const std::string& of,
                                      const std::string& tool) const {
    std::string name = text(node);
    if (name.find_first_of("*?") != std::string::npos) {
      refuse(node.Mark(), quoted(name) + " is a pattern, not the full name of a " + of,
             "write an entry for each, or leave out node or name, which means any");
    }
    if (!name.starts_with('/')) {
      refuse(node.Mark(), quoted(name) + " is no full name of a " + of,
             "write it with its namespace, as `ros2 " + tool + "` shows it: /" + name);
    }
    return name;
  }

  [[nodiscard]] CallbackKind kind(const YAML::Node& node) const {
    const std::string word = text(node);
    std::string known;
    for (const CallbackKind candidate : kinds) {
      if (word == to_text(candidate)) {
        return candidate;
      }
      known += (known.empty() ? "" : ", ") + std::string{to_text(candidate)};
    }
    refuse(node.Mark(), "unknown kind of callback " + quoted(word), "known kinds: " + known);
  }

  [[nodiscard]] std::vector<sched::Read> reads(const YAML::Node& node) const {
    if (!node.IsMap()) {
      refuse(node.Mark(), "a table of topics is expected here",
             "write reads: {/scan: {max_age: 15 ms}}, or {/scan: {}}");
    }
    std::vector<sched::Read> result;
    for (const auto& entry : node) {
      sched::Read read{.topic = full_name(entry.first, "topic", "topic list")};
      if (std::ranges::find(result, read.topic, &sched::Read::topic) != result.end()) {
        refuse(entry.first.Mark(), quoted(read.topic) + " stands here twice", "keep one");
      }
      if (!entry.second.IsNull()) {
        expect_map(entry.second, {"max_age"});
        if (const YAML::Node age = entry.second["max_age"]) {
          read.max_age = duration(age);
        }
      }
      result.push_back(std::move(read));
    }
    return result;
  }

  [[nodiscard]] Rule rule(const YAML::Node& node) const {
    expect_map(node, {"node", "kind", "name", "ordinal", "group", "priority", "deadline", "period",
                      "expected_execution", "budget", "cpu", "waits", "reads"});
    Rule rule;
    const auto read = [&](const char* key, auto& into, auto how) {
      if (const YAML::Node value = node[key]) {
        into = how(value);
      }
    };
    const auto number = [this](std::int64_t least, std::int64_t most) {
      return [this, least, most](const YAML::Node& value) { return integer(value, least, most); };
    };
    const auto time = [this](const YAML::Node& value) { return duration(value); };
    const auto word = [this](const char* of, const char* tool) {
      return [this, of, tool](const YAML::Node& value) { return full_name(value, of, tool); };
    };
    read("node", rule.node, word("node", "node list"));
    read("name", rule.name, word("topic or service", "topic list"));
    read("kind", rule.kind, [this](const YAML::Node& value) { return kind(value); });
    read("ordinal", rule.ordinal, number(0, std::numeric_limits<std::int32_t>::max()));
    read("group", rule.group, number(0, std::numeric_limits<std::int32_t>::max()));
    read("priority", rule.priority, number(1, 98));
    read("cpu", rule.cpu, number(0, 4095));
    read("deadline", rule.deadline, time);
    read("period", rule.period, time);
    read("expected_execution", rule.expected_execution, time);
    read("budget", rule.budget, time);
    read("waits", rule.waits, [this](const YAML::Node& value) { return truth(value); });
    read("reads", rule.reads, [this](const YAML::Node& value) { return reads(value); });
    return rule;
  }

  std::filesystem::path file_;
};

}  // namespace

TimingFile load_timing(const std::filesystem::path& file) {
  return Reader{file}.read();
}

}  // namespace takt_rclcpp
