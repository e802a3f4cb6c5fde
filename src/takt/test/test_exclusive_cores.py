# SPDX-License-Identifier: Apache-2.0
"""Cores that the measured processes have alone: made, refused with the reason, put back."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from synthetic_machine import (
    JOURNAL,
    SyntheticMachine,
    killed_at_each_step,
    new_machine,
    state,
    thread,
)

from takt.machine import exclusive
from takt.machine.own_group import members
from takt.measure.conditions import tuned
from takt.tune.apply import apply
from takt.tune.revert import revert

FIRST = "/sys/fs/cgroup/cpuset"
REST, MEASURED = f"{FIRST}/takt.rest", f"{FIRST}/takt.measured"
UNIFIED = "/sys/fs/cgroup/takt.measured"
KERNEL_THREAD, SHELL, EDITOR = 14, 700, 701


@pytest.fixture
def unified(tmp_path: Path) -> SyntheticMachine:
    """Version 2 of control groups."""
    return new_machine(tmp_path / "unified")


@pytest.fixture
def first(tmp_path: Path) -> SyntheticMachine:
    """Version 1, with a container's groups below the root."""
    machine = new_machine(tmp_path / "first")
    for name in ("cgroup.controllers", "cgroup.subtree_control"):
        machine.path(f"/sys/fs/cgroup/{name}").unlink()
    machine.put(
        {
            f"{FIRST}/cpuset.cpus": "0-3\n",
            f"{FIRST}/cpuset.mems": "0\n",
            f"{FIRST}/cgroup.procs": f"{KERNEL_THREAD}\n{SHELL}\n{EDITOR}\n",
            f"{FIRST}/docker/cpuset.cpus": "0-3\n",
            f"{FIRST}/docker/cgroup.procs": "",
            f"{FIRST}/docker/one/cpuset.cpus": "2-3\n",
            f"{FIRST}/docker/one/cgroup.procs": "900\n",
            f"{FIRST}/docker/two/cpuset.cpus": "0\n",
            f"{FIRST}/docker/two/cgroup.procs": "",
        }
    )
    return machine


def test_of_version_1_everything_else_moves_and_other_groups_lose_the_cores(
    first: SyntheticMachine,
) -> None:
    before = state(first)
    places = apply(first, settings=[exclusive.exclusive_cores([3])])
    assert {one.result for one in places} == {"changed"}
    assert members(first, REST) == [SHELL, EDITOR]
    assert members(first, FIRST) == [KERNEL_THREAD]
    assert first.text(f"{REST}/cpuset.cpus") == "0-2"
    assert first.text(f"{MEASURED}/cpuset.cpus") == "3"
    assert first.text(f"{FIRST}/docker/cpuset.cpus") == "0-2"
    assert first.text(f"{FIRST}/docker/one/cpuset.cpus") == "2"
    order = [one.where for one in places]
    assert order.index(f"{FIRST}/docker/one/cpuset.cpus") < order.index(
        f"{FIRST}/docker/cpuset.cpus"
    )
    first.put({f"{REST}/cgroup.procs": f"{SHELL}\n{EDITOR}\n702\n"})  # started meanwhile
    revert(first)
    assert members(first, FIRST) == [KERNEL_THREAD, SHELL, EDITOR, 702]
    first.put({f"{FIRST}/cgroup.procs": f"{KERNEL_THREAD}\n{SHELL}\n{EDITOR}\n"})
    assert state(first) == before


def test_of_version_2_a_partition_takes_the_cores(unified: SyntheticMachine) -> None:
    before = state(unified)
    apply(unified, settings=[exclusive.exclusive_cores([1, 3])])
    assert exclusive.group(unified) == UNIFIED
    assert unified.text(f"{UNIFIED}/cpuset.cpus") == "1,3"
    assert unified.text(f"{UNIFIED}/cpuset.cpus.partition") == "isolated"
    revert(unified)
    assert state(unified) == before


@pytest.mark.parametrize("version", ["first", "unified"])
def test_killed_at_any_step_it_is_put_back(
    version: str, memory: Path, request: pytest.FixtureRequest
) -> None:
    machine: SyntheticMachine = request.getfixturevalue(version)
    before, settings = state(machine), [exclusive.exclusive_cores([3])]
    left = killed_at_each_step(machine, memory, lambda one: apply(one, settings=settings))
    assert len(left) > 8
    for one in left:
        revert(one)
        assert state(one) == before, one.root
        assert not one.exists(JOURNAL)


def test_a_group_that_stays_is_reported_and_tried_again(first: SyntheticMachine) -> None:
    before = state(first)
    apply(first, settings=[exclusive.exclusive_cores([3])])
    first.refuses = {MEASURED: errno.EPERM}
    reported = {one.where: one.result for one in revert(first)}
    assert reported[MEASURED] == "refused"
    assert reported[REST] == "restored"
    first.refuses = {}
    assert [one.result for one in revert(first)] == ["restored"]
    assert state(first) == before


def test_a_core_is_left_for_everything_else(first: SyntheticMachine) -> None:
    lack = exclusive.lacking(first, [0, 1, 2, 3])
    assert lack is not None
    assert "no core remains" in lack[0]
    assert exclusive.lacking(first, [2, 3]) is None


def test_without_cpusets_there_is_a_reason(first: SyntheticMachine) -> None:
    first.path(f"{FIRST}/cpuset.cpus").unlink()
    lack = exclusive.lacking(first, [3])
    assert lack is not None
    assert "cpusets are not available" in lack[0]


def test_a_kernel_that_forgets_affinities_is_refused(first: SyntheticMachine) -> None:
    first.put({"/proc/sys/kernel/osrelease": "5.15.0-generic\n"})
    lack = exclusive.lacking(first, [3])
    assert lack is not None
    assert "5.15.0" in lack[0]


def test_who_may_use_the_measured_cores_is_named(first: SyntheticMachine) -> None:
    apply(first, settings=[exclusive.exclusive_cores([3])])
    user = 4194304  # no PF_KTHREAD
    for pid, name, cpus, cgroup in ((700, "shell", "0-2", ""), (702, "stray", "0-3", "")):
        first.put({f"/proc/{pid}/status": f"State:\tS\nCpus_allowed_list:\t{cpus}\n{cgroup}"})
        first.put({f"/proc/{pid}/comm": f"{name}\n"})
        first.put({f"/proc/{pid}/stat": f"{pid} ({name}) S 1 0 0 0 -1 {user} {'0 ' * 12}7\n"})
    first.put({"/proc/703/status": "State:\tZ\nCpus_allowed_list:\t0-3\n"})
    first.put({f"/proc/{KERNEL_THREAD}/status": "State:\tS\nCpus_allowed_list:\t0-3\n"})
    assert exclusive.strangers(first, [3]) == ["702 (stray)"]


def test_several_settings_are_one_choice_in_the_order_of_the_list() -> None:
    assert tuned.parse("irq-threads + ksoftirqd") == "ksoftirqd+irq-threads"
    with pytest.raises(ValueError, match="'all' is not one of"):
        tuned.parse("ksoftirqd+all")


def test_kernel_threads_have_their_priorities_meanwhile(
    first: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuned, "machine", lambda: first)
    before = state(first)
    with tuned.tuned("ksoftirqd+irq-threads") as found:
        now = {place.where: (place.before, place.now) for place in found.places}
        assert now == {
            "thread 14 (ksoftirqd/0)": ("other 0", "fifo 60"),
            "thread 22 (ksoftirqd/1)": ("other 0", "fifo 60"),
            "thread 50 (irq/31-eth0)": ("fifo 50", "fifo 90"),
        }
        assert first.scheduling(50) == (1, 90)
        assert (found.fault, found.notes) == (None, [])
    assert state(first) == before


def test_a_kernel_without_threads_for_interrupts_is_reported(
    first: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuned, "machine", lambda: first)
    for number in (50, 51):
        for file in thread(number, "irq"):
            first.path(file).unlink()
    with tuned.tuned("ksoftirqd+irq-threads") as found:
        assert found.fault is None
        assert [note.what for note in found.notes] == ["irq-threads is not available here"]
        assert "PREEMPT_RT" in found.notes[0].why
    with tuned.tuned("irq-threads") as found:
        assert found.fault is not None
        assert "threadirqs" in found.fault.why
