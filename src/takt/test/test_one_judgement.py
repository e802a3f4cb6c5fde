# SPDX-License-Identifier: Apache-2.0
"""One judgement: every command says the same of made-up runs, on both sides of each threshold."""

from __future__ import annotations

from pathlib import Path

import made_judged as made
import pytest
from scipy.stats import beta

from takt.measure.check import verdict as checked
from takt.measure.results import outcome, store
from takt.statistics.judgement import ALLOWED, Decision, Outcome, decide

COMMANDS = ("check", "run", "report", "compare", "history", "gate", "lab")


def most_that_meet(count: int) -> int:
    """By another implementation of the interval."""
    return max(k for k in range(100) if beta.ppf(0.95, k + 1, count - k) < ALLOWED)


def fewest_that_fail(count: int) -> int:
    return min(k for k in range(1, 100) if beta.ppf(0.05, k, count - k + 1) > ALLOWED)


MEETS, FAILS = most_that_meet(made.JUDGED), fewest_that_fail(made.JUDGED)
FROZEN = made.JUDGED * 3 // 7

RUNS = {
    "identical": ({}, "meets"),
    "late, just few enough": ({"late": MEETS}, "meets"),
    "late, one more": ({"late": MEETS + 1}, "undecided"),
    "late, just too few to fail": ({"late": FAILS - 1}, "undecided"),
    "late, enough to fail": ({"late": FAILS}, "fails"),
    "lossy, just few enough": ({"missing": MEETS}, "meets"),
    "lossy, one more": ({"missing": MEETS + 1}, "undecided"),
    "lossy, enough to fail": ({"missing": FAILS}, "fails"),
    "late and lossy together": ({"late": MEETS, "missing": 1}, "undecided"),
    "lossy": ({"missing": FROZEN}, "fails"),
    "frozen": ({"late": FROZEN}, "fails"),
    "disturbed": ({"late": FROZEN, "change": made.disturbed}, "undecided"),
    "disturbed, all in time": ({"change": made.disturbed}, "meets"),
    "one of three disturbed": ({"late": FROZEN, "change": made.third(made.disturbed)}, "fails"),
    "stolen": ({"late": FAILS, "change": made.stolen}, "undecided"),
    "stolen, too little": ({"late": 3 * FROZEN // 2, "change": made.third(made.stolen)}, "fails"),
    "refused": ({"change": made.refused}, "undecided"),
    "refused and late": ({"late": FROZEN, "change": made.refused}, "fails"),
    "one repetition failed": ({"change": made.third(made.failed)}, "fails"),
    "one repetition stopped": ({"change": made.third(made.stopped)}, "undecided"),
    "absent": ({"change": made.absent}, "fails"),
}


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.run(tmp_path_factory.mktemp("baseline") / "run")


@pytest.mark.parametrize("name", list(RUNS))
def test_every_command_says_the_same(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    keys, expected = RUNS[name]
    folder = made.run(tmp_path / "run", **keys)
    said = made.outcomes(folder, baseline, tmp_path, capsys)
    assert said == dict.fromkeys(COMMANDS, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identical", "no regression"),
        ("frozen", "regressed"),
        ("lossy", "regressed"),
        ("disturbed", "undecided"),
        ("one of three disturbed", "regressed"),
        ("refused", "regressed"),  # the baseline was granted it
        ("absent", "regressed"),
    ],
)
def test_a_comparison_with_a_run_that_meets(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str], name: str, expected: str
) -> None:
    folder = made.run(tmp_path / "run", **RUNS[name][0])
    assert made.compared(folder, baseline, capsys) == expected


@pytest.mark.parametrize("name", ["identical", "late, one more", "frozen", "disturbed"])
def test_the_level_of_a_check_follows_the_outcome(tmp_path: Path, name: str) -> None:
    keys, expected = RUNS[name]
    level = checked.judge(store.read(made.run(tmp_path / "run", **keys))).level
    assert level in {"meets": "good fair", "undecided": "unknown", "fails": "bad"}[expected]


def test_the_outcome_names_its_interval_and_what_would_decide(tmp_path: Path) -> None:
    cells = store.read(made.run(tmp_path / "run", late=MEETS + 1)).cells
    found = outcome.judge(cells)
    assert (found.late, found.absent, found.count) == (MEETS + 1, 0, made.JUDGED)
    assert found.high == pytest.approx(beta.ppf(0.95, MEETS + 2, made.JUDGED - MEETS - 1), rel=1e-4)
    assert found.low == pytest.approx(beta.ppf(0.05, MEETS + 1, made.JUDGED - MEETS), rel=1e-4)
    assert found.needed is not None
    share = (MEETS + 1) / made.JUDGED
    assert decide(round(share * found.needed), 0, found.needed).outcome is not Outcome.undecided


def test_nothing_recorded_decides_nothing() -> None:
    assert decide(0, 0, 0) == Decision(Outcome.undecided)


def test_a_limit_that_allows_none_is_about_what_was_recorded() -> None:
    found = [
        decide(late, excused, 10, 0).outcome.value for late, excused in ((0, 0), (1, 1), (1, 0))
    ]
    assert found == ["meets", "undecided", "fails"]


def test_where_only_a_disturbance_keeps_it_open_no_number_would_decide() -> None:
    found = decide(100, 100, 1000)
    assert (found.outcome, found.needed) == (Outcome.undecided, None)
