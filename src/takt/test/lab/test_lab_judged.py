# SPDX-License-Identifier: Apache-2.0
"""``takt lab`` judges what its guests measured as all commands do: both sides of each threshold.

Its cells are among the runs of test_one_judgement.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import synthetic_judged as made
from command_line import takt
from scipy.stats import beta

from takt.lab import cyclictest, judged
from takt.lab.jobs import HISTOGRAM_US, INTERVAL_US
from takt.lab.modes import Mode
from takt.measure.results import store
from takt.statistics.judgement import ALLOWED, Outcome

CYCLES = 20_000
MEETS = max(k for k in range(100) if beta.ppf(0.95, k + 1, CYCLES - k) < ALLOWED)
FAILS = next(k for k in range(1, 100) if beta.ppf(0.05, k, CYCLES - k + 1) > ALLOWED)
IN_TIME, LATE = str(INTERVAL_US - 1), str(INTERVAL_US)


def woken(histogram: dict[str, int], mode: Mode = Mode.icount, beyond: int = 0) -> Any:
    """Of one thread with so many wake-ups, the rest of them early, some beyond the histogram."""
    counted = {"5": CYCLES - sum(histogram.values()) - beyond} | histogram
    thread = {"histogram": counted, "cycles": CYCLES, "min": 5, "max": 9, "avg": 6}
    return cyclictest.summed({"thread": {"0": thread}}, "idle", mode)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, Outcome.meets),
        (MEETS, Outcome.meets),
        (MEETS + 1, Outcome.undecided),
        (FAILS - 1, Outcome.undecided),
        (FAILS, Outcome.fails),
    ],
)
def test_wake_ups_of_cyclictest_are_late_or_skipped(number: int, expected: Outcome) -> None:
    # Each late one of 1 ms skips another one: two events, of one more in all.
    late, odd = divmod(number, 2)
    found = woken({IN_TIME: 100, LATE: late})
    if odd:  # the number itself, without what it skips
        outcome, _ = judged.counts(number, 0, CYCLES, INTERVAL_US, Mode.icount)
    else:
        outcome = found.outcome
        assert f"{number} of" in found.reasons[0]
    assert outcome is expected


def test_a_maximum_alone_does_not_fail_a_kernel() -> None:
    assert woken({"4300": 1}).outcome is Outcome.meets  # one, and the four that it skips
    assert woken({"4300": 1}).reasons[0].startswith("5 of 20\u202f004 late or missing")


def test_what_lies_beyond_the_histogram_is_late_and_skips_as_many_as_fit() -> None:
    found = woken({}, beyond=2)
    assert found.reasons[0].startswith(f"{2 + 2 * HISTOGRAM_US // INTERVAL_US} of")
    assert found.outcome is Outcome.fails


def test_times_that_say_nothing_about_a_kernel_do_not_convict(tmp_path: Path) -> None:
    assert woken({LATE: CYCLES // 2}, Mode.functional).outcome is Outcome.undecided
    late = store.read(made.run(tmp_path / "late", late=made.JUDGED // 2)).cells
    assert judged.points(late, Mode.functional)[0].outcome is Outcome.undecided


@pytest.mark.parametrize("mode", list(Mode))
def test_a_cell_that_left_nothing_has_a_row_that_fails(tmp_path: Path, mode: Mode) -> None:
    cells = store.read(made.run(tmp_path / "absent", change=made.absent)).cells
    (row,) = judged.points(cells[:1], mode)
    assert (row.count, row.max_us, row.outcome) == (0, None, Outcome.fails)


@pytest.mark.parametrize(
    ("wcet", "mode", "expected"),
    [
        ("4ms", Mode.icount, Outcome.meets),
        ("6ms", Mode.icount, Outcome.fails),
        ("6ms", Mode.functional, Outcome.undecided),
    ],
)
def test_callbacks_are_judged_as_takt_gate_judges_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wcet: str, mode: Mode, expected: Outcome
) -> None:
    app, trace = tmp_path / "a.app.yaml", tmp_path / "a.takttrace"
    app.write_text(
        "cpus: [1]\npolicy: fp\nnodes:\n  a:\n"
        f"    slow: {{timer: 20ms, wcet: {wcet}, priority: 40}}\n"
        "    fast: {timer: 20ms, wcet: 2ms, deadline: 7ms, priority: 10}\n"
    )
    takt(["simulate", str(app), "--duration", "1s", "--trace", str(trace)])
    code = takt(["gate", str(trace)])
    capsys.readouterr()
    found = judged.callbacks(trace, mode)
    assert found["a.slow"][0] is Outcome.meets
    assert found["a.fast"][0] is expected
    assert (code == 1) is (wcet == "6ms")
