// SPDX-License-Identifier: Apache-2.0
//
// Timing files that tests write, and what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "takt/rclcpp/timing.hpp"
#include "takt/sched/error.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::test {

using namespace std::chrono_literals;
using takt_rclcpp::CallbackId;
using takt_rclcpp::CallbackKind;
using takt_rclcpp::Timing;
using takt_rclcpp::TimingFile;

class WithFile : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "timing.yaml"; }

  [[nodiscard]] std::filesystem::path write(const std::string& content) const {
    std::ofstream{path(), std::ios::binary} << content;
    return path();
  }
  [[nodiscard]] TimingFile load(const std::string& content) const {
    return takt_rclcpp::load_timing(write(content));
  }
  // What it says of a callback.
  [[nodiscard]] Timing timing(const std::string& content, const CallbackId& id) const {
    return load(content).rule(id);
  }

  // What is refused: "LINE: problem. Fix: …", without the file; LINE 0: none.
  [[nodiscard]] std::string refusal(const std::string& content) const {
    return refusal_of(write(content));
  }
  [[nodiscard]] static std::string refusal_of(const std::filesystem::path& file) {
    try {
      (void)takt_rclcpp::load_timing(file);
      return "nothing is refused";
    } catch (const sched::ScheduleError& error) {
      EXPECT_FALSE(error.fix().empty()) << error.what();
      const std::string& where = error.where();
      if (!where.starts_with(file.string())) {
        return "another file is named: " + where;
      }
      const std::string rest = where.substr(file.string().size());
      return (rest.empty() ? "0" : rest.substr(1)) + ": " + error.problem() +
             ". Fix: " + error.fix();
    }
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace takt::test
