// SPDX-License-Identifier: Apache-2.0
//
// What a build to measure has of the Python package takt_core. Loops over arrays release the
// interpreter lock; nothing here computes anything itself.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "quantities.hpp"
#include "takt/stats/exceedance.hpp"
#include "takt/stats/histogram.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::stats {
namespace {

using Int64Array = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Names the argument and what came instead; nanobind by itself only lists the signatures. A
// conversion would silently copy, round floats or wrap unsigned values.
std::span<const std::int64_t> int64_values(const nb::object& object) {
  Int64Array array;
  if (!nb::try_cast<Int64Array>(object, array, false)) {
    PyErr_Clear();  // what numpy's export said; it would spoil the calls below
    nb::object got = object.type().attr("__name__");
    if (nb::hasattr(object, "dtype") && nb::hasattr(object, "shape")) {
      got =
          nb::str("{} of {} with shape {}").format(got, object.attr("dtype"), object.attr("shape"));
    }
    const nb::str message =
        nb::str(
            "values must be a contiguous one-dimensional numpy array of int64, not {}; "
            "numpy.ascontiguousarray(values, dtype=numpy.int64) makes one")
            .format(got);
    throw nb::type_error(message.c_str());
  }
  return {array.data(), array.size()};  // valid while the caller holds `object`
}

void record_all(Histogram& histogram, const nb::object& values) {
  const auto span = int64_values(values);
  Histogram part;  // of its own, because another Python thread may use `histogram` meanwhile
  {
    const nb::gil_scoped_release release;
    for (const std::int64_t value : span) {
      part.record(std::chrono::nanoseconds{value});
    }
  }
  histogram.merge(part);
}

nb::object histogram_sum(const Histogram& histogram) {
  constexpr int word_bits = 64;
  const auto high = static_cast<std::int64_t>(histogram.sum() >> word_bits);
  const auto low = static_cast<std::uint64_t>(histogram.sum());
  return (nb::int_(high) << nb::int_(word_bits)) + nb::int_(low);
}

std::pair<double, double> compute_exceedance(std::int64_t exceeded, std::int64_t count,
                                             double confidence) {
  if (exceeded < 0 || count < 0) {
    throw std::invalid_argument{"exceeded and count must not be negative"};
  }
  const Exceedance result = exceedance(static_cast<std::uint64_t>(exceeded),
                                       static_cast<std::uint64_t>(count), confidence);
  return {result.probability, result.upper_bound};
}

auto histogram_buckets(const Histogram& histogram) {
  std::vector<std::int64_t> lower;
  std::vector<std::int64_t> upper;
  std::vector<std::uint64_t> count;
  for (const Histogram::Bucket& bucket : histogram.buckets()) {
    lower.push_back(bucket.lower.count());
    upper.push_back(bucket.upper.count());
    count.push_back(bucket.count);
  }
  return nb::make_tuple(column(std::move(lower)), column(std::move(upper)),
                        column(std::move(count)));
}

void bind(nb::module_& module) {
  module.def("exceedance", &compute_exceedance, "exceeded"_a, "count"_a, "confidence"_a = 0.95,
             "Probability that a deadline is exceeded, and its one-sided upper bound after\n"
             "Clopper & Pearson (1934), as a tuple.");

  nb::class_<Histogram>(module, "Histogram",
                        "Log-linear histogram of the whole int64 range: fixed memory, 1 % relative "
                        "error.")
      .def(nb::init<>())
      .def("record", &record_all, "values"_a.none(), "Adds all values of an int64 array, in ns.")
      .def("merge", &Histogram::merge, "other"_a)
      .def(
          "percentile",
          [](const Histogram& histogram, double percent) {
            return histogram.percentile(percent).count();
          },
          "percent"_a, "The value of nearest rank in ns, within 1 %.")
      .def("buckets", &histogram_buckets,
           "The buckets that hold something as three arrays: lower_ns (included), upper_ns\n"
           "(excluded), count.")
      .def_prop_ro("count", &Histogram::count)
      .def_prop_ro("min", [](const Histogram& histogram) { return histogram.min().count(); })
      .def_prop_ro("max", [](const Histogram& histogram) { return histogram.max().count(); })
      .def_prop_ro("mean", &Histogram::mean)
      .def_prop_ro("sum", &histogram_sum);
}

}  // namespace
}  // namespace takt::stats

NB_MODULE(_statistics, module) {
  module.doc() = "Takt's quantities and statistics in C++; import takt_core instead.";
  takt::bind_quantities(module);
  takt::stats::bind(module);
}
