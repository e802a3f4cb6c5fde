# SPDX-License-Identifier: Apache-2.0
"""Quantities: what is written is what is read, and a number without a unit is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.documents import units


@given(st.integers(0, 10**15))
def test_a_formatted_duration_reads_back(nanoseconds: int) -> None:
    assert units.parse_duration(units.format_duration(nanoseconds)) == nanoseconds


@given(st.integers(0, 10**12))
def test_a_formatted_size_reads_back(size: int) -> None:
    assert units.parse_size(units.format_size(size)) == size


@given(st.integers(1, 10**9))
def test_a_formatted_rate_reads_back_as_its_period(hertz: int) -> None:
    period = units.parse_rate(f"{hertz}Hz")
    text = units.format_period(period)
    parse = units.parse_rate if text.endswith("Hz") else units.parse_duration
    assert parse(text) == period


@settings(deadline=None)
@given(st.integers(1, units.WIDEST))
def test_a_formatted_bandwidth_reads_back(bits_per_s: int) -> None:
    assert units.parse_bandwidth(units.format_bandwidth(bits_per_s)) == bits_per_s


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("10ms", 10**7), ("1.5 ms", 1_500_000), ("100µs", 10**5), ("2min", 12 * 10**10)],
)
def test_durations_carry_their_unit(text: str, nanoseconds: int) -> None:
    assert units.parse_duration(text) == nanoseconds


def test_kb_is_decimal_and_kib_binary() -> None:
    assert units.parse_size("32KB") == 32_000
    assert units.parse_size("32KiB") == 32_768


@pytest.mark.parametrize(
    "text", ["10", 10, 1.5, "ms", "-1ms", "1e3ms", "10 parsec", "", None, True]
)
def test_what_is_no_duration_is_refused_with_the_units(text: object) -> None:
    with pytest.raises(ValueError, match=r"duration such as 10ms \(units: ns, us"):
        units.parse_duration(text)


def test_half_a_nanosecond_is_refused() -> None:
    with pytest.raises(ValueError, match="whole number of ns"):
        units.parse_duration("0.5ns")


def test_no_rate_is_no_rate() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        units.parse_rate("0Hz")


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("30Hz", 33_333_333), ("29.97Hz", 33_366_700), ("1 kHz", 10**6), ("1hz", 10**9)],
)
def test_a_rate_is_rounded_to_a_whole_period(text: str, nanoseconds: int) -> None:
    assert units.is_rate(text)
    assert units.parse_rate(text) == nanoseconds


@pytest.mark.parametrize("text", ["10ms", "30", "Hz", "30 Hertz", 30, None, "9" * 100 + "Hz"])
def test_what_has_no_unit_of_a_rate_is_no_rate(text: object) -> None:
    assert not units.is_rate(text)
