// SPDX-License-Identifier: Apache-2.0
//
// Runs a measuring loop on a sample file of its own and reads back what it recorded.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "takt/probe/roles.hpp"

namespace takt::probe {

/// The outcome of `body`, called with a Bench, and its records in the order of the file.
template <class Body>
std::pair<Outcome, std::vector<Sample>> run_recorded(const Options& options, os::StopFlag& stop,
                                                     const Body& body) {
  std::string pattern = (std::filesystem::temp_directory_path() / "takt_loop_XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::vector<Sample> samples;
  Outcome outcome;
  {
    SampleFile file{folder / "samples", options.count};
    outcome = body(Bench{options, stop, &file});
    samples.resize(file.count());
    std::FILE* read = std::fopen((folder / "samples").c_str(), "rb");
    std::fseek(read, SampleFile::header_bytes, SEEK_SET);
    EXPECT_EQ(std::fread(samples.data(), sizeof(Sample), samples.size(), read), samples.size());
    std::fclose(read);
  }
  std::filesystem::remove_all(folder);
  return {outcome, std::move(samples)};
}

}  // namespace takt::probe
