# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of what this process may do: privileges, containers, cores."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest
from fake_machine import Fake
from known_machines import LAPTOP, LIMITS, cpus

from takt.doctor.finding import Severity
from takt.machine.system import Space

# privileges and containers


def test_a_refused_sched_fifo_is_a_problem_with_the_systems_own_word(robot: Fake) -> None:
    robot.fifo_error = errno.EPERM
    found = robot.finding("sched-fifo")
    assert found.severity is Severity.problem
    assert "Operation not permitted" in found.value
    assert "limits.d" in (found.fix or "")


def test_a_low_limit_of_priorities_is_a_warning(robot: Fake) -> None:
    robot.put({"/proc/self/limits": LIMITS.format(memlock="unlimited", rtprio="10")})
    found = robot.finding("sched-fifo")
    assert (found.severity, found.value) == (Severity.warning, "granted, up to priority 10")


def test_capabilities_count_more_than_limits(robot: Fake) -> None:
    robot.put(
        {
            "/proc/self/limits": LIMITS.format(memlock="65536", rtprio="0"),
            "/proc/self/status": "CapEff:\t0000000000804000\nCpus_allowed_list:\t0-2\n",
        }
    )
    assert robot.finding("sched-fifo").value == "granted, up to priority 99"
    assert robot.finding("locked-memory").severity is Severity.good


def test_a_control_group_without_real_time_budget_is_found_out(robot: Fake) -> None:
    robot.fifo_error = errno.EPERM
    robot.put(
        {
            "/proc/self/cgroup": "3:cpu,cpuacct:/robot\n",
            "/sys/fs/cgroup/cpu,cpuacct/robot/cpu.shares": "1024\n",
            "/sys/fs/cgroup/cpu,cpuacct/robot/cpu.rt_runtime_us": "0\n",
        }
    )
    file = "/sys/fs/cgroup/cpu,cpuacct/robot/cpu.rt_runtime_us"
    assert robot.finding("rt-groups").severity is Severity.problem
    assert "by the control group" in robot.finding("sched-fifo").value
    assert file in (robot.finding("sched-fifo").fix or "")


@pytest.mark.parametrize(
    "files",
    [
        {
            "/proc/self/cgroup": "0::/robot/nodes\n",
            "/sys/fs/cgroup/robot/cpu.max": "50000 100000\n",
        },
        {
            "/proc/self/cgroup": "4:cpu:/docker/1\n",
            "/sys/fs/cgroup/cpu/cpu.shares": "1024\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    ],
)
def test_a_cpu_quota_is_found_in_both_versions_of_control_groups(
    nothing: Fake, files: dict[str, str | bytes]
) -> None:
    found = nothing.put(files).finding("cpu-quota")
    assert (found.severity, found.value) == (
        Severity.problem,
        "50 ms of CPU in every 100 ms",
    )


def test_full_shared_memory_is_a_problem(robot: Fake) -> None:
    robot.shared_memory = Space(total=64 << 20, free=10 << 20)
    assert robot.finding("shared-memory").severity is Severity.problem


# cores


def test_an_interrupt_on_an_isolated_core_is_a_warning(robot: Fake) -> None:
    robot.put(
        {
            "/proc/irq/25/smp_affinity_list": "0-3",
            "/proc/irq/25/effective_affinity_list": "3",
            "/proc/irq/25/nvme0/.keep": "",
        }
    )
    found = robot.finding("interrupts")
    assert (found.severity, "1 of 2" in found.value) == (Severity.warning, True)


def test_an_isolated_core_with_its_tick_gets_the_boot_option(robot: Fake) -> None:
    robot.put({"/sys/devices/system/cpu/nohz_full": "", "/proc/cmdline": "isolcpus=3"})
    found = Fake(robot.root).finding("tick")
    assert found.severity is Severity.note
    assert "rcu_nocbs=3" in (found.fix or "")


def test_boot_options_are_put_where_this_machine_reads_them(tmp_path: Path) -> None:
    laptop = Fake(tmp_path / "laptop").put(LAPTOP)
    assert "/etc/default/grub" in (laptop.finding("isolation").fix or "")
    raspberry = Fake(tmp_path / "raspberry").put(
        {
            **cpus(4),
            "/sys/devices/system/cpu/isolated": "",
            "/boot/firmware/cmdline.txt": "root=x",
        }
    )
    assert "/boot/firmware/cmdline.txt" in (raspberry.finding("isolation").fix or "")


def test_the_sed_command_adds_to_the_options_of_grub(tmp_path: Path) -> None:
    laptop = Fake(tmp_path).put(LAPTOP)
    grub = laptop.path("/etc/default/grub")
    grub.write_text('GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="quiet"\n')
    command = (laptop.finding("isolation").fix or "").partition(" && ")[0]
    command = command.removeprefix("sudo ").replace("/etc/default/grub", str(grub))
    subprocess.run(command, shell=True, check=True)  # noqa: S602
    assert 'GRUB_CMDLINE_LINUX="isolcpus=domain,managed_irq,7 quiet"' in grub.read_text()
