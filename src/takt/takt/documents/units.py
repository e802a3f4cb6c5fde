# SPDX-License-Identifier: Apache-2.0
"""Quantities as people write them: ``10ms``, ``32KB``, ``1kHz``; inside, whole ns and bytes.

A bare number is refused: its unit would be a guess. KB and MB are powers of 1000, KiB and MiB
powers of 1024.
"""

from __future__ import annotations

import re
from fractions import Fraction

from takt.errors import shortened

DURATIONS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
BANDWIDTHS = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
SHARES = {"ppm": 1, "%": 10**4}
RATES = {"Hz": 1, "kHz": 10**3, "MHz": 10**6}

LARGEST = 2**63 - 1
LONGEST = 100 * 365 * 24 * DURATIONS["h"]  # far below what 64 bits of ns hold

WIDEST = 100 * 10**9  # bit/s

LENGTH = 80  # of a quantity; no sensible one has as many digits

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([^\s0-9.]+)\s*")
_ALIASES = {"µs": "us", "μs": "us", "kB": "KB", "khz": "kHz", "hz": "Hz"}


def pattern(units: dict[str, int]) -> str:
    """A regular expression of what is accepted with these units, for JSON Schemas."""
    spelled = [*units, *(alias for alias, unit in _ALIASES.items() if unit in units)]
    return rf"[0-9]+(\.[0-9]+)? *({'|'.join(spelled)})"


def parse_duration(text: object) -> int:
    """Returns the duration in ns; raises ValueError for what is not one."""
    duration = _whole(_parse(text, DURATIONS, "a duration such as 10ms"), text, "ns")
    if duration > LONGEST:
        raise ValueError(f"{text!r} is longer than a hundred years")
    return duration


def parse_size(text: object) -> int:
    """Returns the size in bytes; raises ValueError for what is not one."""
    size = _whole(_parse(text, SIZES, "a size such as 500B or 32KB"), text, "bytes")
    if size > LARGEST:
        raise ValueError(f"{text!r} does not fit in 64 bits")
    return size


def parse_rate(text: object) -> int:
    """Returns the period in ns, rounded; raises ValueError for what is not a rate above 0."""
    rate = _parse(text, RATES, "a rate such as 1kHz")
    if rate == 0:
        raise ValueError("rate must be greater than 0 Hz")
    return max(1, round(10**9 / rate))


def is_rate(text: object) -> bool:
    """Whether this has the unit of a rate, as ``30Hz`` has."""
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= LENGTH else None
    return match is not None and _ALIASES.get(match[2], match[2]) in RATES


def parse_bandwidth(text: object) -> int:
    """Returns bit/s; raises ValueError for what is not a bandwidth above 0."""
    bandwidth = _whole(_parse(text, BANDWIDTHS, "a bandwidth such as 40Mbps"), text, "bit/s")
    if not 0 < bandwidth <= WIDEST:
        raise ValueError(f"{text!r} must be greater than 0 and at most 100Gbps")
    return bandwidth


def parse_share(text: object) -> int:
    """Returns parts per million; raises ValueError for what is not a share of at most 100 %."""
    share = _whole(_parse(text, SHARES, "a share such as 0.1%"), text, "parts per million")
    if share > 10**6:
        raise ValueError(f"{text!r} exceeds 100%")
    return share


def format_share(ppm: int) -> str:
    """Writes a share in percent: ``0.1%``."""
    return f"{ppm / 10**4:g}%"


def format_duration(nanoseconds: int) -> str:
    """Writes a duration in the largest unit that needs no fraction: ``1500us``."""
    return _format(nanoseconds, DURATIONS)


def format_size(size: int) -> str:
    """Writes a size in the largest decimal unit that needs no fraction: ``65536B``, ``32KB``."""
    return _format(size, {unit: factor for unit, factor in SIZES.items() if "i" not in unit})


def format_bandwidth(bits_per_s: int) -> str:
    """Writes a bandwidth in the largest unit that needs no fraction: ``40Mbps``."""
    return _format(bits_per_s, BANDWIDTHS)


def format_period(nanoseconds: int) -> str:
    """Writes a period as a rate where that is exact (``1kHz``), else as a duration (``15ms``)."""
    rate = Fraction(10**9, nanoseconds)
    if rate.denominator != 1:
        return format_duration(nanoseconds)
    return _format(rate.numerator, RATES)


def _parse(text: object, units: dict[str, int], example: str) -> Fraction:
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= LENGTH else None
    unit = _ALIASES.get(match[2], match[2]) if match else ""
    if match is None or unit not in units:
        written = shortened(repr(text), LENGTH)
        raise ValueError(f"{written} is not {example} (units: {', '.join(units)})")
    return Fraction(match[1]) * units[unit]


def _whole(value: Fraction, text: object, unit: str) -> int:
    if value.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of {unit}")
    return value.numerator


def _format(value: int, units: dict[str, int]) -> str:
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
