// SPDX-License-Identifier: Apache-2.0
//
// What the Python package takt_core computes from an application: apart from the statistics,
// because who only measures needs no analysis, and need not wait until it is compiled.
#include "analysis.hpp"
#include "simulation.hpp"

NB_MODULE(_applications, module) {
  module.doc() = "Takt's analysis and simulator in C++; import takt_core instead.";
  takt::analysis::bind(module);
  takt::sim::bind(module);
}
