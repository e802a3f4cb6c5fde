// SPDX-License-Identifier: Apache-2.0
//
// Whatever stands in a file, it is a trace from which a timeline can be drawn, or no trace.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "takt/trace/event.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/timeline.hpp"

namespace {

// In memory: a disk would be slower than the reader.
class File {
 public:
  File() : descriptor_{memfd_create("trace", 0)} {}

  void hold(const std::uint8_t* data, std::size_t size) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const File file;
  file.hold(data, size);
  try {
    const takt::trace::Trace trace = takt::trace::read_trace(file.path());
    check(trace.events.size() <= size / sizeof(takt::trace::Event));
    check(std::ranges::is_sorted(trace.events, {}, &takt::trace::Event::time));
    for (const takt::trace::Slice& slice : takt::trace::timeline(trace.events).slices) {
      check(slice.begin <= slice.end);
    }
  } catch (const std::runtime_error&) {  // no trace
  }
  return 0;
}
