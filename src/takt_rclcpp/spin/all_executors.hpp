// SPDX-License-Identifier: Apache-2.0
//
// The executors of this rclcpp.
#pragma once

#include <rclcpp/executors/multi_threaded_executor.hpp>
#include <rclcpp/executors/single_threaded_executor.hpp>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>

#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define TAKT_HAS_CBG_EXECUTOR
#endif

#if __has_include(<rclcpp/executors/static_single_threaded_executor.hpp>)
#include <rclcpp/executors/static_single_threaded_executor.hpp>
#define TAKT_HAS_STATIC_EXECUTOR
// It is deprecated for those who use it, and replaced for them here.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
