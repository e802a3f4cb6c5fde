# SPDX-License-Identifier: Apache-2.0
"""Chains above their bounds in traces made by hand, so that it is known who lost the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from conftest import Takt

from takt.schedule.analysis.bounds import Bounds, of_chain
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.explain import explain
from takt.schedule.explain.html import render
from takt.schedule.explain.model import ChainAgainst, ShareKind
from takt.schedule.explain.recent import Recent
from takt.schedule.explain.ways import Ways
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Type

EXAMPLES = Path(__file__).parents[3] / "examples"
MS = 1_000_000
PERIOD = 100 * MS
GRAB, STEP, IMAGE = 0, 1, 0
TWO = """
name: seen
processes:
  sensing: {cpu: 0, priority: 50, nodes: [camera]}
  planning: {cpu: 1, priority: 50, nodes: [plan]}
middleware: {latency: [0us, 1ms]}
nodes:
  camera: {grab: {timer: 100ms, wcet: 2ms, priority: 10, writes: [image]}}
  plan: {step: {on: image, wcet: 3ms, priority: 10}}
chains:
  see: {callbacks: [camera.grab, plan.step]}
"""
# The same in one process.
ONE = TWO[: TWO.index("processes")] + TWO[TWO.index("nodes:\n") :]


def _grab(number: int, *, drops: bool = False) -> list[bytes]:
    at = number * PERIOD
    message = make.event(at + 2 * MS, Type.publish, GRAB, number, number, 0, IMAGE)
    return [
        make.event(at, Type.release, GRAB, number, at + PERIOD),
        make.event(at, Type.start, GRAB, number, 10),
        *([] if drops else [message]),
        make.event(at + 2 * MS, Type.end, GRAB, number, 2 * MS),
    ]


def _step(number: int, *, released: int, started: int, took: int, core: int = 1) -> list[bytes]:
    """Times in ms after the release of the datum."""
    at = number * PERIOD
    release, start, end = at + released * MS, at + started * MS, at + (started + took) * MS
    return [
        make.event(release, Type.release, STEP, number, release + PERIOD, core),
        make.event(start, Type.start, STEP, number, 10, core),
        make.event(start, Type.use, STEP, number, number, core, IMAGE),
        make.event(end, Type.end, STEP, number, took * MS, core),
    ]


def _trace(tmp_path: Path, text: str, *jobs: list[bytes]) -> Path:
    file = tmp_path / "seen.app.yaml"
    file.write_text(text)
    document = json.dumps(flat(read_application(file)))
    records = [
        make.name("attribute", 0, f"application={document}"),
        make.name("task", GRAB, "camera.grab"),
        make.name("task", STEP, "plan.step"),
        make.name("topic", IMAGE, "image"),
    ]
    records += [one for job in jobs for one in job]
    return make.write(tmp_path / "seen.takttrace", records)


def _of(trace: Path, kind: str) -> ChainAgainst:
    (found,) = [one for one in explain(trace).chains if one.kind == kind]
    return found


ORDINARY = {"released": 2, "started": 2, "took": 3}


@pytest.mark.parametrize(
    ("odd", "cause", "by"),
    [
        ({"released": 2, "started": 2, "took": 8}, ShareKind.overran, "plan.step[1]"),
        ({"released": 2, "started": 9, "took": 3}, ShareKind.late, "plan.step[1]"),
        ({"released": 9, "started": 9, "took": 3}, ShareKind.handover, "image"),
    ],
)
def test_the_job_or_message_that_lost_the_time_is_named(
    tmp_path: Path, odd: dict[str, int], cause: ShareKind, by: str
) -> None:
    jobs = [_grab(0), _step(0, **ORDINARY), _grab(1), _step(1, **odd), _grab(2)]
    found = _of(_trace(tmp_path, TWO, *jobs, _step(2, **ORDINARY)), "latency")
    assert (found.measured, found.above, found.unexplained) == (3, 1, 0)
    assert found.bound_us == pytest.approx(6000)
    assert found.by_cause == {cause: 1}
    (late,) = found.late
    assert (late.cause, late.lost_by) == (cause, by)
    assert late.release_ns == PERIOD
    assert sum(one.us for one in late.steps) == pytest.approx(late.took_us)
    assert late.took_us == pytest.approx(1000 * (odd["started"] + odd["took"]))


def test_a_delay_of_an_earlier_job_is_its_own(tmp_path: Path) -> None:
    """The later job waited behind it, so that its busy period has the same time."""
    slow = _grab(0)
    slow[-1] = make.event(12 * MS, Type.end, GRAB, 0, 12 * MS)
    jobs = [slow, _step(0, released=2, started=12, took=3, core=0)]
    found = _of(_trace(tmp_path, ONE, *jobs), "latency")
    (late,) = found.late
    assert (late.cause, late.lost_by) == (ShareKind.overran, "camera.grab[0]")


@pytest.mark.parametrize(("text", "core"), [(ONE, 0), (TWO, 1)])
def test_data_that_was_left_out_explains_a_reaction(tmp_path: Path, text: str, core: int) -> None:
    def step(number: int) -> list[bytes]:
        return _step(number, **ORDINARY, core=core)

    jobs = [_grab(0), step(0), _grab(1, drops=True), _grab(2, drops=True), _grab(3), step(3)]
    trace = _trace(tmp_path, text, *jobs)
    found = _of(trace, "reaction")
    assert (found.measured, found.above, found.unexplained) == (1, 1, 0)
    assert found.by_cause == {ShareKind.left_out: 1}
    assert found.late[0].lost_by == "2 jobs of camera.grab whose data reached no end"
    assert _of(trace, "latency").above == 0


def test_releases_that_were_skipped_explain_a_reaction(tmp_path: Path) -> None:
    """Of two releases between the data one was skipped, and the datum of the other was lost."""
    skip = [make.event(PERIOD, Type.skip, GRAB, 1, 1)]
    jobs = [_grab(0), _step(0, **ORDINARY), skip, _grab(2, drops=True), _grab(3)]
    found = _of(_trace(tmp_path, TWO, *jobs, _step(3, **ORDINARY)), "reaction")
    assert (found.measured, found.above, found.unexplained) == (1, 1, 0)
    assert found.by_cause == {ShareKind.left_out: 1}
    assert found.late[0].lost_by == (
        "1 job of camera.grab whose data reached no end, and 1 release that was skipped"
    )


def test_a_message_that_was_late_explains_what_waited_for_its_job(tmp_path: Path) -> None:
    """Two data come together, for the first one was held up: the second waits for 3 ms of it."""
    late = [
        make.event(0, Type.release, GRAB, 0, PERIOD),
        make.event(98 * MS, Type.start, GRAB, 0, 10),
        make.event(PERIOD, Type.publish, GRAB, 0, 0, 0, IMAGE),
        make.event(PERIOD, Type.end, GRAB, 0, 2 * MS),
    ]
    first = _step(0, released=100, started=100, took=5)
    text = TWO.replace("wcet: 3ms", "wcet: 5ms")
    trace = _trace(tmp_path, text, late, first, _grab(1), _step(1, released=2, started=5, took=5))
    (job,) = [one for one in explain(trace).details if one.callback == "plan.step"]
    assert job.above is not None
    assert (job.job, job.above.above_us) == (1, 2000)
    assert job.above.cause is ShareKind.handover
    assert job.above.unknown_us == {ShareKind.handover: 5000}
    found = _of(trace, "latency")
    assert (found.above, found.unexplained) == (2, 0)
    assert found.by_cause == {ShareKind.late: 1, ShareKind.handover: 1}
    assert {one.lost_by for one in found.late} == {"camera.grab[0]", "plan.step[1]"}


def test_a_message_of_another_callback_that_was_late_does_not_explain_a_response(
    tmp_path: Path,
) -> None:
    """It took nothing of the time in which the job was pending."""
    late = _grab(0)
    late[2:] = [
        make.event(60 * MS, Type.publish, GRAB, 0, 0, 0, IMAGE),
        make.event(60 * MS, Type.end, GRAB, 0, 2 * MS),
    ]
    slow = _step(1, released=2, started=2, took=8)
    slow[-1] = make.event(PERIOD + 10 * MS, Type.end, STEP, 1, -1, 1)
    jobs = [late, _step(0, released=60, started=60, took=3), _grab(1), slow]
    found = _of(_trace(tmp_path, TWO, *jobs), "latency")
    assert found.unexplained == 1


def test_time_that_nothing_explains_is_said_to_be_unexplained(tmp_path: Path) -> None:
    """The trace does not say what CPU time the job took."""
    long = _step(0, released=2, started=2, took=8)
    long[-1] = make.event(10 * MS, Type.end, STEP, 0, -1, 1)
    found = _of(_trace(tmp_path, TWO, _grab(0), long), "latency")
    assert (found.above, found.unexplained, found.by_cause) == (1, 1, {})
    assert found.late[0].cause is None


def test_terminal_and_page_name_who_lost_the_time(takt: Takt, tmp_path: Path) -> None:
    jobs = [_grab(0), _step(0, released=9, started=9, took=3)]
    trace = _trace(tmp_path, TWO, *jobs)
    shown = takt("explain", trace).stdout
    assert "0 of 2 bounds of chains hold" in shown  # of its latency and its age
    assert "chain see, latency: 1 of 1 above the bound of 6.000 ms" in shown
    assert "message late, 6.000 ms by image" in shown
    assert "message image 7.000 ms" in shown
    assert "message late, 6.000 ms by image" in render(explain(trace))


def test_callbacks_of_another_robot_are_named(takt: Takt, tmp_path: Path) -> None:
    trace = tmp_path / "other.takttrace"
    assert takt("simulate", EXAMPLES / "two_machines.app.yaml", "--trace", trace).returncode == 0
    said = takt("explain", trace, "--against", EXAMPLES / "two_hosts.app.yaml").stderr
    assert "mapper.draw is in the trace and not in the file: not counted" in said
    assert "detector.publish_map is not in the trace" in said
    assert "not in the" not in takt("explain", trace).stderr


def test_bounds_of_scenarios_say_when_they_hold(takt: Takt, tmp_path: Path) -> None:
    trace = tmp_path / "modes.takttrace"
    assert takt("simulate", EXAMPLES / "modes.app.yaml", "--trace", trace).returncode == 0
    said = takt("explain", trace).stderr
    assert "each bound is the largest of all scenarios, and holds while no job of another" in said


@pytest.mark.parametrize(("executor", "unexplained"), [("rclcpp_events", True), ("takt", False)])
def test_a_declared_handover_explains_nothing(
    tmp_path: Path, executor: str, unexplained: bool
) -> None:
    """Jobs of rclcpp are released at the publication: the bound has the handover in it."""
    text = TWO.replace("planning: {cpu", f"planning: {{executor: {executor}, cpu")
    # 0.9 ms until it starts, and 3.3 ms of execution without a CPU time: 6.2 ms, bound 6 ms.
    job = _step(0, released=2, started=2, took=3)
    job[1] = make.event(2_900_000, Type.start, STEP, 0, 10, 1)
    job[2] = make.event(2_900_000, Type.use, STEP, 0, 0, 1, IMAGE)
    job[3] = make.event(6_200_000, Type.end, STEP, 0, -1, 1)
    found = _of(_trace(tmp_path, text, _grab(0), job), "latency")
    assert found.above == 1
    assert found.unexplained == unexplained
    assert found.by_cause == ({} if unexplained else {ShareKind.late: 1})


def test_lost_time_of_a_core_counts_in_each_of_its_processes(tmp_path: Path) -> None:
    file = tmp_path / "seen.app.yaml"
    file.write_text(TWO)
    bounds = Bounds(flat(read_application(file)))
    key, lost = of_chain("see", "latency"), 1 << 22  # ns; others are rounded up to an eighth
    assert bounds.of[key] == 6 * MS
    for core, callback in ((0, "camera.grab"), (1, "plan.step")):
        whole = bounds.of[callback]
        assert whole is not None
        assert bounds.with_lost(callback, core, lost) == whole + lost
        assert bounds.with_lost(key, core, lost) == 6 * MS + lost


def test_so_much_lost_time_that_nothing_is_guaranteed_explains_a_chain(tmp_path: Path) -> None:
    """A process above computes meanwhile, and data is lost where a timer comes again too early."""
    file = tmp_path / "seen.app.yaml"
    text = TWO.replace("nodes:\n", "  other: {cpu: 0, priority: 60, nodes: [other]}\nnodes:\n", 1)
    text = text.replace(
        "  plan: {step", "  other: {run: {timer: 10ms, wcet: 1ms, priority: 10}}\n  plan: {step"
    )
    text = text.replace("middleware: {latency: [0us, 1ms]}\n  other", "  other")
    file.write_text(text + "middleware: {latency: [0us, 1ms]}\n")
    bounds = Bounds(flat(read_application(file)))
    key = of_chain("see", "latency")
    lost, took = 900 * MS, 1000 * MS  # 90 jobs of the other process ran meanwhile
    assert bounds.with_lost(key, 0, lost) is None
    assert bounds.explains(key, 0, lost, took)
    assert not bounds.explains(key, 0, 5 * MS, took)
    assert not bounds.explains("unheard.of", 0, lost, took)


class _Arriving:
    """Gathers the ways of all data of the first chain."""

    def __init__(self, tasks: list[int], joins: dict[int, int]) -> None:
        self._recent = Recent()
        self._ways = Ways(self._recent, joins)
        self._tasks = tasks
        self.arrived: list[tuple[int, int]] = []

    def take(self, step: Step) -> None:
        self._recent.add(step)
        self._ways.add(step)
        self.arrived += zip(
            step.arrivals["release"].tolist(), step.arrivals["age"].tolist(), strict=True
        )

    def check(self) -> int:
        for release, age in self.arrived:
            way = self._ways.of(self._tasks, release, release + age)
            assert [hop.job.task for hop in way] == self._tasks
            assert way[0].job.release == release
            assert way[-1].job.end == way[-1].published == release + age
            times = [hop.published for hop in way]
            assert times == sorted(times)
        return len(self.arrived)


JOINED = """
policy: fp
nodes:
  front: {send: {timer: 10ms, wcet: 1ms, priority: 5, writes: [left]}}
  rear: {send: {timer: 10ms, offset: 3ms, wcet: 1ms, priority: 4, writes: [right]}}
  fusion:
    left: {on: left, wcet: 1ms, priority: 6, join: both, writes: [fused]}
    right: {on: right, wcet: 1ms, priority: 7, join: both, writes: [fused]}
  plan: {step: {on: fused, wcet: 1ms, priority: 3}}
chains:
  front: {callbacks: [front.send, fusion.left, plan.step]}
  rear: {callbacks: [rear.send, fusion.right, plan.step]}
"""


@pytest.mark.parametrize("example", ["docking.app.yaml", "two_processes.app.yaml", "joined"])
def test_the_way_of_each_datum_begins_with_its_release(tmp_path: Path, example: str) -> None:
    """The core follows the data forwards, and says only from which release it came."""
    file = EXAMPLES / example
    if example == "joined":
        file = tmp_path / "joined.app.yaml"
        file.write_text(JOINED)
    document: dict[str, Any] = flat(read_application(file))
    trace_file = tmp_path / "simulated.takttrace"
    simulate(document, where=str(file), duration=1000 * MS, trace=trace_file)
    trace = files.read(trace_file)
    numbers = {name: number for number, name in trace.names.tasks.items()}
    joins = {
        numbers[name]: join
        for join, callbacks in enumerate(files.joins_of(document["callbacks"]))
        for name in callbacks
    }
    for chain in document["chains"]:
        arriving = _Arriving([numbers[name] for name in chain["callbacks"]], joins)
        files.replay(trace, [arriving], chains=[chain["callbacks"]])
        assert arriving.check()
