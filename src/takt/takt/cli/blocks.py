# SPDX-License-Identifier: Apache-2.0
"""What the suites of Sticha 2014 print of one measurement (sections 4.1 to 4.3).

These blocks are for reading; run.json has every digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from takt.documents.units import format_duration, format_period, format_size

if TYPE_CHECKING:
    from takt.measure.results.model import Cell, Extreme, Percentiles, Run, Statistics
    from takt.measure.results.supply import CoreSupply


def blocks(run: Run) -> Iterator[str]:
    """One block for each measurement of timers, messages or several threads that has samples."""
    of_kind = {
        "timer-oneshot": _one_shot,
        "timer-cyclic": _cyclic,
        "pubsub": _pubsub,
        "ethercat": _ethercat,
        "wakeup": _threads,
    }
    for cell in sorted(run.cells, key=lambda one: (one.stack, one.key, one.repetition)):
        if cell.statistics and cell.kind in of_kind and (cell.kind != "wakeup" or cell.threads > 1):
            yield "\n".join([f"{cell.id}:", *of_kind[cell.kind](cell, cell.statistics)]) + "\n"


def _one_shot(cell: Cell, found: Statistics) -> Iterator[str]:
    timeout = format_duration(round(cell.period_us * 1000))
    yield f"  {cell.sent} one-shot timers with a timeout of {timeout}"
    yield f"  Measured:   {_range(found.latency)}"
    own = found.one_shot
    if own and own.reported and own.difference:
        yield f"  Reported:   {_range(own.reported)}"
        yield f"  Difference: {_range(own.difference)}  (reported - measured)"
    else:
        yield "  Reported:   nothing; this timer does not report its delay"
    if own and own.never_fired:
        bound = format_duration(round(cell.lost_after_us * 1000))
        yield f"  Never fired within {bound}: {own.never_fired}"
    yield from _extremes(found.highest, found.lowest)


def _cyclic(cell: Cell, found: Statistics) -> Iterator[str]:
    own = found.cyclic
    rate = format_period(round(cell.period_us * 1000))
    yield f"  {cell.count} calls of a timer of {rate}"
    if own is None:
        yield "  too few calls for a jitter"
        return
    yield f"  Jitter: {_range(own.jitter)}  ({own.negative_share:.1%} negative)"
    first = ", ".join(f"{_us(value)} µs" for value in own.first_two_us)
    yield f"  First two, excluded from all other figures: {first}"
    passed = own.expiries - own.callbacks
    yield f"  Achieved rate: {own.rate_hz:.6g} Hz; {passed} of {own.expiries} expiries skipped"
    yield from _extremes(own.highest, own.lowest)


def _ethercat(cell: Cell, found: Statistics) -> Iterator[str]:
    own, rate = found.cyclic, format_period(round(cell.period_us * 1000))
    yield f"  {cell.sent} cycles at {rate}; {cell.lost} lost"
    for bus in [one.bus for one in cell.probes if one.bus]:
        yield f"  {bus.slaves} slaves; working counter {bus.expected_counter}, " + (
            f"wrong in {bus.wrong_counter} cycles" if bus.wrong_counter else "right in every cycle"
        )
    if own:
        yield f"  Period:     {_range(own.jitter, cell.period_us)}"
        yield f"  Jitter:     {_range(own.jitter)}"
    yield f"  Round trip: {_range(found.latency)}"


def _threads(_: Cell, found: Statistics) -> Iterator[str]:
    for one in found.threads:
        if one.latency:
            yield f"  {one.period_us:g} µs, {one.count} wake-ups: {_range(one.latency)}"


def _pubsub(cell: Cell, found: Statistics) -> Iterator[str]:
    size, rate = format_size(cell.payload_bytes), format_period(round(cell.period_us * 1000))
    to = "1 subscriber" if cell.subscribers == 1 else f"{cell.subscribers} subscribers"
    yield f"  {cell.sent} messages of {size} at {rate} to {to}"
    for number, one in enumerate(found.subscribers, 1):
        if len(found.subscribers) > 1:
            yield f"  Subscriber {number}:"
        yield (
            f"  Received: {one.count}; lost: {one.lost}; duplicated: {one.duplicated}; "
            f"out of order: {one.out_of_order}"
        )
        if one.latency:
            yield f"  {_range(one.latency)}"
        if one.first_us is not None:
            yield f"  First message, excluded from all other figures: {one.first_us:.0f} µs"
        yield from _extremes(one.highest, one.lowest)
    if check := cell.addresses:
        yield f"  Same address at sender and receiver: {check.same} of {check.compared} messages"


def supply_block(found: CoreSupply) -> str:
    """What a core provided, and who had it meanwhile."""
    lines = [f"core {found.cpu}: {found.windows} windows of {_time(found.window_us)}"]
    lines.append(
        f"  Provided:   {found.mean_share:.2%}; {found.least_share:.2%} in the worst window; "
        f"longest gap {_time(found.longest_gap_us)}"
    )
    if found.rate is None or found.delay_us is None:
        lines.append("  Supply:     none, because a window provided nothing")
    else:
        lines.append(f"  Supply:     rate {found.rate:.4f} after {_time(found.delay_us)}")
    if found.periodic:
        lines.append(
            f"  Periodic:   {_time(found.periodic.budget_us)} in {_time(found.periodic.period_us)}"
        )
    lines.append(
        f"  Latency:    {_time(found.latency_us)} (99 % of the wake-ups; slower ones: gap)"
    )
    points = [f"{_time(one.least_us)} of {_time(one.length_us)}" for one in found.curve]
    lines.append(f"  At least:   {', '.join(points[-6:])} in any stretch")
    short = found.short_gaps
    if short.period_us and short.median_us and short.longest_us:
        lines.append(
            f"  Gaps as of interrupts: one in {_time(short.period_us)}, median "
            f"{_time(short.median_us)}, longest {_time(short.longest_us)}"
        )
    lines += [f"  {text}" for text in _takers(found)]
    return "\n".join(lines) + "\n"


def _takers(found: CoreSupply) -> Iterator[str]:
    for one in found.takers:
        if one.kind == "program" and one.longest_us:
            seconds = _time((one.seconds or 0.0) * 1e6)
            longest = _time(one.longest_us)
            yield f"program {one.name}: {one.count} times, {seconds}, longest {longest}"
        elif one.kind == "steal":
            yield f"hypervisor: {_time((one.seconds or 0.0) * 1e6)} of steal time"
    for kind in ("interrupt", "softirq"):
        named = (f"{one.name} {one.count}" for one in found.takers if one.kind == kind)
        if text := ", ".join(named):
            yield f"{kind}s, also between windows: {text}"


def _time(time_us: float) -> str:
    return f"{time_us / 1000:.4g} ms" if time_us >= 1000 else f"{time_us:.4g} µs"


def _range(found: Percentiles, offset_us: float = 0.0) -> str:
    least, mean, most, p50, p99, p999 = (
        _us(value + offset_us)
        for value in (
            found.min_us, found.mean_us, found.max_us, found.p50_us, found.p99_us, found.p999_us
        )
    )  # fmt: skip
    return f"MIN: {least} µs  AVG: {mean} µs  MAX: {most} µs  (p50 {p50}, p99 {p99}, p99.9 {p999})"


def _us(value: float) -> str:
    """Whole µs, or tenths where whole ones would say nothing."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.1f}"


def _extremes(highest: Sequence[Extreme], lowest: Sequence[Extreme]) -> Iterator[str]:
    for name, values in (("highest", highest), ("lowest", lowest)):
        pairs = "|".join(f"{one.us:.0f}:{one.index}" for one in values)
        yield f"  Indices of {name} values (|µs:index|): |{pairs}|"
