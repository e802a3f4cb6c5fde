// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/order_check.hpp"

#include <algorithm>
#include <cstdio>

namespace takt::sched {
namespace {

bool equivalent(const Policy& policy, const Job& a, const Job& b) noexcept {
  return !policy.before(a, b) && !policy.before(b, a);
}

std::optional<OrderRule> broken_by(const Policy& policy, const Job& a, const Job& b) noexcept {
  if (policy.before(a, a)) {
    return OrderRule::irreflexive;
  }
  if (policy.before(a, b) && policy.before(b, a)) {
    return OrderRule::asymmetric;
  }
  return std::nullopt;
}

std::optional<OrderRule> broken_by(const Policy& policy, const Job& a, const Job& b,
                                   const Job& c) noexcept {
  if (policy.before(a, b) && policy.before(b, c) && !policy.before(a, c)) {
    return OrderRule::transitive;
  }
  if (equivalent(policy, a, b) && equivalent(policy, b, c) && !equivalent(policy, a, c)) {
    return OrderRule::equivalence;
  }
  return std::nullopt;
}

std::string job_text(const Job& job) {
  return "task " + std::to_string(job.task) + " job " + std::to_string(job.index) + " (priority " +
         std::to_string(job.priority) + ", release " +
         std::to_string(job.release.time_since_epoch().count()) + " ns, deadline " +
         std::to_string(job.deadline.time_since_epoch().count()) + " ns, period " +
         std::to_string(job.period.count()) + " ns)";
}

const char* rule_text(OrderRule rule) noexcept {
  switch (rule) {
    case OrderRule::irreflexive:
      return "a job comes before itself";
    case OrderRule::asymmetric:
      return "two jobs come before each other";
    case OrderRule::transitive:
      return "a comes before b and b before c, but a not before c";
    case OrderRule::equivalence:
      return "neither of a and b comes first, nor of b and c, but one of a and c does";
  }
  return "";
}

// How many jobs a rule is about.
std::size_t jobs_of(OrderRule rule) noexcept {
  switch (rule) {
    case OrderRule::irreflexive:
      return 1;
    case OrderRule::asymmetric:
      return 2;
    case OrderRule::transitive:
    case OrderRule::equivalence:
      break;
  }
  return 3;
}

}  // namespace

std::optional<OrderViolation> find_order_violation(const Policy& policy,
                                                   std::span<const Job> jobs) noexcept {
  for (const Job& a : jobs) {
    for (const Job& b : jobs) {
      if (const auto rule = broken_by(policy, a, b)) {
        return OrderViolation{.rule = *rule, .jobs = {a, b, b}};
      }
      for (const Job& c : jobs) {
        if (const auto rule = broken_by(policy, a, b, c)) {
          return OrderViolation{.rule = *rule, .jobs = {a, b, c}};
        }
      }
    }
  }
  return std::nullopt;
}

std::string describe(const Policy& policy, const OrderViolation& violation) {
  std::string text = "policy '";
  text += policy.name();
  text += "': its order is not a strict weak ordering: ";
  text += rule_text(violation.rule);
  for (std::size_t i = 0; i < jobs_of(violation.rule); ++i) {
    text += i == 0 ? ": a = " : "; ";
    text += i == 0 ? "" : std::string{static_cast<char>('a' + i)} + " = ";
    text += job_text(violation.jobs.at(i));
  }
  return text + ". Fix: compare the same key of both jobs with <.";
}

bool OrderWatch::look(const Policy& policy, std::span<const Job> jobs) noexcept {
  if (reported_.load(std::memory_order_relaxed)) {
    return false;
  }
  const auto violation = find_order_violation(policy, jobs.first(std::min(jobs.size(), most_jobs)));
  if (!violation || reported_.exchange(true)) {
    return false;
  }
  const std::string text = describe(policy, *violation);
  std::fprintf(stderr, "takt: %s\n", text.c_str());
  return true;
}

}  // namespace takt::sched
