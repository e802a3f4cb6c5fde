// SPDX-License-Identifier: Apache-2.0
#include "takt/os/stolen_time.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace takt::os {
namespace {

// The lines of the cores come first: room for hundreds of them.
constexpr std::size_t read_bytes = std::size_t{64} * 1024;
constexpr int column_of_steal = 7;  // after user nice system idle iowait irq softirq

// The number at the begin of `text`, which moves behind it; -1: there is none.
std::int64_t take_number(std::string_view& text) noexcept {
  const std::size_t begin = text.find_first_not_of(' ');
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{} ? number : -1;
}

}  // namespace

StolenTime::StolenTime() : buffer_(read_bytes), file_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)) {}

StolenTime::~StolenTime() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void StolenTime::read(std::vector<OfCore>& cores) {
  static const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  cores.clear();
  const ssize_t size = file_ < 0 ? 0 : ::pread(file_, buffer_.data(), buffer_.size(), 0);
  std::string_view rest{buffer_.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  while (rest.starts_with("cpu")) {
    std::string_view line = rest.substr(3, rest.find('\n') - 3);
    rest.remove_prefix(std::min(rest.size(), line.size() + 4));
    if (line.starts_with(' ')) {
      continue;  // the sum over all cores
    }
    const std::int64_t core = take_number(line);
    std::int64_t ticks = 0;
    for (int column = 0; column <= column_of_steal; ++column) {
      ticks = take_number(line);
    }
    if (core >= 0 && ticks >= 0) {
      cores.push_back(
          {.core = static_cast<int>(core), .stolen = std::chrono::nanoseconds{ticks * tick_ns}});
    }
  }
}

}  // namespace takt::os
