# SPDX-License-Identifier: Apache-2.0
"""Time that jobs waited for locks, in traces by hand, of the simulator and of an execution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from executed import cpu, executed, values
from explained_traces import HIGH, LOW, MS, OTHER, begin, end, names

from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.model import ShareKind
from takt.schedule.explain.show import sentence
from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import Type, read


def application(length: int = 3 * MS, cpus: list[int] | None = None) -> dict[str, Any]:
    """High and low share the lock map; other takes none."""

    def callback(name: str, priority: int, worst: int, **keys: Any) -> dict[str, Any]:
        work = {"best": worst, "worst": worst, "quantiles": [worst, worst]}
        return {
            "name": name,
            "node": name,
            "priority": priority,
            "period": 100 * MS,
            "execution": work,
            **keys,
        }

    held = {"lock": "map", "longest": length}
    return {
        "version": 1,
        "name": "locked",
        "policy": "fp",
        "cpus": cpus or [0],
        "locks": [{"name": "bus"}, {"name": "map", "protocol": "inheritance"}],
        "callbacks": [
            callback("low", 10, 5 * MS, critical_sections=[{**held, "begin": MS}]),
            callback(
                "high",
                80,
                2 * MS,
                offset=2 * MS,
                deadline=2 * MS,
                critical_sections=[{"lock": "map", "begin": MS // 2, "longest": MS}],
            ),
            callback("other", 50, MS, offset=2 * MS + MS // 4),
        ],
    }


def explained(path: Path, flat: dict[str, Any], *records: bytes | list[bytes]) -> Explanation:
    every = [each for one in records for each in (one if isinstance(one, list) else [one])]
    text = make.name("attribute", 0, "application=" + json.dumps(flat))
    policy = make.name("attribute", 0, "policy=fp")
    return explain(make.write(path / "made.takttrace", [*names(), text, policy, *every]))


def shares(found: Explanation, callback: str) -> dict[tuple[ShareKind, str | None], float]:
    """In ms, of the one job of it that was late; they add up to its response."""
    (late,) = [one for one in found.details if one.callback == callback]
    assert sum(round(one.us * 1000) for one in late.shares) == round(late.end_us * 1000)
    return {(one.kind, one.by): one.us / 1000 for one in late.shares}


def executed_wait(until: int) -> list[bytes]:
    """As an executor records it: high is on top of the stack while low runs in its place."""
    return [
        *begin(LOW, 0, 0, deadline=7 * MS),
        *begin(HIGH, 2 * MS, 2 * MS, deadline=6 * MS),
        make.event(2 * MS + MS // 2, Type.lock_wait, HIGH, 0, LOW, topic=1),
        make.event(2 * MS + MS // 4, Type.release, OTHER, 0, 7 * MS),
        make.event(until, Type.lock, HIGH, 0, 0, topic=1),
        end(HIGH, until + 3 * MS // 2, 2 * MS),
        make.event(until + 3 * MS // 2, Type.start, OTHER, 0, 50),
        end(OTHER, until + 5 * MS // 2, MS),
        end(LOW, until + 3 * MS, until),
    ]


def test_it_waited_for_a_lock_that_another_one_held(tmp_path: Path) -> None:
    found = explained(tmp_path, application(), executed_wait(5 * MS))
    assert shares(found, "high") == {
        (ShareKind.lock, "low"): 2.5,
        (ShareKind.executed, None): 2,
    }
    late = next(one for one in found.details if one.callback == "high")
    assert (late.cause, late.by) == (ShareKind.lock, "low")
    assert next(one for one in late.shares if one.kind is ShareKind.lock).evidence == (
        "waited for map"
    )
    assert "lock, held by low" in sentence(late)
    # Whoever is in between waits for the same, and for the rest of high's job.
    between = shares(found, "other")
    assert between[ShareKind.lock, "low"] == 2.5
    assert between[ShareKind.waited, "high"] == 1.75
    # Low computed itself while it had the core in high's place.
    assert shares(found, "low") == {
        (ShareKind.executed, None): 5,
        (ShareKind.preempted, "high"): 2,
        (ShareKind.preempted, "other"): 1,
    }


def test_a_wait_that_the_bound_counts_is_no_reason_to_be_above_it(tmp_path: Path) -> None:
    """Low holds the lock for longer than declared, and that is what the bound does not know of."""
    found = explained(tmp_path, application(), executed_wait(8 * MS))
    late = next(one for one in found.details if one.callback == "high")
    assert late.above is not None
    assert late.above.cause is ShareKind.lock
    assert late.above.unknown_us[ShareKind.lock] == 2500  # 5.5 ms, of which 3 are declared


def test_a_job_that_spins_waits_with_cpu_time_of_its_own(tmp_path: Path) -> None:
    """Low holds the lock on another core."""
    spins = [
        *begin(HIGH, 2 * MS, 2 * MS, deadline=6 * MS),
        make.event(2 * MS + MS // 2, Type.lock_wait, HIGH, 0, LOW, topic=1),
        make.event(5 * MS, Type.lock, HIGH, 0, 0, topic=1),
        end(HIGH, 13 * MS // 2, 9 * MS // 2),
    ]
    found = explained(tmp_path, application(), spins)
    assert shares(found, "high") == {
        (ShareKind.lock, "low"): 2.5,
        (ShareKind.executed, None): 2,
    }
    (late,) = found.details
    assert (late.cause, late.by) == (ShareKind.lock, "low")
    assert late.above is None or ShareKind.overran not in late.above.unknown_us


def test_a_simulated_trace_has_the_same(tmp_path: Path) -> None:
    trace = tmp_path / "simulated.takttrace"
    simulate(application(), where="here", trace=trace, duration=100 * MS)
    found = explain(trace)
    high = shares(found, "high")
    assert high == {(ShareKind.lock, "low"): 2, (ShareKind.executed, None): 2}
    assert found.by_cause[ShareKind.lock] == found.misses > 0


@pytest.mark.usefixtures("app_runner")
def test_an_execution_records_who_waited_for_which_lock(tmp_path: Path) -> None:
    # On a core that others have for long the jobs may miss each other: once more, then.
    for turn in range(5):
        (folder := tmp_path / str(turn)).mkdir()
        done = executed(folder, "takt", application(cpus=[cpu()]))
        trace = read(done.trace)
        waits = values(trace, Type.lock_wait)
        if waits:
            break
    assert len(waits) == len(values(trace, Type.lock))
    assert {trace.names.task(holder) for _, holder in waits} == {"low"}
    found = explain(done.trace)
    by = {one.by for late in found.details for one in late.shares if one.kind is ShareKind.lock}
    assert by == {"low"}
