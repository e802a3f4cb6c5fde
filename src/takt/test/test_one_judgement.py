# SPDX-License-Identifier: Apache-2.0
"""One judgement: every command says the same of made-up runs, on both sides of each threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic_judged as made
from judged_runs import BEGINS, ENDS, MEETS, PAGE, RUNS, table
from scipy.stats import beta

from takt.measure.check import verdict as checked
from takt.measure.results import outcome, store
from takt.statistics.judgement import Decision, Outcome, decide

COMMANDS = ("check", "run", "report", "compare", "history", "gate", "lab")


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.run(tmp_path_factory.mktemp("baseline") / "run")


@pytest.mark.parametrize("name", list(RUNS))
def test_every_command_says_the_same(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    expected = RUNS[name]
    folder = made.run(tmp_path / "run", **expected.made)
    said = made.outcomes(folder, baseline, tmp_path, capsys)
    assert said == dict.fromkeys(COMMANDS, expected.outcome)
    assert made.compared(folder, baseline, capsys) == expected.compared


def test_the_documentation_has_the_same_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(BEGINS)[2].partition(ENDS)[0] == table()
    assert all(f"`{name}`" in page for name in COMMANDS)


@pytest.mark.parametrize("name", ["identical", "late, one more", "frozen", "disturbed"])
def test_the_level_of_a_check_follows_the_outcome(tmp_path: Path, name: str) -> None:
    expected = RUNS[name]
    level = checked.judge(store.read(made.run(tmp_path / "run", **expected.made))).level
    assert level in {"meets": "good fair", "undecided": "unknown", "fails": "bad"}[expected.outcome]


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
