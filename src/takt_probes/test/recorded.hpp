// SPDX-License-Identifier: Apache-2.0
//
// Runs a measuring loop on a sample file of its own and reads back what it recorded.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "takt/probe/roles.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::probe {

/// The outcome of `body`, called with a Bench, and its records in the order of the file.
template <class Body>
std::pair<Outcome, std::vector<Sample>> run_recorded(const Options& options, os::StopFlag& stop,
                                                     const Body& body) {
  const test::TemporaryFile path;
  SampleFile file{path.path(), options.count};
  const Outcome outcome = body(Bench{options, stop, &file});
  std::vector<Sample> samples(file.count());
  std::FILE* read = std::fopen(path.path().c_str(), "rb");
  std::fseek(read, SampleFile::header_bytes, SEEK_SET);
  EXPECT_EQ(std::fread(samples.data(), sizeof(Sample), samples.size(), read), samples.size());
  std::fclose(read);
  return {outcome, std::move(samples)};
}

}  // namespace takt::probe
