// SPDX-License-Identifier: Apache-2.0
//
// Chains of messages are analysed as a whole: on one core as units, across cores along the path.
#include <gtest/gtest.h>

#include <string>

#include "documents.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

std::string on_core(int cpu) {
  return ", 'cpu': " + std::to_string(cpu);
}

// Callbacks that follow each other, with these execution times.
struct Drawn {
  std::string callbacks;
  std::string names;
};

template <class More>
Drawn chain_of(int period, const std::vector<int>& executions, const std::string& name, More more) {
  Drawn result;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const std::string own = name + std::to_string(i);
    std::string rest = ", 'writes': ['" + own + "']" + more(static_cast<int>(i));
    if (rest.find("deadline") == std::string::npos) {
      rest += ", 'deadline': " + std::to_string(period);
    }
    result.callbacks +=
        i == 0 ? timer(own, period, executions[i], 1, rest)
               : "," + message(own, name + std::to_string(i - 1), executions[i], 1, rest);
    result.names += (i == 0 ? "'" : ", '") + own + "'";
  }
  return result;
}

std::string chains(const std::string& names, const std::string& more = "") {
  return ", 'chains': [{'name': 'whole', 'max_latency': 110000000, 'callbacks': [" + names + "]}]" +
         more;
}

std::string priority(int value) {
  return ", 'priority': " + std::to_string(value);
}

ChainReport analysed(const Drawn& chain, const std::string& more) {
  return analyse_json(app(chain.callbacks, chains(chain.names, more)))
      .scenarios.front()
      .chains.front();
}

// In us; one_chain_edf.app.yaml, one_chain_fp.app.yaml of the tests of the tool.
constexpr int period = 110'000;
const std::vector<int> executions = {690, 20'700, 1'460, 2'820, 3'600};

TEST(chains, one_alone_on_a_core_takes_what_its_callbacks_compute) {
  for (const auto* const policy : {"fp", "edf", "np-fp", "np-edf"}) {
    const Drawn chain = chain_of(period, executions, "b", [](int i) { return priority(50 + i); });
    const Report report = analyse_json(
        app(chain.callbacks, chains(chain.names, ", 'policy': '" + std::string{policy} + "'")));
    EXPECT_EQ(report.verdict, Verdict::meets) << policy;
    const ChainReport& whole = report.scenarios.front().chains.front();
    EXPECT_EQ(whole.latency, 29'270ns) << policy;
    EXPECT_TRUE(whole.bound_by.starts_with("chain on one core as a unit")) << whole.bound_by;
  }
}

TEST(chains, a_long_one_over_two_cores_takes_what_its_callbacks_compute) {
  for (const int length : {10, 20, 30}) {
    const Drawn chain =
        chain_of(10'000, std::vector<int>(static_cast<std::size_t>(length), 100), "n",
                 [](int i) { return priority(98 - i) + on_core(i % 2) + ", 'deadline': 100000"; });
    const ChainReport whole = analysed(chain, ", 'cpus': [0, 1]");
    EXPECT_EQ(whole.latency, length * 100ns);
    EXPECT_EQ(whole.bound_by, "path analysis (Schliecker & Ernst 2009), eq. 17");
  }
}

TEST(chains, a_more_urgent_timer_counts_once_for_a_chain) {
  const Drawn chain = chain_of(100, {5, 5, 5, 5}, "b", [](int i) { return priority(10 + i); });
  const std::string high = "," + timer("high", 100, 20, 50);
  const Report report = analyse_json(app(chain.callbacks + high, chains(chain.names)));
  EXPECT_EQ(report.scenarios.front().chains.front().latency, 40ns);
}

// Another chain's last callback is above the unit, the one before it below: its end brings one.
TEST(chains, of_a_chain_in_progress_only_what_one_end_releases_counts) {
  const Drawn own = chain_of(50, {5, 5}, "b", [](int) { return priority(5); });
  const Drawn other = chain_of(10, {1, 1, 2}, "o",
                               [](int i) { return priority(i == 2 ? 9 : 1) + ", 'deadline': 99"; });
  const Report report = analyse_json(app(own.callbacks + "," + other.callbacks, chains(own.names)));
  EXPECT_EQ(report.scenarios.front().chains.front().latency, 5ns + 5ns + 2ns);
}

// With rising priorities no later job of the chain comes before the ones after it (PiCAS); with
// falling ones it does.
TEST(chains, later_instances_delay_a_chain_with_falling_priorities_only) {
  const auto latency = [](bool rising) {
    const Drawn chain = chain_of(10, {3, 3, 3}, "b", [&](int i) {
      return priority(rising ? 10 + i : 10 - i) + ", 'deadline': 100";
    });
    const std::string high = "," + timer("high", 90, 6, 50);
    const std::string topics =
        ", 'topics': [{'name': 'b0', 'depth': 4}, {'name': 'b1', 'depth': 4}]";
    return analyse_json(app(chain.callbacks + high, chains(chain.names, topics)))
        .scenarios.front()
        .chains.front()
        .latency;
  };
  EXPECT_EQ(latency(true), 15ns);
  EXPECT_GT(latency(false), 15ns);
}

TEST(chains, callbacks_that_wait_on_the_core_are_analysed_one_by_one) {
  const Drawn chain = chain_of(100, {5, 5, 5}, "b", [](int i) { return priority(10 + i); });
  const std::string waits = "," + timer("w", 100, 2, 50, ", 'suspension': 3");
  const Report report = analyse_json(app(chain.callbacks + waits, chains(chain.names)));
  EXPECT_EQ(report.scenarios.front().chains.front().bound_by,
            "job chains (Davare et al. 2007; Dürr et al. 2019), eq. 10");
}

// A job of the first publishes three messages, so each callback after it runs three times. The
// chain's latency ends with the first message, ages with the last one.
TEST(chains, of_bursts_the_first_message_has_arrived_before_the_others) {
  const auto chain = [](const std::string& policy, int cores, bool rising) {
    const Drawn drawn = chain_of(100, {5, 4, 2}, "b", [&](int i) {
      return priority(rising ? 10 + i : 10 - i) + on_core(i % cores) +
             (i == 0 ? ", 'messages': {'b0': 3}" : "");
    });
    const std::string topics =
        ", 'topics': [{'name': 'b0', 'depth': 3}, {'name': 'b1', 'depth': 3}]";
    return analysed(drawn, topics + (cores == 1 ? ", 'cpus': [0]" : ", 'cpus': [0, 1]") +
                               ", 'policy': '" + policy + "'");
  };
  for (const auto* const policy : {"fp", "edf", "np-fp", "np-edf"}) {
    EXPECT_EQ(chain(policy, 1, false).latency, 5ns + 3 * 4ns + 2ns) << policy;
    EXPECT_EQ(chain(policy, 1, false).age, 5ns + 3 * (4ns + 2ns)) << policy;
    EXPECT_EQ(chain(policy, 2, false).latency, 5ns + 4ns + 2ns) << policy;
  }
  for (const auto* const policy : {"fp", "np-fp"}) {
    EXPECT_EQ(chain(policy, 1, true).latency, 5ns + 4ns + 2ns) << policy;
    EXPECT_EQ(chain(policy, 1, true).age, 5ns + 3 * (4ns + 2ns)) << policy;
  }
}

// Of the callbacks b0 to b9.
std::string topics_of_ten() {
  std::string topics = ", 'topics': [{'name': 'b0', 'depth': 3}";
  for (int i = 1; i < 10; ++i) {
    topics += ", {'name': 'b" + std::to_string(i) + "', 'depth': 3}";
  }
  return topics + "]";
}

// Over cores to which the chain comes back in turn, all messages are served at a callback before
// the first one has come to the next callback of that core: later ones delay it where they are, and
// not again at each callback.
TEST(chains, messages_of_a_burst_delay_a_path_once_where_they_keep_their_order) {
  const auto chain = [](const std::string& policy, int cores, bool falling, const auto& more) {
    const Drawn drawn = chain_of(500, std::vector<int>(10, 5), "b", [&](int i) {
      return priority(falling ? 40 - i : 40) + on_core(i % cores) +
             (i == 0 ? ", 'messages': {'b0': 3}" : "");
    });
    return analyse(parsed(app(drawn.callbacks + more,
                              chains(drawn.names, ", 'cpus': [0, 1, 2, 3], 'policy': '" + policy +
                                                      "'" + topics_of_ten()))),
                   {.sensitivity = false})
        .scenarios.front()
        .chains.front();
  };
  const std::string timer_above = "," + timer("t", 500, 7, 90, on_core(1) + ", 'deadline': 20");
  for (const auto* const policy : {"fp", "np-fp", "edf", "np-edf"}) {
    for (const bool falling : {false, true}) {
      const ChainReport two = chain(policy, 2, falling, "");
      EXPECT_EQ(two.latency, 70ns) << policy;
      EXPECT_EQ(two.age, 80ns) << policy;
      EXPECT_TRUE(two.bound_by.ends_with("eq. 17 and 39")) << two.bound_by;
      EXPECT_EQ(chain(policy, 4, falling, "").latency, 50ns) << policy;
      EXPECT_EQ(chain(policy, 4, falling, "").age, 60ns) << policy;
      EXPECT_EQ(chain(policy, 4, falling, timer_above).latency, 57ns) << policy;
    }
  }
}

// With rising priorities a later message may keep a core when the first one comes back to it,
// unless it has gone by then.
TEST(chains, messages_that_have_gone_delay_nothing_whatever_their_priorities_are) {
  const auto latency = [](int cores) {
    const Drawn drawn = chain_of(500, std::vector<int>(10, 5), "b", [&](int i) {
      return priority(10 + i) + on_core(i % cores) + (i == 0 ? ", 'messages': {'b0': 3}" : "");
    });
    return analyse(parsed(app(drawn.callbacks,
                              chains(drawn.names, ", 'cpus': [0, 1, 2, 3], 'policy': 'np-fp'" +
                                                      topics_of_ten()))),
                   {.sensitivity = false})
        .scenarios.front()
        .chains.front()
        .latency;
  };
  EXPECT_GT(latency(2), 70ns);
  EXPECT_EQ(latency(4), 50ns);
}

// A less urgent job keeps each core for the chain once, not at each of its visits.
TEST(chains, without_preemption_a_job_blocks_a_path_once) {
  for (const auto* const policy : {"np-fp", "np-edf"}) {
    const Drawn chain = chain_of(1000, {10, 10, 10, 10, 10, 10}, "b", [](int i) {
      return priority(i == 2 ? 30 : 40 - i) + on_core(i % 2) + ", 'deadline': 400";
    });
    const std::string cores = ", 'cpus': [0, 1], 'policy': '" + std::string{policy} + "'";
    EXPECT_EQ(analysed(chain, cores).latency, 60ns) << policy;
    const std::string low = "," + timer("low", 1000, 50, 5, on_core(1));
    const Report report = analyse_json(app(chain.callbacks + low, chains(chain.names, cores)));
    EXPECT_EQ(report.scenarios.front().chains.front().latency, 60ns + 49ns) << policy;
  }
}

// The other one goes the other way round: they meet on one core.
TEST(chains, of_an_instance_that_goes_the_other_way_a_path_meets_one_part) {
  const auto place = [](int i) { return ", 'deadline': 5000" + on_core(i); };
  const Drawn own =
      chain_of(1000, {10, 10, 10}, "b", [&](int i) { return priority(5) + place(i); });
  const Drawn other =
      chain_of(1000, {7, 8, 9}, "o", [&](int i) { return priority(9) + place(2 - i); });
  const auto latency = [&](const std::string& more) {
    return analyse_json(app(own.callbacks + "," + other.callbacks,
                            chains(own.names, ", 'cpus': [0, 1, 2]" + more)))
        .scenarios.front()
        .chains.front()
        .latency;
  };
  EXPECT_EQ(latency(""), 30ns + 9ns);
  // A message that comes before its job has ended may be met while that job goes on.
  EXPECT_GT(latency(", 'overheads': {'publish': 1}"), 30ns + 9ns + 8ns);
}

TEST(chains, sensitivity_counts_them_as_a_whole) {
  const Drawn chain = chain_of(period, executions, "b", [](int i) { return priority(50 + i); });
  const Report report = analyse_json(app(chain.callbacks, chains(chain.names)));
  EXPECT_GT(report.scenarios.front().sensitivity->all, 3.7);  // 110 of 29.27
}

TEST(chains, a_chain_has_no_latency_where_its_last_callback_never_runs) {
  const Report report = analyse_json(
      app(timer("a", 100, 10, 3, ", 'writes': ['x']") + "," +
              message("b", "x", 10, 2, ", 'writes': ['y']") + "," + message("c", "y", 10, 1),
          ", 'policy': 'fp', 'chains': [{'name': 'whole', 'callbacks': ['a', 'b', 'c']}], "
          "'scenarios': [{'name': 'on'}, {'name': 'off', 'tasks': [{'task': 'c', 'active': "
          "false}]}]"));
  ASSERT_EQ(report.scenarios.size(), 2U);
  EXPECT_EQ(report.scenarios[0].chains.front().latency, 30ns);
  EXPECT_FALSE(report.scenarios[1].chains.front().latency);
}

// The first one never runs, so no data comes: said of the chain, and of the data's age.
TEST(chains, without_a_bound_give_the_callback_that_never_runs) {
  const ScenarioReport scenario =
      analyse_json(app(timer("a", 100, 10, 3, ", 'writes': ['x'], 'active': false") + "," +
                           timer("b", 100, 10, 2, ", 'reads': [{'topic': 'x', 'max_age': 150}]"),
                       ", 'policy': 'fp', 'chains': [{'name': 'whole', 'callbacks': ['a', 'b']}]"))
          .scenarios.front();
  EXPECT_EQ(scenario.chains.front().bound_by, "'a' is never released in this scenario");
  EXPECT_EQ(scenario.ages.front().bound_by,
            "nothing that writes topic 'x' is released in this scenario");
}

struct Place {
  int chain;
  int core;
  int priority;
  int worst;
  int period;  // of a timer; 0: the callback before it in the chain releases it
};

std::string on_cores(const std::vector<Place>& places) {
  std::string callbacks;
  std::string topics;
  std::string chains;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const std::string name = std::to_string(i);
    const bool last = i + 1 == places.size() || places[i + 1].period > 0;
    const std::string more = ", 'cpu': " + std::to_string(place.core) + ", 'group': '" +
                             std::to_string(place.chain) + "_" + std::to_string(place.core) + "'" +
                             (last ? "" : ", 'writes': ['t" + name + "']");
    callbacks += (i > 0 ? "," : "") +
                 (place.period > 0 ? timer(name, place.period, place.worst, place.priority, more)
                                   : message(name, "t" + std::to_string(i - 1), place.worst,
                                             place.priority, more));
    topics += last ? "" : (topics.empty() ? "" : ",") + ("{'name': 't" + name + "', 'depth': 99}");
    chains +=
        (place.period > 0 ? (chains.empty() ? "" : "]},") +
                                ("{'name': 'c" + std::to_string(place.chain) + "', 'callbacks': [")
                          : std::string{","}) +
        "'" + name + "'";
  }
  return app(callbacks,
             ", 'cpus': [0, 1, 2, 3], 'topics': [" + topics + "], 'chains': [" + chains + "]}]");
}

// Chain 6 goes to and fro between two cores; `there`: the time of its callbacks on core 0.
std::vector<Place> to_and_fro(int there) {
  return {{1, 0, 41, 1257, 7400},   {1, 0, 42, 200, 0},      {1, 0, 43, 569, 0},
          {1, 0, 44, 500, 0},       {1, 0, 45, 700, 0},      {3, 2, 31, 5000, 54100},
          {3, 2, 32, 3000, 0},      {4, 3, 26, 8000, 61700}, {4, 3, 27, 2000, 0},
          {4, 3, 28, 1000, 0},      {4, 3, 29, 100, 0},      {4, 3, 30, 2000, 0},
          {5, 1, 23, 3000, 79000},  {5, 1, 24, 9000, 0},     {5, 3, 22, 9300, 0},
          {6, 3, 19, 10000, 81900}, {6, 0, 17, there, 0},    {6, 3, 20, 15000, 0},
          {6, 0, 18, there, 0},     {7, 3, 11, 4000, 84300}, {7, 3, 12, 500, 0},
          {7, 3, 13, 1000, 0},      {7, 3, 14, 1000, 0},     {9, 2, 4, 12000, 94400},
          {9, 3, 3, 18000, 0},      {9, 0, 1, 1000, 0},      {9, 0, 2, 3000, 0}};
}

// Jobs of any length up to the worst case: nothing is sure to delay others (eq. 44).
std::string of_any_length(std::string text) {
  const std::string worst = "{'worst'";
  for (std::size_t at = text.find(worst); at != std::string::npos; at = text.find(worst, at)) {
    text.insert(at + 1, "'best': 0, ");
  }
  return text;
}

// Its jitters grow without end. All of the effort went there once, and not even chain 1 had a
// bound, whose priorities are the highest.
TEST(chains, one_that_grows_without_end_leaves_the_others_their_bounds) {
  const ScenarioReport scenario =
      analyse_json(of_any_length(on_cores(to_and_fro(21400)))).scenarios.front();
  ASSERT_EQ(scenario.chains.size(), 7U);
  EXPECT_EQ(scenario.chains[0].latency, 3226ns);
  EXPECT_EQ(scenario.chains[1].latency, 8000ns);
  EXPECT_EQ(scenario.chains[2].latency, 13100ns);
  EXPECT_FALSE(scenario.chains[6].latency);
}

// Eq. 44: its jobs always take so long that what is above them is sure to come. Of any length its
// parts are later than their period, so that several releases lead to them (eq. 45).
TEST(chains, best_cases_beside_others_shorten_jitters) {
  const std::string text = on_cores(to_and_fro(18000));
  EXPECT_EQ(analyse_json(text).scenarios.front().chains[6].latency, 503070ns);
  EXPECT_EQ(analyse_json(of_any_length(text)).scenarios.front().chains[6].latency, 564774ns);
}

// Eq. 42: without the order of its parts on core 3 and on core 0 they grow without end, too.
TEST(chains, one_that_comes_back_has_a_bound) {
  const ScenarioReport scenario = analyse_json(on_cores(to_and_fro(18000))).scenarios.front();
  EXPECT_EQ(scenario.chains[4].latency, 224866ns);
  EXPECT_TRUE(scenario.chains[5].latency);
  EXPECT_TRUE(scenario.chains[6].latency);
}

// Their number alone is no reason to look at some of them only.
TEST(chains, many_of_them_are_all_followed) {
  constexpr int count = 550;
  std::string callbacks;
  for (int i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    const std::string core = on_core(i % 8);
    callbacks +=
        (i > 0 ? "," : "") +
        timer("a" + name, 1'000'000, 1, 1 + i % 98, core + ", 'writes': ['t" + name + "']") + "," +
        message("b" + name, "t" + name, 1, 1 + i % 98, core);
  }
  const Report report =
      analyse(parsed(app(callbacks, ", 'cpus': [0, 1, 2, 3, 4, 5, 6, 7]")), {.sensitivity = false});
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_FALSE(contains(report.scenarios.front().remarks, "too many ways"));
}

}  // namespace
}  // namespace takt::analysis
