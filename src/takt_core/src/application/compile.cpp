// SPDX-License-Identifier: Apache-2.0
#include "takt/application/compile.hpp"

#include <utility>

#include "../sched/check_cores.hpp"
#include "../sched/stock_executor.hpp"
#include "robot.hpp"
#include "takt/sched/policies.hpp"

namespace takt::application {

sched::CompiledStrategy compile(const Application& application) {
  if (!application.processes.empty()) {
    return compile_robot(application);
  }
  const sched::PolicyPtr stock = sched::stock_executor(application.policy);
  const sched::PolicyPtr policy = stock ? stock : sched::parse_policy(application.policy);
  sched::CompileOptions options{.cpus = application.cpus,
                                .external_topics = application.external_topics()};
  if (sched::has_threads(application.policy)) {  // any of its threads runs any callback
    std::vector<sched::Task> tasks = application.tasks();
    for (sched::Task& task : tasks) {
      task.cpu = -1;
    }
    sched::check_cores("cores", options.cpus);  // each is left to a thread of its own
    options.cpus.resize(1);
    return {std::move(tasks), policy, options};
  }
  return application.strategy
             ? sched::CompiledStrategy{application.tasks(), *application.strategy, policy, options}
             : sched::CompiledStrategy{application.tasks(), policy, options};
}

}  // namespace takt::application
