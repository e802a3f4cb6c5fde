# SPDX-License-Identifier: Apache-2.0
"""``takt gate`` with a baseline: growth fails, and what repetitions do not decide does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trace_files as make
from robot_traces import MS, STEP, job, recorded, steps, stolen

from takt.errors import TaktError
from takt.judge import baseline
from takt.judge.gate import judge, traces
from takt.judge.limits import Limits, read_limits
from takt.judge.model import Judgement, Quantity, Verdict
from takt.judge.opening import open_trial
from takt.judge.repetition import merged
from takt.judge.series import side
from takt.statistics.judgement import Outcome

COUNT = 600
US = 1000
KEPT = "callbacks: {plan.step: {late: 100%}}\n"  # of these tests, only the baseline decides


def run(folder: Path, number: int, middle: int, *, scatter: float = 0.0, piece: int = 0) -> Path:
    """An execution whose plan takes about ``middle`` ns; all of it longer by ``scatter``."""
    rng = np.random.default_rng([number, middle])
    level = middle * (1 + scatter * rng.standard_normal())
    values = (level * np.exp(0.02 * rng.standard_normal(COUNT))).astype(int).tolist()
    place = folder / f"{number}"
    place.mkdir(parents=True)
    more = [stolen(at, piece) for at in range(0, COUNT, 20)] if piece else []
    trace = recorded(place, steps(COUNT, lambda at: values[at]), count=COUNT, more=more)
    return trace.rename(folder / f"{number}.takttrace")


def runs(folder: Path, middle: int, number: int = 5, **more: float) -> Path:
    for one in range(number):
        run(folder, one, middle, **more)  # type: ignore[arg-type]
    return folder


def written(folder: Path, file: Path) -> Path:
    baseline.write(file, side([open_trial(one, Limits()) for one in traces(folder)]))
    return file


def limits(folder: Path, by: str = "10%", text: str = KEPT) -> Limits:
    file = folder / "robot.limits.yaml"
    file.write_text(f"{text}not_worse_than: {{baseline: base.json, by: {by}}}\n", encoding="utf-8")
    return read_limits(file)


def grown(verdict: Verdict, quantity: Quantity, statistic: str) -> Judgement:
    (found,) = (
        one
        for one in verdict.judgements
        if one.subject == "plan.step"
        and one.quantity is quantity
        and one.growth
        and one.growth.statistic == statistic
    )
    return found


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of five quiet executions, in a file."""
    folder = tmp_path_factory.mktemp("before")
    return written(runs(folder / "runs", 3 * MS, scatter=0.01), folder / "base.json")


def test_the_same_state_meets_and_a_slower_one_fails(before: Path, tmp_path: Path) -> None:
    wanted = limits(before.parent)
    same = judge(runs(tmp_path / "same", 3 * MS, scatter=0.01), wanted)
    assert grown(same, Quantity.response, "p50").outcome is Outcome.meets
    assert not same.of(Outcome.fails)
    assert same.repetitions == 5
    slower = judge(runs(tmp_path / "slower", 4 * MS, scatter=0.01), wanted)
    found = grown(slower, Quantity.response, "p50")
    assert slower.outcome is found.outcome is Outcome.fails
    assert grown(slower, Quantity.execution, "p99").outcome is Outcome.fails
    assert found.growth is not None
    assert found.growth.after / found.growth.before == pytest.approx(4 / 3, abs=0.03)


def test_a_growth_that_is_tolerated_meets(before: Path, tmp_path: Path) -> None:
    slower = runs(tmp_path / "slower", 4 * MS, scatter=0.01)
    assert not judge(slower, limits(before.parent, by="60%")).of(Outcome.fails)


def test_repetitions_that_scatter_leave_it_undecided(before: Path, tmp_path: Path) -> None:
    flaky = judge(runs(tmp_path / "flaky", int(3.6 * MS), number=3, scatter=0.25),
                  limits(before.parent))  # fmt: skip
    found = grown(flaky, Quantity.response, "p50")
    assert found.outcome is Outcome.undecided
    assert found.needed is None or found.needed > 3
    assert not flaky.of(Outcome.fails)


def test_one_repetition_on_each_side_decides_no_growth(tmp_path: Path) -> None:
    written(runs(tmp_path / "old", 3 * MS, number=1), tmp_path / "base.json")
    verdict = judge(runs(tmp_path / "new", 6 * MS, number=1), limits(tmp_path))
    found = grown(verdict, Quantity.response, "p50")
    assert (found.outcome, found.needed) == (Outcome.undecided, 3)
    assert verdict.outcome is Outcome.undecided


def test_growth_that_stolen_time_may_explain_is_undecided(before: Path, tmp_path: Path) -> None:
    wanted = limits(before.parent)
    disturbed = runs(tmp_path / "disturbed", 4 * MS, scatter=0.01, piece=200 * MS)
    found = grown(judge(disturbed, wanted), Quantity.response, "p50")
    assert found.outcome is Outcome.undecided
    assert "a disturbance may explain it" in found.reason


def test_growth_that_other_programs_took_is_undecided(before: Path, tmp_path: Path) -> None:
    """Each job has the core for 4 ms and executes for 3 ms of them."""
    for number in range(5):
        plan = steps(COUNT, lambda at: 4 * MS + at * US // 10)
        for at, one in enumerate(plan):
            end = at * 20 * MS + 5 * MS + 4 * MS + at * US // 10
            one[-1] = make.event(end, make.Type.end, STEP, at, 3 * MS)
        place = tmp_path / "others" / f"{number}"
        place.mkdir(parents=True)
        recorded(place, plan, count=COUNT).rename(place.parent / f"{number}.takttrace")
    verdict = judge(tmp_path / "others", limits(before.parent))
    found = grown(verdict, Quantity.response, "p50")
    assert (found.outcome, found.growth is not None) == (Outcome.undecided, True)
    assert "a disturbance may explain it" in found.reason
    assert not verdict.of(Outcome.fails)


def test_late_jobs_count_as_a_share(tmp_path: Path) -> None:
    text = "callbacks: {plan.step: {response: 5ms, late: 50%}}\n"
    wanted = limits(tmp_path, text=text)
    plain = wanted.model_copy(update={"not_worse_than": None})

    late(tmp_path / "old", COUNT, 3)
    late(tmp_path / "new", 10, 3)
    old = [open_trial(one, plain) for one in traces(tmp_path / "old")]
    baseline.write(tmp_path / "base.json", side(old))
    found = grown(judge(tmp_path / "new", wanted), Quantity.response, "late")
    assert found.outcome is Outcome.fails
    assert "180 of 1\u202f800 late, 3 of 1\u202f800 in the baseline" in found.reason
    assert grown(judge(tmp_path / "old", wanted), Quantity.response, "late").outcome is (
        Outcome.meets
    )


def late(folder: Path, share: int, number: int, piece: int = 0) -> Path:
    """Executions of which one job in ``share`` responds after 8 ms, the others after 3 ms."""
    more = [stolen(at, piece) for at in range(0, COUNT, 20)] if piece else []
    for one in range(number):
        place = folder / f"{one}"
        place.mkdir(parents=True)
        plan = steps(COUNT, lambda at: 8 * MS if at % share == 0 else 3 * MS)
        trace = recorded(place, plan, count=COUNT, more=more)
        trace.rename(folder / f"{one}.takttrace")
    return folder


def test_a_share_that_one_repetition_or_a_disturbance_made_is_undecided(tmp_path: Path) -> None:
    text = "callbacks: {plan.step: {response: 5ms, late: 50%}}\n"
    plain = limits(tmp_path, text=text).model_copy(update={"not_worse_than": None})
    for number, piece in ((1, 0), (3, 200 * MS)):
        place = tmp_path / f"{number}"
        place.mkdir()
        old = traces(late(place / "old", COUNT, number))
        baseline.write(place / "base.json", side([open_trial(one, plain) for one in old]))
        new = late(place / "new", 10, number, piece)
        found = grown(judge(new, limits(place, text=text)), Quantity.response, "late")
        assert found.outcome is Outcome.undecided
        expected = "a disturbance may explain it" if piece else "variation between repetitions"
        assert expected in found.reason


def test_a_series_that_is_gone_fails(before: Path, tmp_path: Path) -> None:
    folder = tmp_path / "without"
    folder.mkdir()
    plan = [job(STEP, at, 3 * MS)[:-1] for at in range(COUNT)]  # no job ends
    recorded(folder, plan, count=COUNT)
    verdict = judge(folder, limits(before.parent))
    found = grown(verdict, Quantity.response, "values")
    assert found.outcome is Outcome.fails


def test_the_file_is_small_and_reads_as_it_was_written(before: Path) -> None:
    text = before.read_text(encoding="utf-8")
    assert len(text) < 5000
    assert all(len(line) < 1500 for line in text.splitlines())
    again = before.with_name("again.json")
    baseline.write(again, baseline.read(before))
    assert again.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"schema_version": 1', '"schema_version": 9', "version 9"),
        ('"source": "executor"', '"source": "simulator"', "recorded by simulator"),
        ('"late": [0, ', '"late": [', "differ in length"),
        ('"quantity": "response"', '"quantity": "respond"', "quantity"),
    ],
)
def test_a_wrong_baseline_is_refused(
    before: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = before.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "base.json").write_text(text.replace(old, new), encoding="utf-8")
    trace = run(tmp_path, 0, 3 * MS)
    with pytest.raises(TaktError, match=message) as error:
        judge(trace, limits(tmp_path))
    assert "base.json" in str(error.value)


def test_a_baseline_that_is_absent_is_named_with_the_way_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no such baseline") as error:
        judge(run(tmp_path, 0, 3 * MS), limits(tmp_path))
    assert "--write-baseline" in str(error.value)


def test_a_limit_that_changed_is_named_and_not_compared(before: Path, tmp_path: Path) -> None:
    text = "callbacks: {plan.step: {response: 9ms, late: 100%}}\n"
    verdict = judge(runs(tmp_path / "new", 3 * MS, number=1), limits(before.parent, text=text))
    assert any("another limit than in the baseline" in one for one in verdict.remarks)


def test_traces_of_two_applications_are_no_repetitions(tmp_path: Path) -> None:
    """Each would be judged alone, and a callback that is absent from one would not be missed."""
    runs(tmp_path / "both", 2 * MS, 1)
    records = [make.name("task", 0, "other.run"), *make.periodic(20)[1:]]
    make.write(tmp_path / "both" / "other.takttrace", records)
    with pytest.raises(TaktError, match="not repetitions of one application"):
        judge(tmp_path / "both", Limits())
    recorded_sides = [side([open_trial(one, Limits())]) for one in traces(tmp_path / "both")]
    with pytest.raises(TaktError, match="is in some recordings only"):
        merged(recorded_sides)


def test_a_budget_holds_execution_times(tmp_path: Path) -> None:
    plan = steps()
    plan[7] = job(STEP, 7, 6 * MS, wait=2 * MS)  # executes for 4 ms
    trace = recorded(tmp_path, plan)
    for budget, outcome in (("4ms", Outcome.meets), ("3999us", Outcome.fails)):
        file = tmp_path / "budget.limits.yaml"
        file.write_text(f"callbacks: {{plan.step: {{budget: {budget}}}}}\n", encoding="utf-8")
        verdict = judge(trace, read_limits(file))
        (found,) = (one for one in verdict.judgements if one.quantity is Quantity.execution)
        assert (found.outcome, found.worst_us, found.count) == (outcome, 4000, 50)
        assert verdict.outcome is outcome


def test_a_budget_is_undecided_without_execution_times(tmp_path: Path) -> None:
    plan = [[*one[:-1], make.event(at * 20 * MS + 8 * MS, make.Type.end, STEP, at, -1)]
            for at, one in enumerate(steps())]  # fmt: skip
    file = tmp_path / "budget.limits.yaml"
    file.write_text("callbacks: {plan.step: {budget: 4ms}}\n", encoding="utf-8")
    verdict = judge(recorded(tmp_path, plan), read_limits(file))
    (found,) = (one for one in verdict.judgements if one.quantity is Quantity.execution)
    assert (found.outcome, found.reason) == (
        Outcome.undecided,
        "the trace does not record execution times",
    )
