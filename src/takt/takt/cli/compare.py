# SPDX-License-Identifier: Apache-2.0
"""``takt compare``: the gate that turns red when latency grew."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.measure.statistics.compare import Comparison, KeyComparison, Shift
    from takt.pages.row_table import RowTable


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of the baseline run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of the run to compare with it.")],
    threshold: Annotated[
        str, typer.Option(help="Tolerated growth: 10% or 0.1.", metavar="SHARE")
    ] = "10%",
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence level in percent, for all cells together.", metavar="PERCENT"
        ),
    ] = 95.0,
    as_json: AsJson = False,
) -> None:
    """Compare two runs: find cells where the median or the p99 of the latency grew from A to B.

    A cell regressed if the whole confidence interval of its ratio B / A lies above 1 + threshold,
    or if A measured it and B has no sample of it, or if every repetition in B ended too early for
    an answer. The intervals hold simultaneously: for two equal runs, the probability of any false
    alarm is at most 5 % (at 95 %).

    Exit code: 0 for no regression, 1 for at least one, 2 where the runs cannot be compared.

    Example: takt compare results/before results/after --threshold 10%
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.errors import TaktError
    from takt.measure.results import store
    from takt.measure.statistics.compare import compare_runs

    tolerated = _share(threshold)
    if not 50 <= confidence < 100:
        raise TaktError(
            f"invalid confidence {confidence:g}",
            where="--confidence",
            remedy="give a percentage of at least 50 and below 100: --confidence 95",
        )
    runs = (store.read(a), store.read(b))
    folders = tuple(folder.parent if folder.is_file() else folder for folder in (a, b))
    result = compare_runs(runs, (folders[0], folders[1]), tolerated, confidence / 100)
    if not result.cells:
        raise TaktError(
            "the runs have no cell in common",
            where=f"{a}, {b}",
            remedy="compare runs of the same experiment",
        )
    if not any(cell.changes or cell.regressed for cell in result.cells):
        for line in _remarks(result):
            stderr().print(line, markup=False, soft_wrap=True)
        raise TaktError(
            "no cell of the two runs could be compared",
            where=f"{a}, {b}",
            remedy="compare complete runs with samples; p50 needs 20 samples in each repetition",
        )
    if as_json:
        print_json(_document(result, tolerated, confidence / 100))
    else:
        stdout().print(_table(result))
        for line in _remarks(result):
            stderr().print(line, markup=False, soft_wrap=True)
        stdout().print(conclusion(result, tolerated, confidence), markup=False)
    if result.regressed:
        raise typer.Exit(1)


def _share(text: str) -> float:
    """Read ``10%`` or ``0.1``."""
    from takt.errors import TaktError

    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 10:
        raise TaktError(
            f"invalid share {text!r}",
            where="--threshold",
            remedy="write 10% or 0.1; 5 means 500 %, and the maximum is 1000 %",
        )
    return share


def _document(result: Comparison, threshold: float, confidence: float) -> dict[str, Any]:
    from takt.measure.results.model import SCHEMA_VERSION

    def ratio(change: Shift | None) -> float | None:
        return change.ratio if change else None

    def interval(change: Shift | None) -> list[float | None] | None:
        """JSON has no infinity."""
        ends = (change.low, change.high) if change else ()
        return [end if isfinite(end) else None for end in ends] or None

    return {
        "schema_version": SCHEMA_VERSION,
        "threshold": threshold,
        "confidence": confidence,
        "cells": [
            {
                "key": cell.key,
                "ratio_p50": ratio(cell.changes.get("p50")),
                "ratio_p99": ratio(cell.changes.get("p99")),
                "interval": {name: interval(cell.changes.get(name)) for name in ("p50", "p99")},
                "lost": list(cell.lost),
                "absent": list(cell.absent),
                "repetitions": list(cell.repetitions),
                "notes": cell.notes,
                "regressed": cell.regressed,
            }
            for cell in result.cells
        ],
        "only_a": result.only_a,
        "only_b": result.only_b,
        "notes": result.notes,
        "regressed": result.regressed,
    }


def _table(result: Comparison) -> RowTable[Any]:
    from rich.text import Text

    from takt.pages.row_table import of_cells

    def written(change: Shift | None) -> tuple[str, str]:
        if change is None:
            return "–", "–"
        return f"{change.ratio:.3f}", f"{change.low:.3f} … {change.high:.3f}"

    rows = []
    for cell in result.cells:
        verdict = Text("regressed", style="bold red") if cell.regressed else Text("")
        if not cell.changes and not cell.regressed:
            verdict = Text("not compared", style="yellow")
        lost = f"{cell.lost[0]}, {cell.lost[1]}"
        ratios = (*written(cell.changes.get("p50")), *written(cell.changes.get("p99")))
        rows.append((cell.key, *ratios, lost, verdict))
    headings = ("cell", "p50 B/A", "interval", "p99 B/A", "interval", "lost A, B", "")
    return of_cells(headings, rows, words=[""])


def _remarks(result: Comparison) -> list[str]:
    lines = [f"only in A: {key}" for key in result.only_a]
    lines += [f"only in B: {key}" for key in result.only_b]
    by_note: dict[str, list[str]] = {}
    for cell in result.cells:
        for note in cell.notes:
            by_note.setdefault(note, []).append(cell.key)
    for note, keys in by_note.items():
        of = keys[0] if len(keys) == 1 else f"{len(keys)} cells"
        lines.append(f"{of}: {note}")
    return [*lines, *result.notes]


def conclusion(result: Comparison, threshold: float, confidence: float) -> str:
    """The last line: a "no" only where it was shown, and beside it what no ratio tells."""
    limit = f"by more than {threshold * 100:g} % (confidence {confidence:g} %)"
    regressed = sum(cell.regressed for cell in result.cells)
    unknown = sum(_is_open(cell, threshold) for cell in result.cells)
    if regressed:
        words = f"{regressed} of {len(result.cells)} cells regressed {limit}"
    elif unknown:
        words = f"No cell is shown to have regressed {limit}"
    else:
        words = f"No cell regressed {limit}"
    if unknown:
        words += f"; no answer for {unknown} of {len(result.cells)}"
    return "; ".join([words, *_besides(result)]) + "."


def _is_open(cell: KeyComparison, threshold: float) -> bool:
    """Whether a growth above the threshold is neither shown nor excluded."""
    known = [cell.changes.get(name) for name in ("p50", "p99")]
    shown = all(one is not None and one.high <= 1 + threshold for one in known)
    return not cell.regressed and not shown


def _besides(result: Comparison) -> list[str]:
    from takt.pages.text import count, number_of

    found = []
    before, after = (sum(cell.absent[side] for cell in result.cells) for side in (0, 1))
    if after:
        found.append(f"{count(after)} missing in B, {count(before)} in A")
    if number := len(result.only_a):
        found.append(
            f"{number_of(number, 'cell')} of A {'is' if number == 1 else 'are'} missing in B"
        )
    if number := sum(cell.otherwise for cell in result.cells):
        found.append(f"{number_of(number, 'cell')} ran under another granted policy than in A")
    return found
