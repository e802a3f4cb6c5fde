// SPDX-License-Identifier: Apache-2.0
//
// Chains across the processes of a robot: each part within a process has the bound that its process
// gives, from the release of its first callback to the end of its last. Parts follow each other by
// a message that releases the next one, whose handover is in the bound of the next part; or a timer
// of the next process reads it: it waits for the handover and up to a period more. Or a callback of
// the one part calls the server that begins the next one: it has sent its request before its end by
// what it does from then on; and where the part is the server alone, that has ended before the
// response came. The reaction adds what the first part adds; the age adds, in the place of these
// waits, how long data is used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/analysis/report.hpp"

namespace takt::analysis {

class RobotChains {
 public:
  // `robot`: with own subscriptions and handover; must outlive this object.
  explicit RobotChains(const application::Application& robot);

  // The parts that lie in this process, as chains of it.
  [[nodiscard]] std::vector<application::Chain> parts_of(std::size_t process) const;

  // Takes over the bounds of a process.
  void take(const ScenarioReport& report);

  // The chains, in the order of the application. `bounded`: false if there are no bounds.
  [[nodiscard]] std::vector<ChainReport> reports(bool bounded) const;

  // A remark for each chain whose data has no bound on its age, although its latency has one.
  [[nodiscard]] std::vector<std::string> without_age(const std::vector<ChainReport>& reports) const;

 private:
  struct Part {
    std::size_t process = 0;
    application::Chain chain;
  };
  [[nodiscard]] const application::Callback& callback(const std::string& name) const;
  [[nodiscard]] ChainReport report(std::size_t number) const;
  [[nodiscard]] LatencyTerm term_of(const Part& part, nanoseconds time) const;
  void add_terms(std::size_t chain, std::size_t number, std::int64_t drift,
                 std::vector<LatencyTerm>& terms) const;
  [[nodiscard]] bool is_connected(const Part& part, const Part& before) const;
  [[nodiscard]] std::string why_no_bound(std::size_t chain, std::size_t number) const;
  [[nodiscard]] std::string overwritten_before(const std::string& reader,
                                               const std::string& writer) const;
  [[nodiscard]] std::optional<std::int64_t> messages_within(const application::Callback& writer,
                                                            const application::Callback& reader,
                                                            const std::string& topic,
                                                            nanoseconds window) const;
  // What messages release from a timer on, as far as a chain was followed.
  struct Stretch {
    std::string head = {};   // the timer
    bool joined = false;     // it has passed a join
    bool held = false;       // its data was counted as used until the next comes
    bool overtaken = false;  // by data of a reentrant callback's later job
    bool loses = false;      // the next may stay away
  };
  // What data becomes older by between two parts.
  struct Way {
    nanoseconds handover{0};
    nanoseconds held{0};       // until the next comes, in the clock of its timer
    std::string why_not = {};  // it has no bound
  };
  struct Age {
    std::optional<nanoseconds> bound = {};
    std::string why_not = {};
  };
  [[nodiscard]] Age age(std::size_t number, bool loses) const;
  Way way_to(const Part& part, const Part& former, Stretch& stretch) const;
  [[nodiscard]] bool is_used_again(const Part& part) const;
  void hold(Stretch& stretch, Way& way) const;
  void follow(Stretch& stretch, const Part& part) const;
  [[nodiscard]] std::optional<nanoseconds> gap(const std::string& timer) const;
  [[nodiscard]] bool has_other_writers(const std::string& reader, const std::string& writer) const;
  [[nodiscard]] bool has_other_clients(const std::string& server, const std::string& client) const;
  [[nodiscard]] bool is_followed(const std::string& reader, const std::string& writer) const;
  [[nodiscard]] const application::Link* link_before(const Part& part, const Part& before) const;
  [[nodiscard]] nanoseconds handover_before(const Part& part, const Part& before) const;
  [[nodiscard]] bool is_released_by(const std::string& reader, const std::string& writer) const;
  [[nodiscard]] bool is_called(const Part& part, const Part& before) const;
  [[nodiscard]] bool ends_by_response(std::size_t chain, std::size_t number) const;
  [[nodiscard]] nanoseconds after_call(std::size_t chain, std::size_t number) const;
  [[nodiscard]] std::string loss_before(const std::string& reader) const;
  [[nodiscard]] std::optional<nanoseconds> wait(const std::string& reader) const;

  const application::Application& robot_;
  std::vector<std::vector<Part>> parts_;  // by chain
  std::map<std::string, ChainReport> bounds_;
  std::map<std::string, CallbackReport> callbacks_;
};

}  // namespace takt::analysis
