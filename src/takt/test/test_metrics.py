# SPDX-License-Identifier: Apache-2.0
"""Metrics on traces made by hand: the definitions of the thesis's section 5.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from command_line import takt

from takt.errors import TaktError
from takt.schedule.metrics import Metrics, measure
from takt.schedule.metrics.model import spread
from takt.schedule.trace.file import NO_DEADLINE, NONE, Type

MS = 1_000_000
SENSOR, PLAN, STORE = 0, 1, 2
SCAN = 7


def application(**keys: Any) -> bytes:
    """A sensor that writes a scan, and a plan that reads it."""
    flat = {
        "version": 1,
        "name": "robot",
        "callbacks": [
            {
                "name": "sensor.read",
                "node": "sensor",
                "period": 10 * MS,
                "writes": ["scan"],
                "execution": {"worst": 2 * MS},
            },
            {
                "name": "plan.step",
                "node": "plan",
                "period": 10 * MS,
                "execution": {"worst": MS},
                "reads": [{"topic": "scan", "max_age": 40 * MS}],
            },
        ],
        "topics": [{"name": "scan", "bytes": 512}],
        **keys,
    }
    return make.name("attribute", 0, "application=" + json.dumps(flat))


def names() -> list[bytes]:
    return [
        make.name("task", SENSOR, "sensor.read"),
        make.name("task", PLAN, "plan.step"),
        make.name("topic", SCAN, "/scan"),
    ]


def job(
    task: int,
    number: int,
    span: tuple[int, int],
    *inside: tuple[int, Type, int],
    release: int | None = None,
    deadline: int = NO_DEADLINE,
    cpu: int = -1,
) -> list[bytes]:
    """A job from start to end, with what it published and used in between."""
    start, end = span
    begin = start if release is None else release
    missed = deadline != NO_DEADLINE and end > deadline
    return [
        make.event(begin, Type.release, task, number, deadline),
        make.event(start, Type.start, task, number, 50),
        *(make.event(at, kind, task, number, value, topic=SCAN) for at, kind, value in inside),
        make.event(end, Type.end, task, number, cpu),
        *([make.event(end, Type.deadline_miss, task, number, deadline)] if missed else []),
    ]


def metrics_of(path: Path, *records: bytes | list[bytes]) -> Metrics:
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    return measure(make.write(path / "made.takttrace", [*names(), *flat]))


def test_an_execution_is_on_old_data_where_a_newer_message_was_made_before_it_began(
    tmp_path: Path,
) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        job(SENSOR, 0, (0, 2 * MS), (1 * MS, Type.publish, 0)),
        job(PLAN, 0, (3 * MS, 4 * MS), (3 * MS, Type.use, 0)),  # the newest
        job(SENSOR, 1, (10 * MS, 12 * MS), (11 * MS, Type.publish, 1)),
        job(PLAN, 1, (13 * MS, 14 * MS), (13 * MS, Type.use, 0)),  # 1 was made: old
        job(PLAN, 2, (15 * MS, 16 * MS), (15 * MS, Type.use, 1)),
        job(PLAN, 3, (17 * MS, 18 * MS), (17 * MS, Type.use, 0)),  # old
    )
    assert found.freshness is not None
    nodes = {one.node: one for one in found.freshness.nodes}
    assert (nodes["plan"].executions, nodes["plan"].on_old_data) == (4, 2)
    assert nodes["plan"].ratio == 0.5
    assert nodes["sensor"].ratio == 0
    assert found.freshness.mean_ratio == 0.25  # over both nodes, as in section 5.4.3
    assert [one.on_old_data for one in found.callbacks] == [0, 2]


def test_what_is_made_while_an_execution_runs_does_not_make_its_data_old(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        job(SENSOR, 0, (0, 1 * MS), (1 * MS, Type.publish, 0)),
        make.event(2 * MS, Type.release, PLAN, 0, NO_DEADLINE),
        make.event(2 * MS, Type.start, PLAN, 0, 10),
        make.event(2 * MS, Type.deliver, PLAN, 0, topic=SCAN),
        job(SENSOR, 1, (3 * MS, 4 * MS), (4 * MS, Type.publish, 1)),  # preempts the plan
        make.event(5 * MS, Type.use, PLAN, 0, 0, topic=SCAN),
        make.event(6 * MS, Type.end, PLAN, 0, -1),
    )
    assert found.freshness is not None
    assert found.freshness.on_old_data == 0


def test_a_message_that_its_maker_is_still_handing_over_does_not_make_data_old(
    tmp_path: Path,
) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        make.event(0, Type.release, SENSOR, 0, NO_DEADLINE),
        make.event(0, Type.start, SENSOR, 0, 10),
        make.event(1 * MS, Type.publish, SENSOR, 0, 0, topic=SCAN),
        job(PLAN, 0, (1 * MS + 1, 2 * MS), (1 * MS + 2, Type.use, -1)),
        make.event(3 * MS, Type.end, SENSOR, 0, -1),
        job(PLAN, 1, (4 * MS, 5 * MS), (4 * MS, Type.use, -1)),  # there, and not delivered
    )
    assert found.freshness is not None
    assert found.freshness.on_old_data == 1
    assert found.data_age[0].without_data == 2


def test_data_from_outside_is_there_at_once(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        make.event(1 * MS, Type.publish, NONE, 0, 0, topic=SCAN),
        make.event(2 * MS, Type.publish, NONE, 1, 1, topic=SCAN),
        job(PLAN, 0, (3 * MS, 4 * MS), (3 * MS, Type.use, 0)),
    )
    assert found.freshness is not None
    assert found.freshness.on_old_data == 1


def test_data_age_runs_from_the_making_of_a_message_to_its_use(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        job(SENSOR, 0, (0, 2 * MS), (1 * MS, Type.publish, 0)),
        job(PLAN, 0, (3 * MS, 5 * MS), (4 * MS, Type.use, 0)),
        job(PLAN, 1, (10 * MS, 12 * MS), (11 * MS, Type.use, 0)),
        make.event(11 * MS, Type.age_violation, PLAN, 1, 41 * MS, topic=SCAN),
        job(PLAN, 2, (20 * MS, 21 * MS), (20 * MS, Type.use, 99)),  # its making was lost
    )
    (age,) = found.data_age
    assert (age.callback, age.topic) == ("plan.step", "scan")
    assert age.age_us is not None
    assert (age.age_us.count, age.age_us.min, age.age_us.max) == (2, 3000, 10000)
    assert age.age_us.mean == 6500
    assert age.age_us.sd == 3500
    assert (age.unknown, age.violations, age.max_age_us) == (1, 1, 40000)


def test_the_miss_ratio_is_of_each_callback_and_their_mean(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        job(SENSOR, 0, (0, 2 * MS), deadline=1 * MS),
        job(SENSOR, 1, (10 * MS, 11 * MS), deadline=20 * MS),
        *(
            job(PLAN, n, (n * 10 * MS + 3 * MS, n * 10 * MS + 4 * MS), deadline=(n + 1) * 10 * MS)
            for n in range(4)
        ),
        make.event(50 * MS, Type.skip, SENSOR, 2, 3),
    )
    ratios = {one.callback: one.miss_ratio for one in found.callbacks}
    assert ratios == {"sensor.read": 0.5, "plan.step": 0.0}
    assert found.mean_miss_ratio == 0.25
    assert (found.executions, found.misses) == (6, 1)
    assert [one.skipped for one in found.callbacks] == [3, 0]
    assert found.callbacks[0].response_us is not None
    assert found.callbacks[0].response_us.max == 2000


def test_callbacks_that_only_store_messages_do_not_count(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        make.name("task", STORE, "plan.scan"),
        job(SENSOR, 0, (0, 2 * MS), (1 * MS, Type.publish, 0), deadline=10 * MS),
        job(STORE, 0, (2 * MS, 2 * MS + 5)),
        job(PLAN, 0, (3 * MS, 4 * MS), (3 * MS, Type.use, 0), deadline=10 * MS),
    )
    assert found.helpers == ["plan.scan"]
    assert found.executions == 2


def test_overhead_is_cpu_time_between_callbacks_and_the_gap_to_one_that_waits(
    tmp_path: Path,
) -> None:
    found = metrics_of(
        tmp_path,
        application(),
        job(SENSOR, 0, (0, 2 * MS), cpu=1_900_000),
        job(PLAN, 0, (2 * MS + 7000, 3 * MS), release=1 * MS, cpu=900_000),  # waited: a hand-over
        make.event(2 * MS + 7000, Type.dispatch, PLAN, 0, 4000),
        job(SENSOR, 1, (10 * MS, 12 * MS)),  # the core was idle: none
    )
    assert found.overhead.cpu_us is not None
    assert found.overhead.cpu_us.median == 4
    assert found.overhead.handover_us is not None
    assert (found.overhead.handover_us.count, found.overhead.handover_us.max) == (1, 7)
    assert found.callbacks[0].cpu_us is not None
    assert found.callbacks[0].cpu_us.max == 1900


def chain_trace() -> list[list[bytes]]:
    """Datum 0 is used twice, datum 1 never, datum 2 once."""
    return [
        job(SENSOR, 0, (1 * MS, 2 * MS), (2 * MS, Type.publish, 0), release=0),
        job(PLAN, 0, (3 * MS, 4 * MS), (3 * MS, Type.use, 0)),
        job(PLAN, 1, (8 * MS, 9 * MS), (8 * MS, Type.use, 0)),
        job(SENSOR, 1, (10 * MS, 11 * MS), (11 * MS, Type.publish, 1)),
        job(SENSOR, 2, (20 * MS, 21 * MS), (21 * MS, Type.publish, 2)),
        job(PLAN, 2, (25 * MS, 27 * MS), (25 * MS, Type.use, 2)),
    ]


def test_the_latency_of_a_chain_is_to_the_first_end_of_each_datum(tmp_path: Path) -> None:
    chain = {"name": "act", "callbacks": ["sensor.read", "plan.step"], "max_latency": 5 * MS}
    found = metrics_of(tmp_path, application(chains=[chain]), *chain_trace())
    (path,) = found.chains
    assert path.latency_us is not None
    assert (path.latency_us.count, path.latency_us.min, path.latency_us.max) == (2, 4000, 7000)
    assert path.violations == 1
    assert path.age_us is not None
    assert (path.age_us.count, path.age_us.max) == (3, 9000)
    assert path.reaction_us is not None  # from the release of datum 0 to the end with datum 2
    assert (path.reaction_us.count, path.reaction_us.max) == (1, 27000)


def test_a_trace_without_its_application_still_has_responses_and_freshness(tmp_path: Path) -> None:
    found = metrics_of(tmp_path, *chain_trace())
    assert not found.declared
    assert found.freshness is not None
    assert [one.node for one in found.freshness.nodes] == ["plan"]
    assert found.chains == []


def test_a_trace_without_uses_has_no_freshness(tmp_path: Path) -> None:
    found = metrics_of(tmp_path, application(), job(SENSOR, 0, (0, MS)))
    assert found.freshness is None
    assert found.data_age == []


def test_stolen_time_is_summed_by_core(tmp_path: Path) -> None:
    found = metrics_of(
        tmp_path,
        make.event(5 * MS, Type.stolen, NONE, 10 * MS, 10 * MS, core=1),
        make.event(9 * MS, Type.stolen, NONE, 10 * MS, 20 * MS, core=1),
    )
    assert found.stolen_ms == {1: 30}


def test_an_empty_trace_has_no_metrics_and_no_fault(tmp_path: Path) -> None:
    found = measure(make.write(tmp_path / "empty.takttrace", []))
    assert (found.executions, found.mean_miss_ratio, found.freshness) == (0, None, None)


def test_a_damaged_application_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="application in the trace"):
        metrics_of(tmp_path, make.name("attribute", 0, 'application={"callbacks":[{}]}'))


def test_quartiles_are_those_of_the_tables() -> None:
    found = spread([1000, 2000, 3000, 4000])
    assert found is not None
    assert (found.q1, found.median, found.q3) == (1.75, 2.5, 3.25)
    assert spread([]) is None


def test_the_command_prints_one_document_for_all_traces(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = make.write(tmp_path / "a.takttrace", [application(), *names(), *chain_trace()[0]])
    never = 1  # plan.step has an age limit, and never ran
    assert takt(["metrics", str(path), str(path), "--json"]) == never
    document = json.loads(capfd.readouterr().out)
    assert document["schema_version"] == 2
    assert [one["executions"] for one in document["traces"]] == [1, 1]
    assert takt(["metrics", str(path)]) == never
    assert "sensor.read" in capfd.readouterr().out


def test_skipped_releases_stand_beside_what_was_executed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # one table
    skip = make.event(50 * MS, Type.skip, SENSOR, 2, 3)
    without = make.write(tmp_path / "a.takttrace", [application(), *names(), *chain_trace()[0]])
    starved = make.write(
        tmp_path / "b.takttrace", [application(), *names(), *chain_trace()[0], skip]
    )
    assert takt(["metrics", str(without)]) == 1  # plan.step has an age limit, and never ran
    assert "skip-" not in capfd.readouterr().out
    assert takt(["metrics", str(starved)]) == 1
    reported = capfd.readouterr().out
    assert "; 3 releases skipped" in reported
    rows = {line.split()[0]: line.split() for line in reported.splitlines() if line}
    assert (rows["sensor.read"][3], rows["plan.step"][3]) == ("3", "0")
