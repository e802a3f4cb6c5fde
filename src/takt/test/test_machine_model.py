# SPDX-License-Identifier: Apache-2.0
"""The model of a machine comes from its kernel: fast cores, the maker, groups, memory."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HERE
from fake_machine import Fake
from machine_trees import (
    ALL_CAPABILITIES,
    CONTAINER,
    REAL_TIME,
    SERVICE,
    Files,
    big_little,
    machine,
    many,
    one_fast_core,
    performance_and_efficiency,
    speeds,
)
from synthetic_cells import cell_of, records_of

from takt.doctor.finding import Finding, Severity
from takt.machine.cores import loop_cores, other_cores
from takt.machine.system import Space
from takt.measure.check.plan import choose_core
from takt.measure.results.model import Cell, Note, Status
from takt.measure.run import shared_memory
from takt.network import stacks
from takt.tune.review import boot_parameters

# cores of several kinds


@pytest.mark.parametrize(
    ("files", "core", "fast"),
    [
        (performance_and_efficiency(), 7, "0-7"),
        (big_little(), 3, "0-3"),
        (many(), 127, "0-127"),
        (one_fast_core(), 2, "0"),
        ({**big_little(), **REAL_TIME}, 3, "0-3"),
    ],
)
def test_the_core_to_isolate_is_a_fast_one(
    nothing: Fake, files: Files, core: int, fast: str
) -> None:
    nothing.put(files)
    found = nothing.finding("isolation")
    assert f"isolcpus=domain,managed_irq,{core} " in f"{found.fix} "
    assert found.value == f"no CPU is isolated; the fast cores are {fast}"
    assert loop_cores(nothing) == [core]
    assert core not in {int(one) for one in other_cores(nothing).replace("-", ",").split(",")}
    assert f"isolcpus=domain,managed_irq,{core}" in dict(boot_parameters(nothing))


@pytest.mark.parametrize(
    "files",
    [
        machine(4),
        {**machine(4), **speeds("cpufreq/cpuinfo_max_freq", {0: 5_200_000, 1: 5_000_000,
                                                             2: 5_200_000, 3: 5_000_000})},
        {**machine(4), **speeds("cpu_capacity", {0: 1024, 1: 1024, 2: 200})},  # not of all
    ],
)  # fmt: skip
def test_of_equal_cores_the_last_one_is_isolated(nothing: Fake, files: Files) -> None:
    found = nothing.put(files).finding("isolation")
    assert found.value == "no CPU is isolated"
    assert "isolcpus=domain,managed_irq,3 " in f"{found.fix} "


@pytest.mark.parametrize(
    ("files", "core"),
    [(performance_and_efficiency("8,15"), 7), (big_little("7"), 3), (many("255"), 127)],
)
def test_an_isolated_core_of_the_slow_kind_is_found(nothing: Fake, files: Files, core: int) -> None:
    found = nothing.put(files).finding("isolation")
    assert (found.severity, "the fast cores are" in found.value) == (Severity.note, True)
    assert f"isolcpus=domain,managed_irq,{core} " in (found.fix or "")


def test_an_isolated_core_of_the_fast_kind_is_good(nothing: Fake) -> None:
    found = nothing.put(performance_and_efficiency("6-8")).finding("isolation")
    assert (found.severity, found.value) == (Severity.good, "CPUs 6-8 are isolated")


@pytest.mark.parametrize(
    ("files", "allowed", "core", "reason"),
    [
        (performance_and_efficiency(), range(16), 7, "the last of the fast CPUs 0-7"),
        (performance_and_efficiency("6-9"), range(16), 7, "isolated (6-9)"),
        (performance_and_efficiency(), range(8, 16), 13, "the last of the fast CPUs 8-13"),
        (big_little(), range(8), 3, "the last of the fast CPUs 0-3"),
        (big_little("2-5"), (0, 1, 6, 7), 1, "isolated 2-5 are not allowed"),
        (many(), range(256), 127, "the last of the fast CPUs 0-127"),
        (many(), (0, 200), 200, "the fastest CPU but the first"),
        (machine(4), range(4), 3, "the last CPU"),
        (machine(4), (0,), 0, "the last CPU"),
    ],
)
def test_check_measures_on_a_fast_core(
    nothing: Fake, files: Files, allowed: range, core: int, reason: str
) -> None:
    nothing.put(files)
    nothing.allowed_cpus = nothing.usable_cpus = frozenset(allowed)
    chosen = choose_core(nothing)
    assert chosen.cpu == core
    assert reason in chosen.reason


# real-time budgets of control groups

CONFIGURED: Files = {"/proc/config.gz": gzip.compress(b"CONFIG_RT_GROUP_SCHED=y\n")}
DISABLED: Files = {
    "/proc/config.gz": gzip.compress(
        b"CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y\n"
    )
}


def refused(at: Fake, *files: Files) -> tuple[Finding, Finding]:
    at.fifo_error = errno.EPERM
    for one in files:
        at.put(one)
    return at.finding("rt-groups"), at.finding("sched-fifo")


@pytest.mark.parametrize("configuration", [CONFIGURED, {}])
@pytest.mark.parametrize("group", ["0::/system.slice/robot.service\n", "0::/\n"])
def test_a_group_of_version_2_without_a_budget_is_a_problem_with_a_fix(
    nothing: Fake, configuration: Files, group: str
) -> None:
    """In a container, the group of version 2 is the root of what it sees."""
    root: Files = {"/proc/self/cgroup": group, "/sys/fs/cgroup/cpu.weight": "100\n"}
    groups, fifo = refused(nothing, SERVICE, root, ALL_CAPABILITIES, configuration)
    assert groups.severity is Severity.problem
    assert "control group" in groups.value
    assert "sched_rt_runtime_us=-1" in (groups.fix or "")
    assert "rt_group_sched=0" in (groups.fix or "")
    assert "by the control group" in fifo.value
    assert fifo.fix == groups.fix


def test_in_a_container_the_budget_is_fixed_on_the_host(nothing: Fake) -> None:
    groups, _ = refused(nothing, SERVICE, ALL_CAPABILITIES, CONFIGURED, CONTAINER)
    assert all(line.startswith("on the host: ") for line in (groups.fix or "").splitlines())


@pytest.mark.parametrize(
    "files",
    [
        {"/proc/config.gz": gzip.compress(b"CONFIG_HZ=250\n")},
        {**DISABLED, "/proc/sys/kernel/osrelease": "6.18.1\n"},
        {
            **CONFIGURED,
            "/proc/cmdline": "rt_group_sched=0\n",
            "/proc/sys/kernel/osrelease": "6.16.0\n",
        },
    ],
)
def test_a_kernel_that_rations_no_real_time_is_not_blamed(nothing: Fake, files: Files) -> None:
    groups, fifo = refused(nothing, SERVICE, ALL_CAPABILITIES, files)
    assert (groups.severity, groups.value) == (Severity.good, "not in use")
    assert "control group" not in fifo.value


def test_the_boot_option_counts_only_where_the_kernel_has_it(nothing: Fake) -> None:
    files: Files = {
        **CONFIGURED,
        "/proc/cmdline": "rt_group_sched=0\n",
        "/proc/sys/kernel/osrelease": "6.8.0\n",
    }
    assert refused(nothing, SERVICE, ALL_CAPABILITIES, files)[0].severity is Severity.problem


def test_without_throttling_no_group_needs_a_budget(nothing: Fake) -> None:
    off: Files = {"/proc/sys/kernel/sched_rt_runtime_us": "-1\n"}
    groups, fifo = refused(nothing, SERVICE, ALL_CAPABILITIES, CONFIGURED, off)
    assert groups.severity is Severity.note
    assert "by the control group" not in fifo.value


def test_where_it_is_granted_new_groups_are_still_worth_a_note(nothing: Fake) -> None:
    found = nothing.put({"/proc/self/cgroup": "0::/\n", **CONFIGURED}).finding("rt-groups")
    assert (found.severity, "rt_group_sched=0" in (found.fix or "")) == (Severity.note, True)


def test_a_rootless_container_is_advised_to_run_as_root(nothing: Fake) -> None:
    rootless: Files = {"/proc/self/uid_map": "0 1000 1\n1 100000 65536\n"}
    groups, fifo = refused(nothing, SERVICE, ALL_CAPABILITIES, rootless, CONFIGURED)
    assert "by the user namespace" in fifo.value
    assert "sudo podman" in (fifo.fix or "")
    assert groups.severity is not Severity.problem


# whose kernel runs

UBUNTU: Files = {"/etc/os-release": 'ID=ubuntu\nVERSION_ID="22.04"\n'}


def kernel(release: str, version: str) -> Files:
    return {
        "/proc/sys/kernel/osrelease": f"{release}\n",
        "/proc/sys/kernel/version": f"{version}\n",
    }


GENERIC = kernel("6.8.0-45-generic", "#45~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC")
WSL = kernel("5.15.167.4-microsoft-standard-WSL2", "#1 SMP PREEMPT_DYNAMIC")
JETSON = kernel("5.15.148-tegra", "#1 SMP PREEMPT")


@pytest.mark.parametrize(
    ("files", "word"),
    [
        (GENERIC, "pro enable"),
        (kernel("5.15.0-1055-raspi", "#58-Ubuntu SMP PREEMPT"), "--variant=raspi"),
        ({**GENERIC, "/etc/os-release": 'VERSION_ID="26.04"\n'}, "install linux-image-realtime"),
        (kernel("6.1.0-31-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.128-1"), "linux-image-rt"),
        (kernel("6.11.4-301.fc41.x86_64", "#1 SMP PREEMPT_DYNAMIC"), "dnf install kernel-rt"),
        (WSL, ".wslconfig"),
        (JETSON, "NVIDIA's real-time kernel for this release of Jetson Linux"),
        (kernel("6.6.51+rpt-rpi-v8", "#1 SMP PREEMPT Debian 1:6.6.51-1+rpt3"), "Raspberry Pi OS"),
        (kernel("6.9.3", "#1 SMP PREEMPT_DYNAMIC"), "CONFIG_PREEMPT_RT=y"),
    ],
)
def test_the_way_to_a_real_time_kernel_is_that_of_the_kernel(
    nothing: Fake, files: Files, word: str
) -> None:
    fix = nothing.put({**UBUNTU, **files}).finding("preemption").fix or ""
    assert word in fix
    assert ("pro enable" in fix) == (word in ("pro enable", "--variant=raspi"))


@pytest.mark.parametrize(
    ("files", "word"),
    [
        (GENERIC, "Ubuntu 22.04 or 24.04"),
        (kernel("6.1.0-31-amd64", "#1 SMP PREEMPT_DYNAMIC Debian"), "CONFIG_PREEMPT_RT=y"),
        (JETSON, "CONFIG_PREEMPT_RT=y"),
    ],
)
def test_in_a_container_the_kernel_is_the_hosts(nothing: Fake, files: Files, word: str) -> None:
    fix = nothing.put({**UBUNTU, **files, **CONTAINER}).finding("preemption").fix or ""
    assert fix.startswith("on the host: ")
    assert word in fix


def test_a_release_of_ubuntu_without_a_real_time_kernel_gets_no_command(nothing: Fake) -> None:
    nothing.put({**GENERIC, "/etc/os-release": 'ID=ubuntu\nVERSION_ID="25.04"\n'})
    assert "sudo" not in (nothing.finding("preemption").fix or "")


# shared memory of a container


def test_the_shared_memory_of_a_container_grows_when_it_is_started(nothing: Fake) -> None:
    nothing.put(CONTAINER).shared_memory = Space(total=64 << 20, free=64 << 20)
    found = nothing.finding("shared-memory")
    assert (found.severity, found.value) == (Severity.problem, "64 of 64 MiB free")
    assert "--shm-size=1024m" in (found.fix or "")
    assert "mount" not in (found.fix or "")


def test_the_shared_memory_of_a_machine_is_remounted(nothing: Fake) -> None:
    nothing.put({"/dev/shm/.keep": ""}).shared_memory = Space(total=64 << 20, free=64 << 20)
    fix = nothing.finding("shared-memory").fix or ""
    assert (fix.startswith("sudo mount -o remount,size=1024M"), "--shm" in fix) == (True, False)


@pytest.fixture
def failed(tmp_path: Path) -> Cell:
    """A cell whose middleware reports nothing but that it failed."""
    cell = cell_of(
        tmp_path, [records_of([1.0], 1000)], stack="rcl", kind="pingpong", transport="shm",
        payload_bytes=8_000_000,
    )  # fmt: skip
    cell.status = Status.failed
    cell.error = Note(what="cannot create a node", why="__create_participant failed")
    return cell


def test_a_cell_that_failed_in_a_small_shared_memory_says_so(nothing: Fake, failed: Cell) -> None:
    nothing.put(CONTAINER).shared_memory = Space(total=64 << 20, free=64 << 20)
    found = shared_memory.too_small(failed, 2, nothing)
    assert found is not None
    assert found.what.startswith("/dev/shm is too small")
    assert "2 processes need 123 MiB each, 64 of 64 MiB are free" in found.why
    assert "__create_participant failed" in found.why
    assert "--shm-size=1024m" in (found.fix or "")


@pytest.mark.parametrize(
    "change",
    [{"status": Status.complete}, {"transport": "udp"}, {"payload_bytes": 500}, {"stack": "raw"}],
)
def test_other_failures_keep_their_error(
    nothing: Fake, failed: Cell, change: dict[str, object]
) -> None:
    nothing.put(CONTAINER).shared_memory = Space(total=64 << 20, free=64 << 20)
    assert shared_memory.too_small(failed.model_copy(update=change), 2, nothing) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="a shared memory of its own takes root")
def test_a_measurement_in_a_small_shared_memory_shows_the_fix(tmp_path: Path) -> None:
    """With the real middleware, where it is installed, in a namespace with 64 MiB."""
    if "rcl" not in stacks.find():
        pytest.skip("the stack rcl is not installed")
    words = ["measure", "pingpong", "--transport", "shm", "--payload", "8MB", "--rate", "100Hz"]
    words += ["--samples", "10", "--repetitions", "1", "--out", str(tmp_path / "run")]
    mounted = 'mount -t tmpfs -o size=64m shm /dev/shm && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh",
         sys.executable, "-m", "takt", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    reported = " ".join(done.stderr.split())
    assert "/dev/shm is too small for the messages" in reported
    assert "--shm-size=1024m" in reported
