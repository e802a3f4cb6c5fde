// SPDX-License-Identifier: Apache-2.0
//
// merge_hosts MERGED --host NAME FILE OFFSET_NS …
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <tuple>

#include "merge.hpp"

int main(int argc, char** argv) try {
  CLI::App app{"Make one trace of those that the hosts of a robot recorded.", "merge_hosts"};
  std::filesystem::path merged;
  std::vector<std::tuple<std::string, std::filesystem::path, std::int64_t>> hosts;
  app.add_option("MERGED", merged, "Trace file to create")->required();
  app.add_option("--host", hosts, "Name of a host, its trace, and ns to add to its times")
      ->required();
  CLI11_PARSE(app, argc, argv);
  std::vector<takt::runner::PartOfHost> parts;
  parts.reserve(hosts.size());
  for (const auto& [host, trace, offset] : hosts) {
    parts.push_back({.host = host, .trace = trace, .clock_offset = offset});
  }
  takt::runner::merge_hosts(parts, merged);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "merge_hosts: %s\n", error.what());
  return 1;
}
