# SPDX-License-Identifier: Apache-2.0
"""Which runs are made up to be judged, what is said of each, and the table of it for the docs.

``python src/takt/test/judged_runs.py`` writes the table into docs/explanation/verdict.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import synthetic_judged as made
from scipy.stats import beta

from takt.statistics.judgement import ALLOWED

PAGE = Path(__file__).parents[3] / "docs/explanation/verdict.md"
BEGINS = "<!-- python src/takt/test/judged_runs.py -->\n"
ENDS = "<!-- end -->\n"


@dataclass(frozen=True)
class Expected:
    """How a run is made, and what is said of it."""

    made: dict[str, Any]  # for synthetic_judged.run()
    outcome: str  # by every command
    compared: str  # by compare, with a run that meets


def most_that_meet(count: int) -> int:
    """By another implementation of the interval."""
    return max(k for k in range(100) if beta.ppf(0.95, k + 1, count - k) < ALLOWED)


def fewest_that_fail(count: int) -> int:
    return min(k for k in range(1, 100) if beta.ppf(0.05, k, count - k + 1) > ALLOWED)


MEETS, FAILS = most_that_meet(made.JUDGED), fewest_that_fail(made.JUDGED)
FROZEN = made.JUDGED * 3 // 7

RUNS: dict[str, Expected] = {
    "identical": Expected({}, "meets", "no regression"),
    "late, just few enough": Expected({"late": MEETS}, "meets", "no regression"),
    "late, one more": Expected({"late": MEETS + 1}, "undecided", "no regression"),
    "late, just too few to fail": Expected({"late": FAILS - 1}, "undecided", "no regression"),
    "late, enough to fail": Expected({"late": FAILS}, "fails", "no regression"),
    "lossy, just few enough": Expected({"missing": MEETS}, "meets", "no regression"),
    "lossy, one more": Expected({"missing": MEETS + 1}, "undecided", "no regression"),
    "lossy, enough to fail": Expected({"missing": FAILS}, "fails", "no regression"),
    "late and lossy together": Expected(
        {"late": MEETS, "missing": 1}, "undecided", "no regression"
    ),
    "lossy": Expected({"missing": FROZEN}, "fails", "regressed"),
    "frozen": Expected({"late": FROZEN}, "fails", "regressed"),
    "disturbed": Expected({"late": FROZEN, "change": made.disturbed}, "undecided", "undecided"),
    "disturbed, all in time": Expected({"change": made.disturbed}, "meets", "no regression"),
    "one of three disturbed": Expected(
        {"late": FROZEN, "change": made.third(made.disturbed)}, "fails", "regressed"
    ),
    "stolen": Expected({"late": FAILS, "change": made.stolen}, "undecided", "no regression"),
    "stolen, too little": Expected(
        {"late": 3 * FROZEN // 2, "change": made.third(made.stolen)}, "fails", "regressed"
    ),
    "refused": Expected({"change": made.refused}, "undecided", "regressed"),
    "refused and late": Expected({"late": FROZEN, "change": made.refused}, "fails", "regressed"),
    "one repetition failed": Expected({"change": made.third(made.failed)}, "fails", "undecided"),
    "one repetition stopped": Expected(
        {"change": made.third(made.stopped)}, "undecided", "no regression"
    ),
    "absent": Expected({"change": made.absent}, "fails", "regressed"),
}


def table() -> str:
    """In Markdown."""
    rows = []
    for name, one in RUNS.items():
        late, missing = one.made.get("late", 0), one.made.get("missing", 0)
        if one.made.get("change") is made.absent:
            missing = "all"
        rows.append(f"| {name} | {late} | {missing} | {one.outcome} | {one.compared} |")
    head = ["| made-up run | late | missing | every command | `compare` with *identical* |"]
    return "\n".join([*head, "|---|---:|---:|---|---|", *rows]) + "\n"


def main() -> None:
    """Writes the table into the page."""
    before, begins, rest = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    PAGE.write_text(before + begins + table() + ends + after, encoding="utf-8")


if __name__ == "__main__":
    main()
