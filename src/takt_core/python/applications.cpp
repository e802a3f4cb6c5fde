// SPDX-License-Identifier: Apache-2.0
//
// What the Python package takt_core knows of applications and their traces: apart from the statistics,
// because who only measures needs no analysis, and need not wait until it is compiled.
#include "analysis.hpp"
#include "declared.hpp"
#include "errors.hpp"
#include "simulation.hpp"
#include "trace.hpp"

NB_MODULE(_applications, module) {
  module.doc() = "Takt's analysis, simulator and traces in C++; import takt_core instead.";
  // A program that ends with an error still holds what it was looking at.
  nanobind::set_leak_warnings(false);
  takt::bind_errors(module);
  takt::application::bind(module);
  takt::trace::bind(module);
  takt::analysis::bind(module);
  takt::sim::bind(module);
}
