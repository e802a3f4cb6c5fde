# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of the kernel: preemption, throttling, its threads, virtual machines."""

from __future__ import annotations

import gzip

import pytest
from fake_machine import Fake
from known_machines import CLOCK
from synthetic_machine import stat, thread

from takt.doctor import findings
from takt.doctor.finding import Severity
from takt.machine.system import Window


@pytest.mark.parametrize(
    ("files", "severity", "value"),
    [
        ({"/proc/sys/kernel/version": "#1 SMP PREEMPT RT Wed"}, Severity.good, "PREEMPT_RT"),
        ({"/proc/sys/kernel/version": "#1 SMP PREEMPT Wed"}, Severity.warning, "PREEMPT"),
        ({"/proc/sys/kernel/version": "#1 SMP Wed"}, Severity.problem, "NONE"),
        (
            {
                "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Wed",
                "/proc/cmdline": "preempt=full",
            },
            Severity.warning,
            "PREEMPT_DYNAMIC, mode full",
        ),
        (
            {
                "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Wed",
                "/proc/config.gz": gzip.compress(b"CONFIG_PREEMPT_NONE=y\n"),
            },
            Severity.problem,
            "PREEMPT_DYNAMIC, mode none",
        ),
        (
            {"/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Wed"},
            Severity.warning,
            "PREEMPT_DYNAMIC, mode not readable",
        ),
    ],
)
def test_preemption_models_are_distinguished(
    nothing: Fake, files: dict[str, str | bytes], severity: Severity, value: str
) -> None:
    found = nothing.put(files).finding("preemption")
    assert (found.severity, found.value) == (severity, value)


@pytest.mark.parametrize(
    ("runtime", "release", "severity"),
    [
        ("-1", "6.1.0", Severity.good),
        ("0", "6.1.0", Severity.problem),
        ("500000", "6.1.0", Severity.warning),
        ("950000", "6.12.1", Severity.note),
    ],
)
def test_throttling(nothing: Fake, runtime: str, release: str, severity: Severity) -> None:
    nothing.put(
        {
            "/proc/sys/kernel/sched_rt_runtime_us": runtime,
            "/proc/sys/kernel/sched_rt_period_us": "1000000",
            "/proc/sys/kernel/osrelease": release,
        }
    )
    found = nothing.finding("rt-throttling")
    assert found.severity is severity
    assert ("fair server" in found.value) == (release == "6.12.1")


@pytest.mark.parametrize(
    ("nanoseconds", "severity", "value"),
    [("30000000", Severity.note, "about 30 ms"), ("0", Severity.good, "off")],
)
def test_where_there_is_a_fair_server_it_is_the_one_that_counts(
    nothing: Fake, nanoseconds: str, severity: Severity, value: str
) -> None:
    nothing.put(
        {
            "/proc/sys/kernel/sched_rt_runtime_us": "-1",
            "/proc/sys/kernel/sched_rt_period_us": "1000000",
            "/sys/kernel/debug/sched/fair_server/cpu0/runtime": nanoseconds,
        }
    )
    found = nothing.finding("rt-throttling")
    assert (found.severity, value in found.value) == (severity, True)


def test_ksoftirqd_is_judged_where_threads_of_the_kernel_are_visible(robot: Fake) -> None:
    assert robot.finding("ksoftirqd").value == "SCHED_FIFO 50"
    robot.put({"/proc/40/stat": stat(40, "ksoftirqd/0", "0 0")})
    assert robot.finding("ksoftirqd").severity is Severity.note
    robot.put({"/proc/40/comm": "bash\n"})
    assert robot.finding("ksoftirqd").severity is Severity.unknown
    robot.put({"/sys/kernel/realtime": "0\n", "/proc/sys/kernel/version": "#1 SMP PREEMPT\n"})
    assert "ksoftirqd" not in [one.id for one in findings(Fake(robot.root))]


@pytest.mark.parametrize(("priority", "severity"), [(89, Severity.note), (90, Severity.good)])
@pytest.mark.parametrize(
    "card", [{"/sys/class/net/eth0/device/msi_irqs/31": ""}, {"/sys/class/net/enp3/address": ""}]
)
def test_interrupt_threads_of_the_network_are_found_by_number_or_name(
    robot: Fake, card: dict[str, str | bytes], priority: int, severity: Severity
) -> None:
    name = "irq/31-enp3s0-r"
    robot.put({**thread(50, name, f"{priority} 1"), "/sys/class/net/lo/address": ""})
    assert "irq-threads" not in [one.id for one in findings(robot)]
    assert robot.put(card).finding("irq-threads").severity is severity


# virtual machines

VIRTUAL: dict[str, str | bytes] = {"/proc/cpuinfo": "flags\t\t: fpu hypervisor tsc\n"}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"/sys/class/dmi/id/sys_vendor": "QEMU\n"}, "KVM/QEMU"),
        ({"/sys/class/dmi/id/product_name": "VMware Virtual Platform\n"}, "VMware"),
        ({"/sys/hypervisor/type": "xen\n"}, "Xen"),
        ({f"{CLOCK}/available_clocksource": "tsc kvm-clock\n"}, "KVM"),
        ({"/proc/sys/kernel/osrelease": "5.15.0-microsoft-standard-WSL2\n"}, "Hyper-V (WSL)"),
        ({}, "its maker is not readable"),
    ],
)
def test_hypervisors_are_named(nothing: Fake, files: dict[str, str | bytes], name: str) -> None:
    found = nothing.put({**VIRTUAL, **files}).finding("hypervisor")
    assert (found.severity, name in found.value) == (Severity.warning, True)


def test_the_maker_of_a_bare_machine_is_no_hypervisor(robot: Fake) -> None:
    robot.put({"/sys/class/dmi/id/sys_vendor": "Google\n"})
    assert robot.finding("hypervisor").severity is Severity.good


@pytest.mark.parametrize(
    ("stolen", "now", "severity"),
    [
        (0, 0.0, Severity.good),
        (20, 0.0, Severity.warning),
        (0, 0.02, Severity.warning),
        (500, 0.0, Severity.problem),
        (0, 0.2, Severity.problem),
    ],
)
def test_stolen_time_since_boot_and_right_now(
    nothing: Fake, stolen: int, now: float, severity: Severity
) -> None:
    nothing.put({"/proc/stat": f"cpu  0 0 0 {20000 - stolen} 0 0 0 {stolen} 0 0\n"})
    nothing.window = Window(seconds=0.3, busy=0.1, steal=now)
    assert nothing.finding("steal").severity is severity


def test_a_virtual_machine_is_not_blamed_for_what_its_host_decides(nothing: Fake) -> None:
    nothing.put(VIRTUAL)
    assert nothing.finding("governor").severity is Severity.note
    assert nothing.finding("turbo").value == "decided by the host"
