// SPDX-License-Identifier: Apache-2.0
#include "takt/application/compile.hpp"

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
  const sched::CompileOptions options{.cpus = application.cpus,
                                      .external_topics = application.external_topics()};
  return application.strategy
             ? sched::CompiledStrategy{application.tasks(), *application.strategy, policy, options}
             : sched::CompiledStrategy{application.tasks(), policy, options};
}

}  // namespace takt::application
