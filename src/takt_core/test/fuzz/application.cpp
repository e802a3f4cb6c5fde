// SPDX-License-Identifier: Apache-2.0
//
// Whatever stands in the flat form of an application, it is refused in few words, or what an
// executor decides by can be made of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "takt/application/compile.hpp"
#include "takt/application/parse.hpp"
#include "takt/sched/error.hpp"

namespace {

constexpr std::size_t longest_refusal = 2000;

void check(const std::exception& refusal) {
  const std::string_view words{refusal.what()};
  if (words.empty() || words.size() > longest_refusal) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view json{reinterpret_cast<const char*>(data), size};
    static_cast<void>(takt::application::compile(takt::application::parse(json)));
  } catch (const takt::application::ParseError& refusal) {
    check(refusal);
  } catch (const takt::sched::ScheduleError& refusal) {
    check(refusal);
  }
  return 0;
}
