// SPDX-License-Identifier: Apache-2.0
#include "quantities.hpp"

#include <nanobind/stl/string_view.h>

#include "takt/sched/quantity.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt {

void bind_quantities(nb::module_& module) {
  using sched::Quantity;
  nb::enum_<Quantity>(module, "Quantity", "What a text such as 10ms or 32KB is read as.")
      .value("DURATION", Quantity::duration)
      .value("SIZE", Quantity::size)
      .value("BANDWIDTH", Quantity::bandwidth)
      .value("SHARE", Quantity::share)
      .value("RATE", Quantity::rate);
  module.def("parse_quantity", &sched::parse_quantity, "quantity"_a, "text"_a,
             "The value in ns, bytes, bit/s or parts per million; of a rate, its period in ns.\n"
             "Raises ValueError, whose text continues a sentence that begins with the text read.");
  module.def("has_unit_of", &sched::has_unit_of, "quantity"_a, "text"_a,
             "Whether the text is a number followed by a unit of this quantity.");
  module.def(
      "units_of",
      [](Quantity quantity) {
        nb::dict units;
        nb::dict aliases;
        for (const sched::Unit& unit : sched::units_of(quantity)) {
          (unit.alias ? aliases : units)[nb::cast(unit.name)] = unit.factor;
        }
        return nb::make_tuple(units, aliases);
      },
      "quantity"_a, "The factors of all units, and of their other spellings.");
}

}  // namespace takt
