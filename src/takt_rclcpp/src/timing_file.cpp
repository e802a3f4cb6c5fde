// SPDX-License-Identifier: Apache-2.0
//
// The file of rules: those that match a callback are applied one after the other, so that what a
// later one says of it counts.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "takt/rclcpp/timing.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::rclcpp {
namespace {

constexpr std::size_t most_bytes = 1024 * 1024;

// Where a fault is, and what mends it.
class Place {
 public:
  explicit Place(std::string file) : file_{std::move(file)} {}

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem,
                           const std::string& remedy) const {
    const std::string line = mark.is_null() ? "" : ":" + std::to_string(mark.line + 1);
    throw sched::ScheduleError(file_ + line, problem, remedy);
  }

 private:
  std::string file_;
};

struct Rule {
  std::optional<std::string> node;
  std::optional<CallbackKind> kind;
  std::optional<std::string> name;
  std::optional<std::size_t> ordinal;
  std::optional<std::size_t> group;

  std::optional<int> priority;
  std::optional<nanoseconds> deadline;
  std::optional<nanoseconds> period;
  std::optional<nanoseconds> expected_execution;
  std::optional<nanoseconds> budget;
  std::optional<int> cpu;
  std::optional<bool> waits;
  std::optional<std::vector<sched::Read>> reads;

  [[nodiscard]] bool matches(const CallbackId& id) const {
    const auto same = [](const auto& wanted, const auto& value) {
      return !wanted || *wanted == value;
    };
    return same(node, id.node) && same(kind, id.kind) && same(name, id.topic_or_service) &&
           same(ordinal, id.ordinal) && same(group, id.group);
  }

  void apply(Timing& timing) const {
    const auto set = [](auto& value, const auto& said) {
      if (said) {
        value = *said;
      }
    };
    set(timing.priority, priority);
    set(timing.deadline, deadline);
    set(timing.period, period);
    set(timing.expected_execution, expected_execution);
    set(timing.budget, budget);
    set(timing.cpu, cpu);
    set(timing.waits, waits);
    set(timing.reads, reads);
  }
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_{file}, place_{file.string()} {}

  TimingFile read() {
    const YAML::Node root = load();
    expect_map(root, {"policy", "cpus", "callbacks"});
    TimingFile result;
    if (const YAML::Node policy = root["policy"]) {
      try {
        result.policy = sched::parse_policy(text(policy));
      } catch (const sched::ScheduleError& error) {
        place_.refuse(policy.Mark(), error.problem(), error.remedy());
      }
    }
    for (const YAML::Node& cpu : list(root["cpus"])) {
      result.cpus.push_back(static_cast<int>(integer(cpu, 0, 4095)));
    }
    std::vector<Rule> rules;
    for (const YAML::Node& entry : list(root["callbacks"])) {
      rules.push_back(rule(entry));
    }
    result.rule = [rules = std::move(rules)](const CallbackId& id) {
      Timing timing;
      for (const Rule& said : rules) {
        if (said.matches(id)) {
          said.apply(timing);
        }
      }
      return timing;
    };
    return result;
  }

 private:
  YAML::Node load() {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file_, error)) {
      place_.refuse(YAML::Mark::null_mark(), "there is no such file",
                    "give the path of a timing file; `takt analyse --assign` writes one");
    }
    if (std::filesystem::file_size(file_, error) > most_bytes || error) {
      place_.refuse(YAML::Mark::null_mark(), "it has more than a megabyte",
                    "say what many callbacks share once, in an entry without node or kind");
    }
    std::ifstream stream{file_};
    std::stringstream content;
    content << stream.rdbuf();
    if (content.str().find('&') != std::string::npos) {
      place_.refuse(YAML::Mark::null_mark(), "it has anchors (&)", "write values out");
    }
    try {
      return YAML::Load(content.str());
    } catch (const YAML::Exception& problem) {
      place_.refuse(problem.mark, "it is not YAML: " + problem.msg, "mend that line");
    }
  }

  void expect_map(const YAML::Node& node, std::initializer_list<std::string_view> keys) const {
    if (!node.IsMap()) {
      place_.refuse(node.Mark(), "a table of keys and values is expected here",
                    "write 'key: value' lines; known keys: " + joined(keys));
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = text(entry.first);
      if (std::ranges::find(keys, key) == keys.end()) {
        place_.refuse(entry.first.Mark(), "unknown key '" + key + "'",
                      "known keys here: " + joined(keys));
      }
      if (!seen.insert(key).second) {
        place_.refuse(entry.first.Mark(), "key '" + key + "' stands here twice", "keep one");
      }
    }
  }

  static std::string joined(std::initializer_list<std::string_view> keys) {
    std::string all;
    for (const std::string_view key : keys) {
      all += (all.empty() ? "" : ", ") + std::string{key};
    }
    return all;
  }

  [[nodiscard]] std::vector<YAML::Node> list(const YAML::Node& node) const {
    if (!node || node.IsNull()) {
      return {};
    }
    if (!node.IsSequence()) {
      place_.refuse(node.Mark(), "a list is expected here", "write [a, b] or lines with '- '");
    }
    return {node.begin(), node.end()};
  }

  [[nodiscard]] std::string text(const YAML::Node& node) const {
    if (!node.IsScalar() || node.Scalar().empty() || node.Scalar().size() > 1000) {
      place_.refuse(node.Mark(), "a word is expected here", "write one, of at most 1000 letters");
    }
    return node.Scalar();
  }

  [[nodiscard]] std::int64_t integer(const YAML::Node& node, std::int64_t least,
                                     std::int64_t most) const {
    const std::string word = text(node);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most) {
      place_.refuse(node.Mark(),
                    "'" + word.substr(0, 40) + "' is no whole number from " +
                        std::to_string(least) + " to " + std::to_string(most),
                    "write such a number");
    }
    return value;
  }

  [[nodiscard]] bool truth(const YAML::Node& node) const {
    const std::string word = text(node);
    if (word != "true" && word != "false") {
      place_.refuse(node.Mark(), "'" + word.substr(0, 40) + "' is neither true nor false",
                    "write true or false");
    }
    return word == "true";
  }

  [[nodiscard]] nanoseconds duration(const YAML::Node& node) const {
    struct Unit {
      std::string_view name;
      double ns;
    };
    static constexpr std::array<Unit, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
    const std::string word = text(node);
    double value = 0;
    const char* const last = word.data() + word.size();
    auto [end, error] = std::from_chars(word.data(), last, value);
    end = std::find_if(end, last, [](char letter) { return letter != ' '; });
    const auto unit = std::ranges::find(units, std::string_view(end, last), &Unit::name);
    if (error != std::errc{} || unit == units.end() || !(value > 0) ||
        value * unit->ns > static_cast<double>(sched::longest_time.count())) {
      place_.refuse(node.Mark(), "'" + word.substr(0, 40) + "' is no length of time",
                    "write a positive number with ns, us, ms or s, such as 2.5 ms");
    }
    return nanoseconds{std::llround(value * unit->ns)};
  }

  [[nodiscard]] CallbackKind kind(const YAML::Node& node) const {
    std::string known;
    for (const CallbackKind candidate :
         {CallbackKind::timer, CallbackKind::subscription, CallbackKind::intra_process,
          CallbackKind::service, CallbackKind::client, CallbackKind::qos_event,
          CallbackKind::waitable}) {
      if (text(node) == to_text(candidate)) {
        return candidate;
      }
      known += (known.empty() ? "" : ", ") + std::string{to_text(candidate)};
    }
    place_.refuse(node.Mark(), "unknown kind of callback '" + text(node).substr(0, 40) + "'",
                  "known kinds: " + known);
  }

  [[nodiscard]] std::vector<sched::Read> reads(const YAML::Node& node) const {
    std::vector<sched::Read> result;
    if (!node.IsMap()) {
      place_.refuse(node.Mark(), "a table of topics is expected here",
                    "write reads: {/scan: {max_age: 15 ms}}, or {/scan: {}}");
    }
    for (const auto& entry : node) {
      sched::Read read{.topic = text(entry.first)};
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
    const auto read = [&node](const char* key, auto& into, auto how) {
      if (const YAML::Node value = node[key]) {
        into = how(value);
      }
    };
    const auto number = [this](std::int64_t least, std::int64_t most) {
      return [this, least, most](const YAML::Node& value) { return integer(value, least, most); };
    };
    const auto time = [this](const YAML::Node& value) { return duration(value); };
    const auto word = [this](const YAML::Node& value) { return text(value); };
    read("node", rule.node, word);
    read("name", rule.name, word);
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
  Place place_;
};

}  // namespace

TimingFile load_timing(const std::filesystem::path& file) {
  return Reader{file}.read();
}

}  // namespace takt::rclcpp
