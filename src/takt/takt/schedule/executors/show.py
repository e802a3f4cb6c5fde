# SPDX-License-Identifier: Apache-2.0
"""The comparison for people: the executors, then each callback and chain under all of them."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from takt.pages.row_table import Columns, RowTable, count
from takt.pages.text import listed
from takt.schedule.analysis.show import WORDS
from takt.schedule.executors.model import Candidate, Comparison, Figures

Row = tuple[str, Figures]  # the candidates
_NAMED = 2  # of candidates with equal figures
_WIDEST = 48  # characters of their names: with the figures 100


def show(console: Console, comparison: Comparison) -> None:
    """Prints everything; the application's own executor stands first."""
    taken = {"worst": "every job takes its worst case", "drawn": "execution times drawn"}
    console.print(
        f"[bold]{escape(comparison.application)}[/], described for {comparison.described};"
        f" simulated for {comparison.duration_ms / 1000:.6g} s, {taken[comparison.execution]}"
        + (
            f"; executed {comparison.rounds} times for {comparison.measured_s:.6g} s each"
            if comparison.measured_s is not None
            else ""
        ),
        soft_wrap=True,
    )
    candidates = [one for one in comparison.candidates if one.refused is None]
    console.print(_candidates(candidates))
    for kind in ("callbacks", "chains"):
        names = dict.fromkeys(one.name for each in candidates for one in getattr(each, kind))
        for name in names:
            rows = [
                (each.name, one)
                for each in candidates
                for one in getattr(each, kind)
                if one.name == name
            ]
            console.print(_figures(name, rows))
    if comparison.scenario is not None:
        console.print(
            "rclcpp's executors have no scenarios: in scenario "
            f"{escape(comparison.scenario)} only; bounds are the largest of all "
            "scenarios, and hold while no job of another one is left",
            soft_wrap=True,
        )
    for each in candidates:
        if each.besides:
            console.print(
                f"{each.name}: not proved: {escape('; '.join(each.besides))}", soft_wrap=True
            )
    for finding in comparison.findings:
        console.print(f"measured: {escape(finding)}", soft_wrap=True)
    for each in candidates:
        if each.not_measured:
            console.print(
                f"{each.name} was not executed: {escape(each.not_measured)}", soft_wrap=True
            )
    for refused, why in _left_out(comparison.candidates):
        are = "is" if len(refused) == 1 else "are"
        console.print(f"{', '.join(refused)} {are} left out: {escape(why)}", soft_wrap=True)


def _left_out(candidates: list[Candidate]) -> list[tuple[list[str], str]]:
    """By reason, in which each policy is "its policy": else each had a reason of its own."""
    found: dict[str, list[str]] = {}
    for one in candidates:
        if one.refused is not None:
            why = one.refused.replace(f"policy '{one.policy}'", "its policy")
            found.setdefault(why, []).append(one.name)
    return [(names, why) for why, names in found.items()]


def _candidates(candidates: list[Candidate]) -> RowTable[Candidate]:
    def proved(one: Candidate) -> str:
        limited = [each for each in [*one.callbacks, *one.chains] if each.limit_us is not None]
        return f"{sum(each.verdict == 'meets' for each in limited)} of {len(limited)}"

    return RowTable(
        heading="executor",
        rows=candidates,
        name=lambda one: one.name,
        always={
            "limits\nproved": proved,
            "simulated\nabove": lambda one: count(
                sum(each.above for each in [*one.callbacks, *one.chains])
            ),
            "execution\ntimes": lambda one: "–" if one.factor is None else f"x {one.factor:.3g}",
            "": lambda one: Text.from_markup(WORDS[one.verdict]),
        },
        words=frozenset({""}),
    )


def _figures(name: str, rows: list[Row]) -> RowTable[Row]:
    limit = rows[0][1].limit_us
    columns: dict[str, Callable[[Row], object]] = {
        "bound": lambda row: _time(row[1].bound_us),
        "simulated\np50": lambda row: _time(row[1].p50_us),
        "\np99": lambda row: _time(row[1].p99_us),
        "\nmax": lambda row: _time(row[1].max_us),
    }
    if any(one.measured for _, one in rows):
        columns["measured\np99"] = lambda row: _measured(row[1], "p99_us")
        columns["\nlongest"] = lambda row: _measured(row[1], "max_us")
    columns[""] = lambda row: (
        Text.from_markup(WORDS[row[1].verdict]) if row[1].limit_us is not None else ""
    )
    return RowTable(
        heading=name if limit is None else f"{name} (limit {_time(limit)})",
        rows=_equal_once(rows, columns),
        name=lambda row: row[0],
        always=columns,
        words=frozenset({""}),
    )


def _measured(one: Figures, which: str) -> str:
    return _time(getattr(one.measured, which, None))


def _equal_once(rows: list[Row], columns: Columns[Row]) -> list[Row]:
    """One row for all candidates with the same figures; the largest group has its first name."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(str(cell(row)) for cell in columns.values()), []).append(row)
    largest = max(groups.values(), key=len)
    found = []
    for group in groups.values():
        names = [name for name, _ in group]
        found.append((_joined(names, all_named=group is not largest), group[0][1]))
    return found


def _joined(names: list[str], *, all_named: bool) -> str:
    """As many of them as have room beside the figures, then how many more there are."""
    if not all_named and len(names) > _NAMED:
        return listed(names, 1)
    named = len(names)
    while named > 1 and len(listed(names, named)) > _WIDEST:
        named -= 1
    return listed(names, named)


def _time(time_us: float | None) -> str:
    if time_us is None:
        return "–"
    return f"{time_us / 1000:.4g} ms" if time_us >= 1000 else f"{time_us:.4g} µs"
