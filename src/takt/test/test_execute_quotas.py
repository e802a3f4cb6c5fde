# SPDX-License-Identifier: Apache-2.0
"""Quotas (cpu_max) of a robot's processes, executed in control groups of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executed import MS, cpu, executed, skip_without_rclcpp

from takt.errors import TaktError
from takt.machine import cpu_quota
from takt.network.sweeper import SWEEPER
from takt.schedule.execution import quotas
from takt.schedule.explain import explain
from takt.schedule.trace import file as traces
from takt.schedule.trace import quotas as traced

BUDGET, PERIOD, WORK = 10 * MS, 50 * MS, 25 * MS


def robot(policy: str = "np-fp") -> dict[str, Any]:
    """A process whose jobs use up its quota twice, before everything else at SCHED_OTHER."""
    quota = {"budget": BUDGET, "period": PERIOD}
    return {
        "version": 1,
        "name": "robot",
        "processes": [
            {"name": "log", "policy": policy, "cpu": cpu(), "nice": -20, "quota": quota},
            {"name": "idle", "policy": "fp", "cpu": cpu(), "priority": 50},
        ],
        "callbacks": [
            {
                "name": name,
                "node": name,
                "process": process,
                "period": 200 * MS,
                "priority": 10,
                "deadline": deadline,
                "execution": {"worst": worst},
            }
            for name, process, worst, deadline in (
                ("flush", "log", WORK, WORK),
                ("rest", "idle", MS // 10, 200 * MS),
            )
        ],
    }


@pytest.fixture
def _groups() -> None:
    if lack := cpu_quota.lacking():
        pytest.skip(lack[0])


@pytest.mark.usefixtures("app_runner", "_groups")
@pytest.mark.parametrize("policy", ["np-fp", "rclcpp_single_threaded"])
def test_a_process_is_throttled_and_the_trace_says_for_how_long(
    tmp_path: Path, policy: str
) -> None:
    skip_without_rclcpp(policy)
    before = _there()
    done = executed(tmp_path, "takt", robot(policy))
    assert done.status == "complete"
    counted = traced.measured(traces.read(done.trace).names)["log"]
    # Its first job may be its last: what it computes lasts longer than one budget, and waits.
    assert counted.times >= 1
    assert counted.ns > 0
    assert done.throttled == [traced.sentence("log", counted)]
    assert "was throttled in" in done.throttled[0]
    found = explain(done.trace)
    evidence = [share.evidence for one in found.details for share in one.shares]
    assert any("for" in one and "of its quota" in one for one in evidence), evidence
    assert _there() == before


def _there() -> set[Path]:
    return {group for root in cpu_quota._roots() for group in root.glob("takt-quota-*")}


def test_where_no_group_can_be_made_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_quota, "_GROUPS", tmp_path / "none")
    with (
        pytest.raises(TaktError, match="'log' has a quota") as error,
        quotas.applied(robot(), tmp_path),
    ):
        pass
    assert "run as root" in str(error.value.fix)
    assert "or remove cpu_max" in str(error.value.fix)


def test_on_a_worker_it_is_refused(tmp_path: Path) -> None:
    application = robot()
    for process in application["processes"]:
        process["host"] = "pc"
    with (
        pytest.raises(TaktError, match="host is the worker motors") as error,
        quotas.applied(application, tmp_path, {"pc": "motors"}),
    ):
        pass
    assert "here, namespace" in str(error.value.fix)


def test_in_version_2_the_threads_have_a_group_within_that_of_their_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_quota, "_GROUPS", tmp_path)
    with quotas.applied(robot(), tmp_path / "takt-0-0123abcd") as limited:
        outer = tmp_path / "takt-quota-0123abcd-0"
        files = {one.name: one.read_text() for one in (outer / "jobs").iterdir()}
        assert files == {
            "cgroup.type": "threaded",
            "cpu.max": "10000 50000",
            "cpu.weight.nice": "-20",
        }
        assert (outer / "cgroup.subtree_control").read_text() == "+cpu"
        assert (outer / "cpu.weight.nice").read_text() == "-20"
        assert limited.options(robot()) == ["--quota", f"log={outer / 'jobs'}"]
        stat = "usage_usec 9\nnr_periods 7\nnr_throttled 2\nthrottled_usec 30\n"
        (outer / "jobs" / "cpu.stat").write_text(stat)
        assert cpu_quota.throttled(outer / "jobs") == cpu_quota.Throttled(30_000, 2, 7)


@pytest.mark.usefixtures("_groups")
def test_the_groups_of_a_killed_execution_are_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "takt-0-89abcdef"
    with quotas.applied(robot(), scratch) as limited:
        (group,) = limited.groups.values()
        assert SWEEPER.of_run(scratch, True) == [f"control group with a quota: {group}"]
        assert not group.exists()
