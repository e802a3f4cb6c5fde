# SPDX-License-Identifier: Apache-2.0
"""What tune changes it takes back to the byte, on made-up machines and after every kill."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from synthetic_machine import JOURNAL, SyntheticMachine, new_machine, state, thread

from takt.errors import Failure, TaktError
from takt.machine.settings import SETTINGS
from takt.tune import journal as journals
from takt.tune.apply import apply
from takt.tune.changes import find_changes
from takt.tune.outcome import PlaceOutcome
from takt.tune.revert import revert

RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
MIGRATION = "/proc/sys/kernel/timer_migration"
LIMITS = "/etc/security/limits.d/90-takt.conf"


@pytest.fixture
def machine(tmp_path: Path) -> SyntheticMachine:
    return new_machine(tmp_path)


def results(places: list[PlaceOutcome]) -> dict[str, set[str]]:
    """The results of each setting."""
    found: dict[str, set[str]] = {}
    for one in places:
        found.setdefault(one.setting, set()).add(one.result)
    return found


def one(places: list[PlaceOutcome], where: str) -> PlaceOutcome:
    return next(place for place in places if where in place.where)


def afresh(machine: SyntheticMachine) -> SyntheticMachine:
    """The same machine, to a tool that was started again."""
    return SyntheticMachine(machine.root)


# find and apply


def test_the_synthetic_machine_has_work_for_every_setting(machine: SyntheticMachine) -> None:
    before = state(machine)
    planned = {change.setting.id for change in find_changes(machine).changes}
    assert planned == {setting.id for setting in SETTINGS}
    assert state(machine) == before
    assert not machine.exists("/var/lib/takt")


def test_apply_makes_everything_as_it_should_be(machine: SyntheticMachine) -> None:
    places = apply(machine)
    assert {place.result for place in places} == {"changed"}
    assert find_changes(machine).changes == []
    assert machine.text(RUNTIME) == "-1"
    assert machine.scheduling(14) == (1, 60)
    assert machine.scheduling(50) == (1, 90)
    assert machine.scheduling(51) == (1, 50)  # not of the network
    assert machine.text("/proc/irq/9/smp_affinity_list") == "0-2"
    assert machine.text("/proc/irq/40/smp_affinity_list") == "0-3"
    assert machine.text("/proc/irq/default_smp_affinity") == "7"
    assert machine.text("/sys/fs/cgroup/system.slice/cpuset.cpus") == "0-2"
    assert machine.text("/sys/fs/cgroup/user.slice/cpuset.cpus") == ""
    assert machine.text("/proc/swaps") == "Filename Type Size Used Priority"
    assert "rtprio 98" in (machine.text(LIMITS) or "")


def test_revert_puts_everything_back_to_the_byte_and_a_second_one_has_nothing_to_do(
    machine: SyntheticMachine,
) -> None:
    before = state(machine)
    apply(machine)
    assert state(machine) != before
    assert {place.result for place in revert(afresh(machine))} == {"restored"}
    assert state(machine) == before
    assert not machine.exists(JOURNAL)
    assert revert(afresh(machine)) == []
    assert state(machine) == before


def test_what_was_before_the_first_apply_counts_also_after_a_second(
    machine: SyntheticMachine,
) -> None:
    before = state(machine)
    apply(machine)
    assert apply(afresh(machine)) == []
    machine.put({MIGRATION: "1\n", RUNTIME: "900000\n"})  # somebody
    assert results(apply(afresh(machine))) == {
        "rt-throttling": {"changed"},
        "timer-migration": {"changed"},
    }
    revert(afresh(machine))
    assert state(machine) == before


def test_a_setting_that_is_left_out_is_not_touched(machine: SyntheticMachine) -> None:
    swaps = machine.text("/proc/swaps")
    apply(machine, ["swap", "limits"])
    assert machine.text("/proc/swaps") == swaps
    assert not machine.exists(LIMITS)
    with pytest.raises(TaktError, match="unknown setting warp"):
        apply(machine, ["warp"])


def test_a_file_of_ours_that_was_there_before_comes_back_with_its_permissions(
    machine: SyntheticMachine,
) -> None:
    machine.put({LIMITS: b"# mine \xff\n@robots - rtprio 3\n"})
    machine.path(LIMITS).chmod(0o600)
    before = state(machine)
    apply(machine)
    assert "rtprio 98" in (machine.text(LIMITS) or "")
    assert machine.path(LIMITS).stat().st_mode & 0o777 == 0o644
    revert(machine)
    assert state(machine) == before
    assert machine.path(LIMITS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("line", "planned"),
    [
        ("@audio - rtprio 95\n", False),
        ("@audio - rtprio 79\n", True),
        ("# @audio - rtprio 95\n", True),
        ("* hard rtprio unlimited\n", False),
        ("* hard nice 95\n", True),
    ],
)
def test_limits_are_unchanged_where_a_user_is_granted_enough(
    machine: SyntheticMachine, line: str, planned: bool
) -> None:
    machine.put({"/etc/security/limits.d/95-other.conf": line})
    assert machine.exists(LIMITS) is False
    changes = {change.setting.id for change in find_changes(machine).changes}
    assert ("limits" in changes) is planned


def test_swap_stays_where_its_pages_do_not_fit_into_memory(machine: SyntheticMachine) -> None:
    memory = "MemTotal: 16 kB\nMemAvailable: {} kB\nSwapTotal: 2000 kB\nSwapFree: 1500 kB\n"
    machine.put({"/proc/meminfo": memory.format(999)})
    assert "swap" not in {change.setting.id for change in find_changes(machine).changes}
    machine.put({"/proc/meminfo": memory.format(1000)})
    assert "swap" in {change.setting.id for change in find_changes(machine).changes}


# what the machine refuses, and what others do


def test_what_cannot_be_read_is_reported_and_never_written(machine: SyntheticMachine) -> None:
    machine.path(RUNTIME).unlink()
    machine.path(RUNTIME).mkdir()  # reading it is an error, as of a file without permission
    found = one(apply(machine), RUNTIME)
    assert found.result == "unread"
    assert "Is a directory" in (found.reason or "")
    assert machine.text(MIGRATION) == "0"
    journal = journals.load(machine)
    assert journal is not None
    assert RUNTIME not in {entry.place.where for entry in journal.entries}


def test_a_refused_write_is_reported_with_its_error_and_the_rest_goes_on(
    machine: SyntheticMachine,
) -> None:
    path = "/proc/irq/9/smp_affinity_list"
    machine.refuses = {path: errno.EINVAL, MIGRATION: errno.EROFS, "thread 14": errno.EPERM}
    before = state(machine)
    places = apply(machine)
    assert [place.result for place in places].count("refused") == 3
    assert "Invalid argument (EINVAL)" in (one(places, path).reason or "")
    assert "in a container" in (one(places, MIGRATION).reason or "")
    assert one(places, "thread 22").result == "changed"
    journal = journals.load(machine)
    assert journal is not None
    assert path not in {entry.place.where for entry in journal.entries}
    revert(afresh(machine))
    assert state(machine) == before


@pytest.mark.parametrize("number", [errno.EIO, errno.EPERM])
def test_an_interrupt_that_the_kernel_manages_is_reported_and_speaks_against_nothing(
    machine: SyntheticMachine, number: int
) -> None:
    machine.refuses = {"/proc/irq/9/smp_affinity_list": number}
    places = apply(machine)
    assert one(places, "/proc/irq/9/").result == "kept"
    assert {place.result for place in places} == {"kept", "changed"}


def test_an_interrupt_that_does_not_go_back_at_once_is_reported(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(machine)
    monkeypatch.setattr(
        SyntheticMachine, "_interrupt", lambda *_: None
    )  # it does not fire any more
    found = one(revert(machine), "/proc/irq/9/")
    assert (found.result, "fires on CPU 0" in (found.reason or "")) == ("restored", True)
    assert machine.text("/proc/irq/9/smp_affinity_list") == "0-3"


def test_what_the_kernel_takes_but_does_not_do_is_reported(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = SyntheticMachine.write

    def deaf(self: SyntheticMachine, path: str, content: bytes) -> None:
        if path != MIGRATION:
            write(self, path, content)

    monkeypatch.setattr(SyntheticMachine, "write", deaf)
    found = one(apply(machine), MIGRATION)
    assert (found.result, found.reason) == ("refused", "the kernel set '1' instead")


def test_a_value_that_others_changed_meanwhile_is_left_and_reported_once(
    machine: SyntheticMachine,
) -> None:
    before = state(machine)
    apply(machine)
    machine.put({RUNTIME: "500000\n", MIGRATION: "1\n"})  # another value; the one of before
    places = revert(afresh(machine))
    assert one(places, RUNTIME).result == "left"
    assert "'500000'" in (one(places, RUNTIME).reason or "")
    assert one(places, RUNTIME).before == "950000"
    assert one(places, MIGRATION).result == "unchanged"
    assert machine.text(RUNTIME) == "500000"
    assert revert(afresh(machine)) == []
    machine.put({RUNTIME: "950000\n"})
    assert state(machine) == before


@pytest.mark.parametrize(
    "other", [thread(14, "ksoftirqd/0", "0 0", start=8), thread(14, "kworker/u8")]
)
def test_another_thread_under_the_same_number_is_never_touched(
    machine: SyntheticMachine, other: dict[str, str]
) -> None:
    apply(machine)
    machine.put(other)
    found = one(revert(afresh(machine)), "thread 14")
    assert found.result == "ended"
    assert machine.text("/proc/14/stat") == other["/proc/14/stat"].strip()
    assert machine.scheduling(22) == (0, 0)


def test_a_thread_that_ends_between_plan_and_change_is_not_touched(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps == 1:
            machine.put(thread(14, "kworker/0:1"))

    machine.step = step  # type: ignore[method-assign]
    found = one(apply(machine), "thread 14")
    assert (found.result, "ESRCH" in (found.reason or "")) == ("refused", True)
    assert machine.scheduling(14) == (0, 0)


def test_an_interrupt_of_another_device_is_not_touched(machine: SyntheticMachine) -> None:
    apply(machine)
    (machine.path("/proc/irq/9/nvme0")).rename(machine.path("/proc/irq/9/usb1"))
    assert one(revert(afresh(machine)), "/proc/irq/9/").result == "ended"
    assert machine.text("/proc/irq/9/smp_affinity_list") == "0-2"


def test_a_place_that_refuses_its_old_value_is_kept_for_another_try(
    machine: SyntheticMachine,
) -> None:
    before = state(machine)
    apply(machine)
    machine.refuses = {RUNTIME: errno.EINVAL}
    assert one(revert(machine), RUNTIME).result == "refused"
    journal = journals.load(machine)
    assert journal is not None
    assert [entry.place.where for entry in journal.entries] == [RUNTIME]
    assert results(revert(afresh(machine))) == {"rt-throttling": {"restored"}}
    assert state(machine) == before


# reboots, and the journal


def test_after_a_reboot_only_files_are_taken_back(machine: SyntheticMachine) -> None:
    apply(machine)
    now = {RUNTIME: "123\n", "/proc/sys/kernel/random/boot_id": "22222222-bbbb\n"}
    machine.put(now)
    found = results(revert(afresh(machine)))
    assert found.pop("limits") == {"restored"}
    assert set.union(*found.values()) == {"rebooted"}
    assert machine.text(RUNTIME) == "123"
    assert not machine.exists(LIMITS)
    assert revert(afresh(machine)) == []


def test_apply_after_a_reboot_takes_its_values_from_the_new_boot(machine: SyntheticMachine) -> None:
    apply(machine)
    machine.put({RUNTIME: "940000\n", "/proc/sys/kernel/random/boot_id": "22222222-bbbb\n"})
    apply(afresh(machine))
    revert(afresh(machine))
    assert machine.text(RUNTIME) == "940000"
    assert not machine.exists(LIMITS)


def test_without_a_boot_to_report_from_others_nothing_is_changed(machine: SyntheticMachine) -> None:
    machine.path("/proc/sys/kernel/random/boot_id").unlink()
    before = state(machine)
    with pytest.raises(Failure, match="the boot of this machine"):
        apply(machine)
    assert state(machine) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"boot": 1}', '{"boot": "1", "entries": 1}'])
def test_a_journal_that_is_none_is_neither_followed_nor_replaced(
    machine: SyntheticMachine, text: str
) -> None:
    machine.put({JOURNAL: text})
    before = state(machine)
    for work in (apply, revert):
        with pytest.raises(TaktError, match=r"tune\.json"):
            work(machine)
    assert state(machine) == before
    assert machine.path(JOURNAL).read_text() == text


def test_two_at_once_do_not_mix(machine: SyntheticMachine) -> None:
    apply(machine)
    now = state(machine)
    with journals.held(machine):
        for work in (apply, revert):
            with pytest.raises(Failure, match="another takt tune"):
                work(afresh(machine))
    assert state(machine) == now


def test_what_was_left_out_is_not_said_to_be_as_it_should() -> None:
    from takt.cli.tune import nothing_left

    assert "all settings have their recommended values" in nothing_left([])
    printed = nothing_left(["swap", "watchdog"])
    assert "their recommended values" not in printed
    assert "swap, watchdog" in printed
