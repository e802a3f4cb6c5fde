# SPDX-License-Identifier: Apache-2.0
"""takt model: the app.yaml of what a trace saw is the application that was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

import trace_files
from command_line import takt
from modelled import bounds, differences, round_trip
from takt_core import EventType as Type

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate.files import generate
from takt.schedule.generate.space import read_space
from takt.schedule.model.from_trace import observed
from takt.schedule.model.model import model
from takt.schedule.model.tail import TailEstimate, estimate
from takt.schedule.model.written import Written

EXAMPLES = Path(__file__).parents[3] / "examples"
MS = 1_000_000


def applications(file: str, repeat: int, seed: int) -> list[dict[str, Any]]:
    """Without overheads: those are in the execution times that are seen."""
    return [
        one.flat | {"overheads": {}} for one in generate(read_space(EXAMPLES / file), repeat, seed)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_simulated_application_comes_back_with_the_same_bounds(tmp_path: Path, seed: int) -> None:
    for application in applications("parameters.json", 5, seed):
        back, result = round_trip(application, tmp_path)
        assert not list(differences(application, back, result, exact=True))
        assert bounds(back) == bounds(application)


@pytest.mark.parametrize("execution", ["worst", "drawn"])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_an_application_has_comes_back(tmp_path: Path, seed: int, execution: Any) -> None:
    """All policies, groups, messages, jitter, waiting, scenarios, several cores."""
    kinds = set()
    for application in applications("whole_space.json", 3, seed):
        back, result = round_trip(application, tmp_path, execution=execution)
        exact = execution == "worst"
        assert not list(differences(application, back, result, exact=exact)), application["name"]
        bounds(back)  # an executor would take it as it is
        kinds |= {key for one in back["callbacks"] for key in one}
        kinds |= {part for part in ("scenarios", "chains", "topics") if back[part]}
    assert kinds > {"trigger", "group", "suspension", "overrun", "offset", "scenarios", "chains"}


def test_a_range_of_messages_comes_back_as_far_as_it_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "burst.app.yaml"
    path.write_text(
        "nodes:\n"
        "  n:\n"
        "    write: {timer: 10ms, wcet: 1ms, priority: 9, writes: {tf: {messages: [2, 4]}}}\n"
        "    hear: {on: tf, wcet: 1ms, priority: 8, overrun: catch_up}\n"
        "topics: {tf: {depth: 8}}\n"
    )
    application = flat(read_application(path))
    worst, _ = round_trip(application, tmp_path)
    assert worst["callbacks"][0]["messages"] == {"tf": 4}
    drawn, _ = round_trip(application, tmp_path, execution="drawn")
    assert drawn["callbacks"][0]["messages"] == {"tf": [2, 4]}
    text = (tmp_path / "back.app.yaml").read_text()
    assert "one job publishes 2 to 4 messages on tf; observed, no worst case" in text


def test_messages_of_a_job_are_counted_across_pieces_of_a_trace() -> None:
    written = Written()
    for piece in ([0, 0, 0, 1, 1], [1], [1, 2, 2], [3, 3], [4]):
        written.take(np.array(piece, np.uint64))
    assert written.jobs == 5
    assert written.range == (2, 4)  # the trace may end before the others of job 4
    alone = Written()
    alone.take(np.array([7, 7]))
    assert (alone.jobs, alone.range) == (1, (2, 2))


def test_chains_are_the_paths_that_data_took(tmp_path: Path) -> None:
    application = flat(read_application(EXAMPLES / "docking.app.yaml"))
    back, result = round_trip(application, tmp_path)
    assert [one["callbacks"] for one in back["chains"]] == [["radar.scan", "guard.brake"]]
    (chain,) = result.chains
    assert chain.arrivals >= 50
    assert chain.longest_us is not None
    assert chain.longest_us <= 40_000  # what the example allows


def test_comments_say_what_is_observed_and_what_is_not_declared(tmp_path: Path) -> None:
    application = flat(read_application(EXAMPLES / "docking.app.yaml"))
    round_trip(application, tmp_path)
    text = (tmp_path / "back.app.yaml").read_text()
    assert "longest of 100 observed jobs (CPU time), not a worst case" in text
    assert "# note: queue depth" in text
    for line in text.splitlines():
        assert "worst case" not in line or "not a worst case" in line


def test_a_margin_is_added_to_observed_times(tmp_path: Path) -> None:
    trace = trace_files.write(tmp_path / "one.takttrace", trace_files.periodic(20))
    model(trace, tmp_path / "one.app.yaml", margin=0.5)
    (one,) = read_application(tmp_path / "one.app.yaml").callbacks.values()
    assert (one.timer, one.wcet) == (MS, 1500)
    assert one.execution is not None
    assert one.execution.bounds == (1000, 1000)


def declared_task(**keys: Any) -> bytes:
    return trace_files.name("attribute", 0, f"task={json.dumps(keys)}")


def released(times: list[int], jobs: list[int] | None = None, task: int = 0) -> list[bytes]:
    records = [
        trace_files.name("task", task, "/ns/radar.timer0"),
        trace_files.name("attribute", 0, "policy.default=fp"),
        trace_files.name("attribute", 0, "scenario=default"),
    ]
    for job, time in zip(jobs or range(len(times)), times, strict=True):
        records += [
            trace_files.event(time, Type.release, task=task, job=job, value=time + 5 * MS),
            trace_files.event(time + 10, Type.start, task=task, job=job, value=40),
            trace_files.event(time + 910, Type.end, task=task, job=job, value=900),
        ]
    return records


def modelled(tmp_path: Path, records: list[bytes]) -> tuple[dict[str, Any], str]:
    trace = trace_files.write(tmp_path / "made.takttrace", records)
    out = tmp_path / "made.app.yaml"
    model(trace, out)
    (one,) = flat(read_application(out))["callbacks"]
    return one, out.read_text()


def test_a_trace_without_descriptions_is_read_by_its_events(tmp_path: Path) -> None:
    one, text = modelled(tmp_path, released([0, 10 * MS, 20 * MS, 40 * MS], [0, 1, 2, 4]))
    assert one["name"] == "ns_radar.timer0"
    assert (one["period"], one["deadline"], one["jitter"]) == (10 * MS, 5 * MS, 10)
    assert one["execution"]["worst"] == 900
    assert "every callback is assumed to be a timer" in text
    assert 'recorded: "/ns/radar.timer0"' in text


def test_the_group_of_waiting_callbacks_is_named_as_unknown(tmp_path: Path) -> None:
    """As services of rclcpp nodes, which lock the group of their node."""
    result = declared_task(name="/ns/radar.timer0", kind="timer", period=10 * MS, waits=True)
    one, text = modelled(tmp_path, [result, *released([0, 10 * MS, 20 * MS])])
    assert "group" not in one or not one["group"]
    assert "group: not recorded for callbacks that wait" in text


def test_what_a_scenario_says_of_a_callback_that_comes_again_is_said_once(tmp_path: Path) -> None:
    result = declared_task(name="/ns/radar.timer0", kind="timer", period=10 * MS)
    records = [trace_files.name("attribute", 0, "policy.docking=fp")]
    for deadline in (7 * MS, 5 * MS):
        change = {"task": "/ns/radar.timer0", "scenario": "docking", "deadline": deadline}
        records += [result, trace_files.name("attribute", 0, f"change={json.dumps(change)}")]
    trace = trace_files.write(tmp_path / "t", records + released([0, 10 * MS, 20 * MS]))
    model(trace, tmp_path / "made.app.yaml")
    made = flat(read_application(tmp_path / "made.app.yaml"))
    scenarios = {one["name"]: one["tasks"] for one in made["scenarios"]}
    assert [one["deadline"] for one in scenarios["docking"]] == [5 * MS]


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ([0, 10 * MS, 20 * MS, 30 * MS], 10 * MS),
        ([0, 10 * MS, 19 * MS, 29 * MS], 9 * MS),  # a timer that was reset comes early
        ([0, 10 * MS, 35 * MS, 45 * MS], 10 * MS),
    ],
)
def test_a_declared_period_is_believed_unless_releases_are_closer(
    tmp_path: Path, times: list[int], period: int
) -> None:
    records = [
        declared_task(name="/ns/radar.timer0", kind="timer", period=10 * MS, deadline=5 * MS),
    ]
    one, text = modelled(tmp_path, records + released(times))
    assert (one["period"], one["deadline"]) == (period, 5 * MS)
    assert ("the shortest observed" in text) == (period < 10 * MS)


def test_who_releases_a_callback_from_outside_is_reported_by_its_distances(tmp_path: Path) -> None:
    records = [
        declared_task(
            name="/ns/radar.timer0",
            kind="message",
            trigger="/scan",
        ),
        declared_task(name="/ns/radar.unused", kind="message", trigger="/scan"),
        trace_files.name("task", 7, "/ns/radar.unused"),
    ]
    one, text = modelled(tmp_path, records + released([0, 9 * MS, 20 * MS]))
    assert one["trigger"] == "scan"
    application = read_application(tmp_path / "made.app.yaml")
    assert application.topics["scan"].external_period == 9 * MS
    assert "1 callbacks never ran and are excluded: ns_radar.unused" in text


def test_times_on_a_busy_core_are_no_jitter(tmp_path: Path) -> None:
    records = [
        *released([0, 10 * MS, 20 * MS]),
        trace_files.name("task", 1, "other.run"),
        trace_files.event(10 * MS - 500, Type.release, task=1, value=20 * MS),
        trace_files.event(10 * MS - 500, Type.start, task=1, value=50),
        trace_files.event(10 * MS + 400, Type.end, task=1, value=-1),
        trace_files.event(30 * MS, Type.release, task=0, job=3, value=35 * MS),
        trace_files.event(30 * MS - 20, Type.release, task=1, job=1, value=50 * MS),
        trace_files.event(30 * MS - 10, Type.start, task=1, job=1, value=50),
        trace_files.event(31 * MS, Type.end, task=1, job=1, value=-1),
        trace_files.event(31 * MS + 5, Type.start, task=0, job=3, value=40),
        trace_files.event(32 * MS, Type.end, task=0, job=3, value=900),
    ]
    trace = trace_files.write(tmp_path / "busy.takttrace", records)
    radar, _ = observed(trace).callbacks
    assert radar.noticing.tolist() == [10, 10]  # of the first and the third job


def test_an_exponential_tail_is_found_again() -> None:
    rng = np.random.default_rng(7)
    times = (1e6 + rng.exponential(1e5, 20_000)).astype(np.int64)
    tail = estimate(times)
    assert isinstance(tail, TailEstimate)
    true = 1000 + 100 * np.log(tail.once_in_jobs)  # µs
    assert tail.once_in_jobs == 200_000
    assert tail.low_us < true < tail.high_us
    assert tail.low_us < tail.level_us < tail.high_us


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (np.full(5000, 1000), "the same time"),
        (np.arange(500) * 1000, "too few"),
        (np.concatenate([np.arange(9000), np.repeat([50_000, 90_000], 500)]), "distinct"),
    ],
)
def test_where_there_is_no_tail_none_is_estimated(times: Any, reason: str) -> None:
    found = estimate(times.astype(np.int64))
    assert isinstance(found, str)
    assert reason in found


def test_the_command_writes_one_document_and_replaces_nothing_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trace_files.write(tmp_path / "one.takttrace", trace_files.periodic(20))
    assert takt(["model", "one.takttrace", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert document["application"] == "one.app.yaml"
    assert [one["jobs"] for one in document["callbacks"]] == [20]
    assert takt(["model", "one.takttrace"]) == 2
    assert "--force" in capsys.readouterr().err
    assert takt(["model", "one.takttrace", "--force"]) == 0
    assert "not a worst case" in capsys.readouterr().out
    assert takt(["analyse", "one.app.yaml"]) == 0


def test_files_that_are_no_trace_and_empty_traces_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text"
    text.write_text("no trace at all, but long enough for a header of sixty-four bytes, really")
    assert takt(["model", str(text), "-o", str(tmp_path / "a.app.yaml")]) == 2
    empty = trace_files.write(tmp_path / "empty.takttrace", [])
    assert takt(["model", str(empty), "-o", str(tmp_path / "a.app.yaml")]) == 2
    assert "contains no callback" in capsys.readouterr().err
    assert not (tmp_path / "a.app.yaml").exists()


def test_another_run_is_held_to_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trace of a running application has no description of its own."""
    fast = trace_files.write(tmp_path / "fast.takttrace", released([0, 10 * MS, 20 * MS]))
    out = tmp_path / "fast.app.yaml"
    model(fast, out)
    late = [0, 10 * MS, 20 * MS]
    slow = [
        record
        for record in released(late)
        if record[30] != Type.end or int.from_bytes(record[8:16], "little") != 1
    ]
    slow.append(trace_files.event(12 * MS, Type.end, task=0, job=1, value=2 * MS))
    second = trace_files.write(tmp_path / "slow.takttrace", slow)
    above = []
    for trace in (fast, second):
        assert takt(["explain", str(trace), "--against", str(out), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        above.append(document["bounds"]["above"] if document["bounds"] else None)
    assert above == [0, 1]
    assert takt(["metrics", str(second), "--against", str(out), "--json"]) == 0
    (metrics,) = json.loads(capsys.readouterr().out)["traces"]
    assert metrics["declared"]
    assert [one["callback"] for one in metrics["callbacks"]] == ["ns_radar.timer0"]
    other = EXAMPLES / "docking.app.yaml"
    assert takt(["metrics", str(second), "--against", str(other)]) == 2
    assert "none of its callbacks" in capsys.readouterr().err
