# SPDX-License-Identifier: Apache-2.0
"""What ``takt compare`` prints and writes of a comparison."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from takt.cli.output import stderr, stdout
from takt.judge import ci
from takt.measure.statistics.compare_model import (
    Comparison,
    Judged,
    Outcome,
    Shift,
)
from takt.pages.row_table import RowTable, of_cells
from takt.pages.text import count, number_of, probability
from takt.statistics.judgement import Outcome as Verdict

_VERDICTS = {
    Outcome.regressed: Verdict.fails,
    Outcome.unchanged: Verdict.meets,
    Outcome.undecided: Verdict.undecided,
}
_GONE = "measured in A, missing in B"
_STYLES = {Outcome.regressed: "bold red", Outcome.undecided: "yellow"}


def table(result: Comparison) -> RowTable[Any]:
    """A row for each cell."""

    def written(change: Shift | None) -> tuple[str, str]:
        if change is None:
            return "–", "–"
        return f"{change.ratio:.3f}", f"{change.low:.3f} … {change.high:.3f}"

    rows = []
    for cell in result.cells:
        verdict = Text("", style="")
        if not cell.changes and not cell.regressed:
            verdict = Text("not compared", style="yellow")
        elif style := _STYLES.get(cell.outcome):
            verdict = Text(cell.outcome.value, style=style)
        late = cell.shares.get("late")
        after = ", ".join(map(probability, late.shares)) if late else "–"
        lost = f"{cell.lost[0]}, {cell.lost[1]}"
        ratios = (*written(cell.changes.get("p50")), *written(cell.changes.get("p99")))
        sides = ", ".join(one.value for one in cell.sides)
        rows.append((cell.key, *ratios, after, lost, sides, verdict))
    rows += [
        (key, *"–––––", "–", "–", Text(Outcome.regressed.value, style="bold red"))
        for key in result.gone
    ]
    headings = (
        *("cell", "p50 B/A", "interval of p50", "p99 B/A", "interval of p99"),
        *("late A, B", "lost A, B", "outcome A, B", ""),
    )
    return of_cells(headings, rows, words=[""])


def remarks(result: Comparison) -> list[str]:
    """What is different beside the quantities."""
    found = [f"only in A: {key}" for key in result.only_a]
    found += [f"only in B: {key}" for key in result.only_b]
    by_note: dict[str, list[str]] = {}
    for cell in result.cells:
        for note in cell.notes:
            by_note.setdefault(note, []).append(cell.key)
    for note, keys in by_note.items():
        of = keys[0] if len(keys) == 1 else f"{len(keys)} cells"
        found.append(f"{of}: {note}")
    return [*found, *result.notes]


def lines(result: Comparison) -> list[str]:
    """A line for each quantity that regressed, and for each undecided cell."""
    found = [
        f"{cell.key}: {one.quantity} regressed: {one.reason}"
        for cell in result.cells
        for one in cell.of(Outcome.regressed)
    ]
    found += [f"{key}: regressed: {_GONE}" for key in result.gone]
    for cell in result.undecided:
        open_ = [f"{one.quantity} ({_needed(one)})" for one in cell.of(Outcome.undecided)]
        found.append(f"{cell.key}: undecided: {', '.join(open_)}")
    return found


def _needed(one: Judged) -> str:
    """What it takes to decide."""
    if one.needed is None:
        many = one.quantity in ("late", "lost") and not one.disturbed
        return "more than 1000 repetitions" if many else one.reason
    return f"about {one.needed} repetitions in each run"


def show(result: Comparison, suites: Sequence[ci.Suite], last: str) -> None:
    """Print the table, what differs, the regressions and undecided cells, and the conclusion."""
    stdout().print(table(result))
    for line in remarks(result):
        stderr().print(line, markup=False, soft_wrap=True)
    for line in [*lines(result), last]:
        stdout().print(line, markup=False, soft_wrap=True)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in ci.workflow_commands(suites):
            typer.echo(line)


def suite(result: Comparison, name: str, summary: str) -> ci.Suite:
    """The comparison as the cases of a test suite."""
    cases = [
        ci.Case(
            subject=cell.key,
            quantity=one.quantity,
            outcome=_VERDICTS[one.outcome],
            message=one.reason if one.needed is None else f"{one.reason}; needs {_needed(one)}",
            columns=(one.reason, "" if one.needed is None else f"{one.needed}"),
        )
        for cell in result.cells
        for one in cell.judged
    ]
    cases += [ci.Case(key, "samples", Verdict.fails, _GONE, (_GONE, "")) for key in result.gone]
    return ci.Suite(
        name=name,
        command="compare",
        summary=summary,
        headings=("measured", "repetitions needed"),
        cases=cases,
        remarks=remarks(result),
    )


def conclusion(result: Comparison, threshold: float, confidence: float) -> str:
    """The last line: a "no" only where it was shown, and beside it what no ratio shows."""
    limit = f"by more than {threshold * 100:g} %"
    sure = f"(confidence {confidence:g} %)"
    every = len(result.cells) + len(result.gone)
    if result.regressed:
        kinds = Counter(one.quantity for cell in result.cells for one in cell.of(Outcome.regressed))
        kinds.update({"samples": len(result.gone)} if result.gone else {})
        number = sum(cell.regressed for cell in result.cells) + len(result.gone)
        words = f"{number} of {every} cells regressed {sure}: "
        words += ", ".join(f"{kind} in {times}" for kind, times in kinds.items())
    elif result.undecided:
        words = f"No cell is shown to have regressed {limit} {sure}"
    else:
        words = f"No cell regressed {limit} {sure}"
    return "; ".join([words, *_open(result, every), *_besides(result)]) + "."


def _open(result: Comparison, every: int) -> list[str]:
    cells = result.undecided
    if not cells:
        return []
    words = f"undecided: {len(cells)} of {every}"
    if known := [cell.needed for cell in cells if cell.needed is not None]:
        words += f", up to {max(known)} repetitions needed"
    return [words]


def _besides(result: Comparison) -> list[str]:
    found = []
    before, after = (sum(cell.absent[side] for cell in result.cells) for side in (0, 1))
    if after:
        found.append(f"{count(after)} missing in B, {count(before)} in A")
    if number := len(result.only_a):
        found.append(
            f"{number_of(number, 'cell')} of A {'is' if number == 1 else 'are'} missing in B"
        )
    if number := len(result.only_b):
        found.append(f"{number_of(number, 'cell')} without a baseline in A")
    if number := sum(cell.otherwise for cell in result.cells):
        found.append(f"{number_of(number, 'cell')} ran under another granted policy than in A")
    return found
