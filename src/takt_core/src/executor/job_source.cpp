// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/job_source.hpp"

namespace takt::executor {

// Not inline, so that the type is defined here alone, and not once more in each library that uses
// it.
JobSource::~JobSource() = default;

}  // namespace takt::executor
