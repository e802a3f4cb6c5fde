// SPDX-License-Identifier: Apache-2.0
//
// Applications with locks, in short.
#pragma once

#include <string>

#include "../analysis/documents.hpp"

namespace takt::analysis {

// Holds the lock after `begin` ticks of computing, for `length` ticks.
inline std::string section(const std::string& lock, std::int64_t begin, std::int64_t length) {
  return "{'lock': '" + lock + "', 'begin': " + std::to_string(begin) +
         ", 'longest': " + std::to_string(length) + "}";
}

inline std::string holds(const std::string& sections) {
  return ", 'critical_sections': [" + sections + "]";
}

inline std::string at(std::int64_t offset) {
  return ", 'offset': " + std::to_string(offset);
}

inline std::string mutex(const std::string& name, const std::string& protocol) {
  return "{'name': '" + name + "', 'protocol': '" + protocol + "'}";
}

inline std::string with_locks(const std::string& callbacks, const std::string& locks,
                              const std::string& more = "") {
  return app(callbacks, ", 'locks': [" + locks + "]" + more);
}

}  // namespace takt::analysis
