# SPDX-License-Identifier: Apache-2.0
"""Joins from the file to the trace and back: parsed, simulated, and found again."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Type

APP = """
cpus: [0, 1]
policy: fp
nodes:
  front: {{read: {{timer: 10ms, wcet: 1ms, priority: 40, cpu: 0, writes: [front]}}}}
  rear: {{read: {{timer: {rear}, wcet: 1ms, priority: 41, cpu: 1, writes: [rear]}}}}
  fusion:
    front: {{on: front, wcet: 1ms, priority: 20, cpu: 0, deadline: 50ms{both}, writes: [fused]}}
    rear: {{on: rear, wcet: 2ms, priority: 21, cpu: 1, deadline: 50ms{both}, writes: [fused]}}
  planner: {{plan: {{on: fused, wcet: 2ms, priority: 10, cpu: 0, deadline: 50ms}}}}
"""


def application(folder: Path, both: str = ", join: both", rear: str = "15ms") -> dict[str, Any]:
    path = folder / "fusion.app.yaml"
    path.write_text(APP.format(both=both, rear=rear), encoding="utf-8")
    return flat(read_application(path))


def joined(document: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["join"] for one in document["callbacks"] if "join" in one}


def test_a_join_is_one_of_its_node(tmp_path: Path) -> None:
    document = application(tmp_path)
    assert joined(document) == {"fusion.front": "both", "fusion.rear": "both"}
    path = tmp_path / "again.app.yaml"
    path.write_text(app_yaml(document, "", {}), encoding="utf-8")
    assert joined(flat(read_application(path))) == joined(document)


def test_a_join_of_one_callback_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "one.app.yaml"
    text = "nodes: {n: {a: {timer: 9ms, wcet: 1ms, join: all, writes: [t]}}}"
    path.write_text(text, encoding="utf-8")
    application = flat(read_application(path))
    with pytest.raises(TaktError, match="no other callback of its node"):
        simulate(application, where=str(path))


class Jobs:
    """What happened, in the order of the trace: who ended, and who published."""

    def __init__(self, trace: Path) -> None:
        self.ended: list[tuple[int, str, bool]] = []
        self._published: dict[str, set[int]] = defaultdict(set)
        read = files.read(trace)
        self._names = read.names
        files.replay(read, [self])

    def take(self, step: Step) -> None:
        events = step.events
        columns = (events[name].tolist() for name in ("type", "task", "job", "time"))
        for kind, task, job, time in zip(*columns, strict=True):
            name = self._names.tasks.get(task, "")
            if kind == Type.publish:
                self._published[name].add(job)
            if kind == Type.end:
                self.ended.append((time, name, job in self._published[name]))


def completes(ended: list[tuple[int, str, bool]], callbacks: set[str]) -> list[bool]:
    """The rule once more, of its own: whether each job finds all the others in the store."""
    waiting = set(callbacks)
    found = []
    for _, name, _ in ended:
        waiting.discard(name)
        found.append(not waiting)
        if not waiting:
            waiting = set(callbacks)
    return found


def drawn(seed: int) -> dict[str, Any]:
    """Timers, and a node that joins two to four of their topics."""
    chance = random.Random(seed)
    cpus = list(range(chance.randint(1, 3)))
    inputs = chance.randint(2, 4)
    callbacks = []
    for number in range(inputs):
        worst = chance.randint(10_000, 900_000)
        execution = {"best": worst // 3, "worst": worst, "quantiles": [worst // 3, worst]}
        common = {"execution": execution, "cpu": chance.choice(cpus)}
        priority = {"priority": chance.randint(1, 90)}
        period = chance.choice([7, 10, 12, 20, 33]) * 1_000_000
        timer = {"name": f"source{number}.read", "node": f"source{number}", "kind": "timer"}
        callbacks.append(timer | common | priority | {"period": period, "writes": [f"t{number}"]})
        message = {"name": f"fusion.on{number}", "node": "fusion", "kind": "message"}
        message |= {"trigger": f"t{number}", "overrun": chance.choice(["catch_up", "skip"])}
        priority = {"priority": chance.randint(1, 90), "deadline": 99_000_000}
        callbacks.append(message | common | priority | {"join": "join", "writes": ["fused"]})
    policy = chance.choice(["fp", "edf", "np-fp", "np-edf"])
    return {"version": 1, "name": "drawn", "policy": policy, "cpus": cpus, "callbacks": callbacks}


@pytest.mark.parametrize("seed", range(12))
def test_the_simulator_publishes_by_the_rule_and_the_model_finds_it(
    tmp_path: Path, seed: int
) -> None:
    document = drawn(seed)
    trace = tmp_path / "run.takttrace"
    simulate(
        document, where="drawn", duration=2_000_000_000, execution="drawn", seed=seed, trace=trace
    )
    callbacks = set(joined(document))
    ended = [job for job in Jobs(trace).ended if job[1] in callbacks]
    assert [published for *_, published in ended] == completes(ended, callbacks)
    assert 0 < sum(published for *_, published in ended) < len(ended)
    out = tmp_path / "back.app.yaml"
    model(trace, out)
    assert joined(flat(read_application(out))) == joined(document)


def test_callbacks_that_publish_each_time_are_no_join(tmp_path: Path) -> None:
    document = application(tmp_path, both="")
    trace = tmp_path / "run.takttrace"
    simulate(document, where="made", duration=1_000_000_000, trace=trace)
    out = tmp_path / "back.app.yaml"
    model(trace, out)
    assert joined(flat(read_application(out))) == {}


class Latencies:
    """How many data reached the end of the first chain, and the longest time of one, in ns."""

    def __init__(self) -> None:
        self.count, self.longest = 0, 0

    def take(self, step: Step) -> None:
        arrivals = step.arrivals
        ages = arrivals["age"][arrivals["first"]]
        self.count += len(ages)
        self.longest = max(self.longest, int(ages.max(initial=0)))


@pytest.mark.parametrize("first", ["front", "rear"])
@pytest.mark.parametrize("rear", ["15ms", "10ms", "3ms"])
def test_data_is_followed_through_a_join_whichever_callback_publishes(
    tmp_path: Path, first: str, rear: str
) -> None:
    document = application(tmp_path, rear=rear)
    path = [f"{first}.read", f"fusion.{first}", "planner.plan"]
    document["chains"] = [{"name": "through", "callbacks": path}]
    trace = tmp_path / "run.takttrace"
    simulated = simulate(document, where="made", duration=1_000_000_000, trace=trace)
    followed = Latencies()
    files.replay(files.read(trace), [followed], chains=[path])
    (chain,) = simulated.chains
    assert followed.count == chain.latency.count > 50
    assert followed.longest / 1000 == chain.latency.max_us
