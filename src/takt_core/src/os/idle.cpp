// SPDX-License-Identifier: Apache-2.0
#include "takt/os/idle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace takt::os {

NoDeepIdle::NoDeepIdle() : file_{open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC)} {
  const std::int32_t microseconds = 0;
  if (file_ >= 0 && write(file_, &microseconds, sizeof microseconds) == sizeof microseconds) {
    return;
  }
  refused_setting_ = {
      .what = "deep idle states held off",
      .why = "/dev/cpu_dma_latency: " + error_text(errno),
      .fix =
          "run as root, or give your user write access to that file; in a container "
          "add --device=/dev/cpu_dma_latency"};
  if (file_ >= 0) {
    close(file_);
    file_ = -1;
  }
}

NoDeepIdle::~NoDeepIdle() {
  if (file_ >= 0) {
    close(file_);
  }
}

}  // namespace takt::os
