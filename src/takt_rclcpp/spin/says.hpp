// SPDX-License-Identifier: Apache-2.0
//
// What the user is shown, and the report that `takt spin` reads: a line of fields parted by tabs.
#pragma once

#include <initializer_list>
#include <string>

namespace takt_rclcpp::spin {

/// Where the report is; without it none is written.
inline constexpr const char* report_variable = "TAKT_SPIN_REPORT";
/// "takt": rclcpp's executors are replaced. Otherwise their threads are reported.
inline constexpr const char* executor_variable = "TAKT_SPIN_EXECUTOR";
/// The timing file; may be missing.
inline constexpr const char* timing_variable = "TAKT_SPIN_TIMING";

/// The value of a variable; empty: it is not set.
std::string variable(const char* name);

/// "talker[4711]": this process.
std::string process_name();

/// A line on standard error, behind "takt spin: talker[4711]: ".
void say(const std::string& words);

/// A line of the report: its kind, this process, its program, and these fields.
void report(const char* kind, std::initializer_list<std::string> fields);

}  // namespace takt_rclcpp::spin
