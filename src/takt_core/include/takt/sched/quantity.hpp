// SPDX-License-Identifier: Apache-2.0
/// @file
/// Quantities as people write them: 10ms, 32KB, 1kHz. Every file and option that has them, of the
/// tool and of the executors, is read by these functions. A number without a unit is refused,
/// because its unit would be a guess. KB and MB are powers of 1000, KiB and MiB powers of 1024.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "takt/visibility.hpp"

namespace takt::sched {

/// What is measured, and the unit in which parse_quantity() returns it.
enum class Quantity : std::uint8_t {
  duration,   ///< ns, up to longest_time
  size,       ///< bytes
  bandwidth,  ///< bit/s, from 1 bps to 100Gbps
  share,      ///< parts per million, up to 100%
  rate,       ///< the period in ns, rounded, from 1 ns to longest_time
};

/// One unit.
struct Unit {
  std::string_view name;    ///< as it is written, in UTF-8
  std::int64_t factor = 1;  ///< in the unit of parse_quantity(); of a rate, in Hz
  bool alias = false;       ///< another spelling of a unit before it
};

/// All units of a quantity, the aliases last.
TAKT_CORE_PUBLIC std::span<const Unit> units_of(Quantity quantity) noexcept;

/// Whether the text is a number followed by a unit of this quantity; the value may be out of range.
TAKT_CORE_PUBLIC bool has_unit_of(Quantity quantity, std::string_view text) noexcept;

/// The exact value of a decimal number followed by a unit, with spaces around both or without.
/// @param quantity what to read, which decides on the units and the range.
/// @param text at most 80 bytes.
/// @throws std::invalid_argument if the text is not this quantity, is out of its range, or (except
/// for rates) is not a whole number. what() continues a sentence that begins with the text: "is
/// not a duration such as 10ms (units: ns, us, ms, s, min, h)".
TAKT_CORE_PUBLIC std::int64_t parse_quantity(Quantity quantity, std::string_view text);

}  // namespace takt::sched
