# SPDX-License-Identifier: Apache-2.0
"""One list of settings for doctor, tune and check; what is only to be reviewed; the command."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_machine import Fake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_machine import JOURNAL, SyntheticMachine, new_machine, state, thread

from takt.cli.main import main
from takt.doctor import findings
from takt.doctor.finding import Severity
from takt.doctor.show import tuned_by
from takt.machine.settings import SETTINGS
from takt.machine.writable import CAP_SYS_ADMIN, CAP_SYS_NICE
from takt.tune import review
from takt.tune.apply import apply
from takt.tune.changes import find_changes

CPU = "/sys/devices/system/cpu"
NOBODY = 65534


@pytest.fixture
def machine(tmp_path: Path) -> SyntheticMachine:
    return new_machine(tmp_path / "machine")


# the list


def test_every_setting_is_seen_by_the_doctor_who_names_it_and_its_command(
    machine: SyntheticMachine,
) -> None:
    machine.fifo_error = errno.EPERM  # what limits are for
    limits = "Max locked memory 65536 65536 bytes\nMax realtime priority 0 0\n"
    status = "CapEff:\t0000000000000000\n"
    machine.put({"/proc/self/limits": limits, "/proc/self/status": status})
    found = findings(machine)
    for setting in SETTINGS:
        reported = [one for one in found if one.id in setting.findings]
        assert reported, setting.id
        assert {one.setting for one in reported} == {setting.id}
        for one in reported:
            assert one.severity is not Severity.good, one.id
            assert setting.by_hand(machine) in (one.fix or ""), one.id


def test_no_finding_names_a_setting_that_is_as_it_should_be(machine: SyntheticMachine) -> None:
    apply(machine)
    after = SyntheticMachine(machine.root)
    assert [one.id for one in findings(after) if one.setting] == []
    assert tuned_by(findings(after)) is None


def test_the_doctor_says_which_of_its_findings_tune_fixes(machine: SyntheticMachine) -> None:
    machine.put({"/proc/sys/kernel/sched_autogroup_enabled": "0\n"})
    words = tuned_by(findings(machine)) or ""
    assert words.startswith("takt tune changes ")
    assert {"rt-throttling", "swap", "governor"} <= set(re.findall(r"[a-z-]+", words))
    assert "autogroup" not in words


def test_the_doctor_no_longer_asks_for_what_tune_changed(machine: SyntheticMachine) -> None:
    apply(machine)
    files = {"/proc/meminfo": "MemTotal: 9 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"}  # the kernel's
    after = {one.id: one for one in findings(SyntheticMachine(machine.root).put(files))}
    for setting in SETTINGS:
        for name in set(setting.findings) - {"sched-fifo", "locked-memory"}:  # at the next login
            assert setting.by_hand(machine) not in (after[name].fix or ""), name


def test_identifiers_and_findings_belong_to_one_setting_each() -> None:
    assert len({setting.id for setting in SETTINGS}) == len(SETTINGS)
    named = [name for setting in SETTINGS for name in setting.findings]
    assert len(named) == len(set(named))


def test_a_machine_of_which_nothing_can_be_read_has_nothing_to_tune(tmp_path: Path) -> None:
    found = find_changes(SyntheticMachine(tmp_path))
    assert (found.changes, found.unread) == ([], [])


@pytest.mark.parametrize(
    ("isolated", "interrupt", "mask"), [("\n", "0-2", "7"), ("1-2\n", "0,3", "9")]
)
def test_interrupts_leave_the_cores_of_the_loop(
    machine: SyntheticMachine, isolated: str, interrupt: str, mask: str
) -> None:
    machine.put({f"{CPU}/isolated": isolated, "/proc/irq/31/smp_affinity_list": "1-3\n"})
    wanted = {one.place.where: one.wanted for one in find_changes(machine).changes}
    assert wanted["/proc/irq/31/smp_affinity_list (eth0)"] == interrupt
    assert wanted["/proc/irq/default_smp_affinity"] == mask


def test_a_mask_of_many_cpus_is_written_in_words_of_32(machine: SyntheticMachine) -> None:
    machine.put({f"{CPU}/online": "0-67\n"})
    wanted = {one.place.where: one.wanted for one in find_changes(machine).changes}
    assert wanted["/proc/irq/default_smp_affinity"] == "7,ffffffff,ffffffff"


def test_on_a_single_core_nobody_is_sent_away(machine: SyntheticMachine) -> None:
    machine.put({f"{CPU}/online": "0\n"})
    planned = {one.setting.id for one in find_changes(machine).changes}
    assert not planned & {"interrupts", "cpusets"}
    assert "governor" in planned


def test_an_interrupt_that_is_kept_away_already_stays_where_it_is(
    machine: SyntheticMachine,
) -> None:
    machine.put({"/proc/irq/9/smp_affinity_list": "1\n"})
    planned = {one.place.where for one in find_changes(machine).changes}
    assert not any("/proc/irq/9/" in where for where in planned)


def test_the_group_of_this_very_process_is_not_restricted(machine: SyntheticMachine) -> None:
    machine.put({"/proc/self/cgroup": "0::/system.slice/robot.service\n"})
    assert "cpusets" not in {one.setting.id for one in find_changes(machine).changes}


def test_cpusets_of_the_first_version_need_no_controller(machine: SyntheticMachine) -> None:
    machine.path("/sys/fs/cgroup/cgroup.controllers").unlink()
    machine.put({"/sys/fs/cgroup/cpuset/system.slice/cpuset.cpus": "0-3\n"})
    wanted = {one.place.where: one.wanted for one in find_changes(machine).changes}
    assert wanted["/sys/fs/cgroup/cpuset/system.slice/cpuset.cpus"] == "0-2"
    assert not any("subtree_control" in where for where in wanted)


@pytest.mark.parametrize(("latency", "planned"), [(10, False), (11, True)])
def test_sleep_states_deeper_than_ten_microseconds_are_switched_off(
    machine: SyntheticMachine, latency: int, planned: bool
) -> None:
    machine.put({f"{CPU}/cpu0/cpuidle/state3/latency": f"{latency}\n"})
    assert ("idle-states" in {one.setting.id for one in find_changes(machine).changes}) is planned


@pytest.mark.parametrize(("size", "planned"), [(2**21 - 1, True), (2**21, False)])
def test_buffers_that_are_large_enough_stay(
    machine: SyntheticMachine, size: int, planned: bool
) -> None:
    machine.put({f"/proc/sys/net/core/{name}": f"{size}\n" for name in ("rmem_max", "wmem_max")})
    assert ("udp-buffers" in {one.setting.id for one in find_changes(machine).changes}) is planned


def test_a_program_that_calls_itself_ksoftirqd_is_none(machine: SyntheticMachine) -> None:
    user = thread(77, "ksoftirqd/7")["/proc/77/stat"].replace("69238848", "4194304")
    machine.put({"/proc/77/comm": "ksoftirqd/7\n", "/proc/77/stat": user})
    assert not any("thread 77" in one.place.where for one in find_changes(machine).changes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_no_content_of_any_file_makes_the_plan_fail(
    machine: SyntheticMachine, data: st.DataObject
) -> None:
    files = sorted(path for path in machine.root.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    before = path.read_bytes()
    try:
        path.write_bytes(data.draw(st.one_of(st.binary(max_size=40), st.just(before * 2))))
        fresh = SyntheticMachine(machine.root)
        assert find_changes(fresh).changes
        review.text(fresh)
    finally:
        path.write_bytes(before)


# what is to be reviewed


def test_the_file_to_review_has_all_of_table_3_and_what_this_kernel_has(tmp_path: Path) -> None:
    config = "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ_1000=y\nCONFIG_CPU_IDLE=y\nCONFIG_CPU_FREQ=y\n"
    machine = Fake(tmp_path).put(
        {
            "/proc/sys/kernel/osrelease": "6.8.0\n",
            "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC\n",
            "/boot/config-6.8.0": config,
            f"{CPU}/online": "0-3\n",
            f"{CPU}/cpuidle/current_driver": "intel_idle\n",
            "/proc/cmdline": "quiet nohz_full=3 isolcpus=2\n",
            "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
            "/usr/sbin/update-grub": "",
        }
    )
    text = review.text(machine)
    lines = text.splitlines()
    for line in (
        "CONFIG_PREEMPT_RT=y",
        "CONFIG_HIGH_RES_TIMERS=y",
        "CONFIG_NO_HZ_FULL=y",
        "CONFIG_HZ_1000=y",
        "CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE=y",
        "# CONFIG_CPU_IDLE is not set",
    ):
        assert line in lines
    above = {lines[n + 1]: line.rpartition("; ")[2] for n, line in enumerate(lines[:-1])}
    assert above["CONFIG_HZ_1000=y"] == "this kernel has it"
    assert above["CONFIG_PREEMPT_RT=y"] == "this kernel has n"
    assert above["# CONFIG_CPU_IDLE is not set"] == "this kernel has y"
    words = dict(review.boot_parameters(machine))
    assert "nohz_full=3" not in words  # it is there
    assert {"isolcpus=domain,managed_irq,3", "irqaffinity=0-2", "processor.max_cstate=1"} <= {
        *words
    }
    assert "preempt=full" in words
    assert "/etc/default/grub" in text
    # Everything else is a comment, as merge_config.sh reads it.
    assert all(re.match(r"#|CONFIG_\w+=y$|$", line) for line in lines)


# the command, on the made-up machine


@pytest.fixture
def tune(
    machine: SyntheticMachine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Calls the command; its exit code, output and errors."""

    class Done:
        code: int
        out: str
        err: str

    def call(*arguments: str) -> Done:
        monkeypatch.setattr("takt.machine.writable.WritableSystem", lambda: afresh)
        afresh = SyntheticMachine(machine.root)
        afresh.refuses = machine.refuses
        afresh.writable = machine.writable  # type: ignore[method-assign]
        done = Done()
        done.code = 0
        try:
            main(["tune", *arguments])
        except SystemExit as end:
            done.code = int(end.code or 0)
        done.out, done.err = capsys.readouterr()
        return done

    return call


def test_the_command_plans_applies_and_reverts(machine: SyntheticMachine, tune) -> None:
    before = state(machine)
    planned = tune("--dry-run")
    assert (planned.code, "950000 -> -1" in planned.out) == (0, True)
    assert "Drawback: a loop that never sleeps then hangs its core." in planned.out
    assert tune().out == planned.out
    assert state(machine) == before
    applied = tune("--apply")
    assert (applied.code, "changed   /proc/sys/kernel/timer_migration: 1 -> 0" in applied.out) == (
        0,
        True,
    )
    again = tune("--apply")
    assert (again.code, "Nothing to change" in again.out) == (0, True)
    assert "changed and recorded; to revert: takt tune --revert" in again.out
    reverted = tune("--revert", "--json")
    document = json.loads(reverted.out)
    assert (reverted.code, document["mode"], document["recorded"]) == (0, "revert", 0)
    assert state(machine) == before
    nothing = tune("--revert")
    assert (nothing.code, nothing.out) == (
        0,
        "No recorded changes; nothing to revert.\n",
    )


def test_a_refusal_is_exit_code_1(machine: SyntheticMachine, tune) -> None:
    machine.refuses = {"/proc/sys/kernel/timer_migration": errno.EROFS}
    done = tune("--apply")
    assert done.code == 1
    assert "Read-only file system (EROFS)" in done.out
    assert tune("--revert").code == 0


@pytest.mark.parametrize("mode", ["--dry-run", "--apply"])
def test_without_rights_there_is_a_plan_and_exit_code_1(
    machine: SyntheticMachine, tune, mode: str
) -> None:
    before = state(machine)
    machine.writable = lambda path: False  # type: ignore[method-assign]
    done = tune(mode)
    assert (done.code, "950000 -> -1" in done.out) == (1, True)
    assert "Nothing was changed" in done.err
    assert state(machine) == before
    assert not machine.exists(JOURNAL)


def test_without_rights_nothing_is_taken_back(machine: SyntheticMachine, tune) -> None:
    apply(machine)
    now = state(machine)
    machine.writable = lambda path: False  # type: ignore[method-assign]
    done = tune("--revert")
    assert (done.code, "sudo ./takt tune --revert" in done.err) == (1, True)
    assert state(machine) == now


@pytest.mark.parametrize(
    "arguments", [("--apply", "--revert"), ("--revert", "--without", "swap"), ("--without", "warp")]
)
def test_wrong_use_is_exit_code_2(tune, arguments: tuple[str, ...]) -> None:
    done = tune(*arguments)
    assert done.code == 2
    assert "fix:" in done.err


def test_the_file_to_review_is_written_and_nothing_else(
    machine: SyntheticMachine, tune, tmp_path: Path
) -> None:
    before = state(machine)
    done = tune("--review", str(tmp_path / "review.config"))
    assert done.code == 0
    assert "CONFIG_PREEMPT_RT=y" in (tmp_path / "review.config").read_text()
    both = tune("--review", str(tmp_path / "review.config"), "--json")
    assert json.loads(both.out)["mode"] == "dry-run"
    assert state(machine) == before


# the command, on this machine, which it must not change


def test_who_may_not_change_this_machine_gets_a_plan_and_exit_code_1(tmp_path: Path) -> None:
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    command = [sys.executable, "-m", "takt", "tune", "--apply", "--json"]
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd="/", **user
        )
    except PermissionError:
        pytest.skip("another user may not run this Python")
    if "PermissionError" in done.stderr or "No module named" in done.stderr:
        pytest.skip("another user may not read this clone")
    document = json.loads(done.stdout)
    assert document["mode"] == "dry-run"
    assert {one["result"] for one in document["places"]} <= {"planned", "unread"}
    assert done.returncode == (1 if document["places"] else 0)
    assert document["privileged"] is False


def test_capabilities_are_those_of_linux() -> None:
    text = Path("/usr/include/linux/capability.h")
    if not text.exists():
        pytest.skip("no headers of the kernel")
    numbers = dict(re.findall(r"#define (CAP_\w+)\s+(\d+)", text.read_text()))
    assert (int(numbers["CAP_SYS_NICE"]), int(numbers["CAP_SYS_ADMIN"])) == (
        CAP_SYS_NICE,
        CAP_SYS_ADMIN,
    )
