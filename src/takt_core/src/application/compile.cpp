// SPDX-License-Identifier: Apache-2.0
#include "takt/application/compile.hpp"

#include "takt/sched/policies.hpp"

namespace takt::application {

sched::CompiledStrategy compile(const Application& application) {
  const sched::PolicyPtr policy = sched::parse_policy(application.policy);
  const sched::CompileOptions options{.cpus = application.cpus,
                                      .external_topics = application.external_topics()};
  return application.strategy
             ? sched::CompiledStrategy{application.tasks(), *application.strategy, policy, options}
             : sched::CompiledStrategy{application.tasks(), policy, options};
}

}  // namespace takt::application
