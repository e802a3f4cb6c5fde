# SPDX-License-Identifier: Apache-2.0
"""Quantities as people write them: ``10ms``, ``32KB``, ``1kHz``; inside, whole ns and bytes.

The core reads them and knows the units (takt/sched/quantity.hpp), for these files and for the
timing files of its executors.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from takt_core import Quantity, has_unit_of, parse_quantity, units_of

from takt.errors import shortened

LARGEST = 2**63 - 1
LONGEST = parse_quantity(Quantity.DURATION, "876000h")  # a hundred years

WIDEST = 100 * 10**9  # bit/s

_DURATIONS, _ = units_of(Quantity.DURATION)
_SIZES = {unit: factor for unit, factor in units_of(Quantity.SIZE)[0].items() if "i" not in unit}
_BANDWIDTHS, _ = units_of(Quantity.BANDWIDTH)
_RATES, _ = units_of(Quantity.RATE)

LENGTH = 80  # of a quantity in a refusal; no sensible one has as many digits


def pattern(quantity: Quantity) -> str:
    """A regular expression of what is accepted for this quantity, for JSON Schemas."""
    units, aliases = units_of(quantity)
    return rf"[0-9]+(\.[0-9]+)? *({'|'.join([*units, *aliases])})"


def parse_duration(text: object) -> int:
    """Returns the duration in ns; raises ValueError for what is not one."""
    return _parse(Quantity.DURATION, text)


def parse_size(text: object) -> int:
    """Returns the size in bytes; raises ValueError for what is not one."""
    return _parse(Quantity.SIZE, text)


def parse_rate(text: object) -> int:
    """Returns the period in ns, rounded; raises ValueError for what is not a rate above 0."""
    return _parse(Quantity.RATE, text)


def is_rate(text: object) -> bool:
    """Whether this has the unit of a rate, as ``30Hz`` has."""
    return isinstance(text, str) and has_unit_of(Quantity.RATE, _encodable(text))


def parse_bandwidth(text: object) -> int:
    """Returns bit/s; raises ValueError for what is not a bandwidth above 0."""
    return _parse(Quantity.BANDWIDTH, text)


def parse_share(text: object) -> int:
    """Returns parts per million; raises ValueError for what is not a share of at most 100 %."""
    return _parse(Quantity.SHARE, text)


def format_share(ppm: int) -> str:
    """Writes a share in percent: ``0.1%``."""
    return f"{ppm / 10**4:g}%"


def format_duration(nanoseconds: int) -> str:
    """Writes a duration in the largest unit that needs no fraction: ``1500us``."""
    return _format(nanoseconds, _DURATIONS)


def format_size(size: int) -> str:
    """Writes a size in the largest decimal unit that needs no fraction: ``65536B``, ``32KB``."""
    return _format(size, _SIZES)


def format_bandwidth(bits_per_s: int) -> str:
    """Writes a bandwidth in the largest unit that needs no fraction: ``40Mbps``."""
    return _format(bits_per_s, _BANDWIDTHS)


def format_period(nanoseconds: int) -> str:
    """Writes a period as a rate where that is exact (``1kHz``), else as a duration (``15ms``)."""
    rate = Fraction(10**9, nanoseconds)
    if rate.denominator != 1:
        return format_duration(nanoseconds)
    return _format(rate.numerator, _RATES)


def _parse(quantity: Quantity, text: object) -> int:
    try:
        # A text of no quantity for a number of YAML, which has no unit.
        return parse_quantity(quantity, _encodable(text) if isinstance(text, str) else "")
    except ValueError as error:
        raise ValueError(f"{shortened(repr(text), LENGTH)} {error}") from None


def _encodable(text: str) -> str:
    """Without the halves of letters that an argument of a command may have."""
    return text.encode(errors="replace").decode()


def _format(value: int, units: Mapping[str, int]) -> str:
    unit, factor = max(
        (
            (unit, factor)
            for unit, factor in units.items()
            if value % factor == 0 and factor <= value
        ),
        key=lambda pair: pair[1],
        default=next(iter(units.items())),
    )
    return f"{value // factor}{unit}"
