# SPDX-License-Identifier: Apache-2.0
"""The doctor on machines that are not this one, each given as a tree of files."""

from __future__ import annotations

import errno
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_machine import Fake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from takt.doctor import CHECKS, SEVERITIES, findings, fingerprint
from takt.doctor.finding import Severity
from takt.machine.system import Space, Window, format_cpu_list, parse_cpu_list

GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max locked memory         {memlock}              {memlock}              bytes
Max realtime priority     {rtprio}                    {rtprio}
"""


# Findings about what not every machine has.
NOT_EVERYWHERE = ("ksoftirqd", "irq-threads", "cpusets")


def cpus(count: int) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {"/sys/devices/system/cpu/online": f"0-{count - 1}\n"}
    for cpu in range(count):
        files[f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"] = f"{cpu}\n"
    return files


def stat(head: str, scheduling: str) -> str:
    """A line of proc(5) of a thread of the kernel, with its priority and policy."""
    return f"{head} S 2 0 0 0 -1 69238848 {'0 ' * 12}7 {'0 ' * 15}-1 8 {scheduling} 0\n"


@pytest.fixture
def nothing(tmp_path: Path) -> Fake:
    """A machine of which nothing can be read."""
    return Fake(tmp_path)


@pytest.fixture
def robot(tmp_path: Path) -> Fake:
    """A well prepared robot: PREEMPT_RT, an isolated core, no power saving."""
    return Fake(tmp_path).put(
        {
            **cpus(4),
            **{GOVERNOR.format(cpu): "performance\n" for cpu in range(4)},
            "/proc/sys/kernel/osrelease": "6.1.0-31-rt-amd64\n",
            "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian 6.1.128-1\n",
            "/sys/kernel/realtime": "1\n",
            "/proc/cmdline": "root=UUID=8f2 isolcpus=3 nohz_full=3 rcu_nocbs=3 quiet\n",
            "/proc/sys/kernel/sched_rt_runtime_us": "-1\n",
            "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
            "/proc/sys/kernel/nmi_watchdog": "0\n",
            "/proc/sys/kernel/soft_watchdog": "0\n",
            "/proc/sys/kernel/sched_autogroup_enabled": "0\n",
            "/proc/self/limits": LIMITS.format(memlock="unlimited", rtprio="98"),
            "/proc/self/status": "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-2\n",
            "/proc/self/cgroup": "0::/user.slice\n",
            "/proc/self/timerslack_ns": "1\n",
            "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Example i5\nflags\t\t: fpu tsc\n",
            "/proc/stat": "cpu  100 0 100 10000 0 0 0 0 0 0\n",
            "/proc/loadavg": "0.10 0.10 0.10 1/200 4242\n",
            "/proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\n"
            "SwapTotal: 0 kB\nSwapFree: 0 kB\n",
            "/proc/sys/net/core/rmem_max": "8388608\n",
            "/proc/irq/24/smp_affinity_list": "0-2\n",
            "/proc/irq/24/effective_affinity_list": "1\n",
            "/proc/irq/24/eth0/.keep": "",
            "/proc/40/comm": "ksoftirqd/0\n",
            "/proc/40/stat": stat("40 (ksoftirqd/0)", "50 1"),
            "/proc/sys/kernel/timer_migration": "0\n",
            "/sys/devices/system/cpu/isolated": "3\n",
            "/sys/devices/system/cpu/nohz_full": "3\n",
            "/sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
            "/sys/devices/system/cpu/cpuidle/current_driver": "intel_idle\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/name": "C1\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency": "2\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable": "0\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state2/name": "C6\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state2/latency": "133\n",
            "/sys/devices/system/cpu/cpu0/cpuidle/state2/disable": "1\n",
            "/sys/devices/system/node/online": "0\n",
            "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            f"{CLOCK}/current_clocksource": "tsc\n",
            f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm\n",
            "/boot/config-6.1.0-31-rt-amd64": "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ=250\n",
            "/dev/cpu_dma_latency": "",
            "/dev/shm/.keep": "",
        }
    )


# whole machines


def test_a_well_prepared_robot_is_all_good(robot: Fake) -> None:
    assert {one.id: one.value for one in findings(robot) if one.severity is not Severity.good} == {}


def test_a_machine_that_tells_nothing_gets_plain_words_and_no_exception(nothing: Fake) -> None:
    found = findings(nothing)
    assert not [one for one in found if one.severity in (Severity.problem, Severity.warning)]
    unknown = {one.id for one in found if one.severity is Severity.unknown}
    assert {"preemption", "rt-throttling", "clocksource", "steal", "swap", "cpus"} <= unknown


def test_a_file_full_of_nonsense_never_costs_the_other_answers(robot: Fake) -> None:
    robot.put({"/proc/loadavg": "much\n", "/proc/stat": "cpu a b c d e f g h i\n"})
    found = {one.id: one for one in findings(robot)}
    assert found["load"].severity is Severity.unknown
    assert found["steal"].severity is Severity.unknown
    assert found["preemption"].severity is Severity.good


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_no_content_of_any_file_makes_the_doctor_fail(robot: Fake, data: st.DataObject) -> None:
    files = sorted(path for path in robot.root.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    before = path.read_bytes()
    try:
        path.write_bytes(data.draw(st.one_of(st.binary(max_size=40), st.just(before * 2))))
        machine = type(robot)(robot.root)
        assert len(findings(machine)) >= len(CHECKS) - len(NOT_EVERYWHERE)
        json.dumps(fingerprint(machine))
    finally:
        path.write_bytes(before)


def test_worst_findings_come_first(nothing: Fake) -> None:
    nothing.fifo_error = errno.EPERM
    ranks = [SEVERITIES.index(one.severity) for one in findings(nothing)]
    assert ranks == sorted(ranks)
    assert findings(nothing)[0].id in ("sched-fifo", "locked-memory")


def test_whatever_is_wrong_comes_with_a_fix(tmp_path: Path, robot: Fake) -> None:
    laptop = Fake(tmp_path / "laptop").put(LAPTOP)
    for machine in (robot, laptop, Fake(tmp_path / "none")):
        for one in findings(machine):
            if one.severity in (Severity.problem, Severity.warning):
                assert one.fix, one.id


def test_identifiers_are_unique(robot: Fake) -> None:
    names = [one.id for one in findings(robot)]
    assert len(names) == len(set(names))


def test_this_very_machine_can_be_examined() -> None:
    assert len(findings()) >= len(CHECKS) - len(NOT_EVERYWHERE)


LAPTOP: dict[str, str | bytes] = {
    **cpus(8),
    **{GOVERNOR.format(cpu): "powersave\n" for cpu in range(8)},
    **{
        f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list": f"{one},{one + 4}\n"
        for cpu in range(8)
        for one in (cpu % 4,)
    },
    "/proc/sys/kernel/osrelease": "6.8.0-45-generic\n",
    "/proc/sys/kernel/version": "#45-Ubuntu SMP PREEMPT_DYNAMIC\n",
    "/sys/kernel/debug/sched/preempt": "none (voluntary) full\n",
    "/etc/os-release": 'ID=ubuntu\nPRETTY_NAME="Ubuntu 24.04 LTS"\n',
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "/proc/self/limits": LIMITS.format(memlock="8388608", rtprio="0"),
    "/sys/devices/system/cpu/isolated": "\n",
    "/sys/devices/system/cpu/smt/control": "on\n",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    "/sys/devices/system/cpu/cpuidle/current_driver": "intel_idle\n",
    "/sys/devices/system/cpu/cpu0/cpuidle/state3/name": "C10\n",
    "/sys/devices/system/cpu/cpu0/cpuidle/state3/latency": "890\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "/proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 200000 kB\n"
    "SwapTotal: 2000000 kB\nSwapFree: 1000000 kB\n",
    "/proc/sys/vm/swappiness": "60\n",
    "/proc/sys/net/core/rmem_max": "212992\n",
    "/proc/irq/9/smp_affinity_list": "0-7\n",
    "/proc/irq/9/acpi/.keep": "",
    "/proc/irq/10/smp_affinity_list": "0-7\n",  # nobody handles it
    "/proc/812/comm": "irqbalance\n",
    f"{CLOCK}/current_clocksource": "hpet\n",
    f"{CLOCK}/available_clocksource": "hpet acpi_pm\n",
    "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
    "/usr/sbin/update-grub": "",
}


@pytest.mark.parametrize(
    ("name", "severity", "value"),
    [
        ("preemption", Severity.problem, "voluntary"),
        ("rt-throttling", Severity.note, "950 ms of every 1000 ms"),
        ("locked-memory", Severity.problem, "8 MiB"),
        ("isolation", Severity.warning, "no CPU is isolated"),
        ("smt", Severity.warning, "4 cores run two threads each"),
        ("governor", Severity.problem, "powersave on 8 CPUs"),
        ("idle-states", Severity.warning, "C10, 890 µs"),
        ("turbo", Severity.note, "on"),
        ("huge-pages", Severity.warning, "always"),
        ("swap", Severity.warning, "swappiness 60"),
        ("memory", Severity.warning, "0.2 of 15.3 GiB"),
        ("udp-buffers", Severity.warning, "208 KiB"),
        ("irqbalance", Severity.warning, "running"),
        ("interrupts", Severity.note, "1 of 1"),
        ("clocksource", Severity.problem, "hpet"),
        ("hypervisor", Severity.unknown, "could not be read"),
    ],
)
def test_a_laptop_fresh_from_the_shop(
    tmp_path: Path, name: str, severity: Severity, value: str
) -> None:
    found = Fake(tmp_path).put(LAPTOP).finding(name)
    assert (found.severity, value in found.value) == (severity, True), found


# kernel


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
def test_preemption_models_are_told_apart(
    nothing: Fake, files: dict[str, str | bytes], severity: Severity, value: str
) -> None:
    found = nothing.put(files).finding("preemption")
    assert (found.severity, found.value) == (severity, value)


@pytest.mark.parametrize(
    ("distribution", "word"),
    [("debian", "linux-image-rt"), ("ubuntu", "pro enable"), ("fedora", "dnf"), ("x", "6.12")],
)
def test_the_way_to_a_real_time_kernel_is_the_distributions(
    nothing: Fake, distribution: str, word: str
) -> None:
    nothing.put({"/etc/os-release": f"ID={distribution}\n", "/proc/version": "Linux 6 PREEMPT"})
    assert word in (nothing.finding("preemption").fix or "")


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


def test_ksoftirqd_is_judged_where_threads_of_the_kernel_can_be_seen(robot: Fake) -> None:
    assert robot.finding("ksoftirqd").value == "SCHED_FIFO 50"
    robot.put({"/proc/40/stat": stat("40 (ksoftirqd/0)", "0 0")})
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
    thread = {
        "/proc/50/comm": f"{name}\n",
        "/proc/50/stat": stat(f"50 ({name})", f"{priority} 1"),
    }
    robot.put({**thread, "/sys/class/net/lo/address": ""})
    assert "irq-threads" not in [one.id for one in findings(robot)]
    assert robot.put(card).finding("irq-threads").severity is severity


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


# fingerprint


def test_the_fingerprint_tells_nothing_of_the_owner(robot: Fake) -> None:
    robot.put(
        {
            "/proc/cmdline": "root=/dev/sda1 isolcpus=3 token=s3cret ip=10.1.2.3 user=mia "
            "nohz_full=/home/mia\n",
            "/etc/hostname": "mias-robot\n",
        }
    )
    text = json.dumps(fingerprint(Fake(robot.root)))
    for private in ("sda1", "s3cret", "10.1.2.3", "mia", str(robot.root), str(Path.home())):
        assert private not in text
    assert "isolcpus=3" in text


def test_the_fingerprint_names_what_decides_timing(robot: Fake) -> None:
    found = fingerprint(robot)
    assert found["kernel"] == "6.1.0-31-rt-amd64"
    assert found["preemption"] == "PREEMPT_RT"
    assert found["cpu_model"] == "Example i5"
    assert (found["cpus"], found["smt"], found["isolated_cpus"]) == (4, False, "3")
    assert (found["governor"], found["clocksource"]) == ("performance", "tsc")
    assert found["memory_bytes"] == 8_000_000 * 1024
    assert found["virtualised"] is False


def test_the_versions_of_ros_come_from_its_manifests(
    nothing: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix, version in (("first", "9.2.5"), ("second", "10.1.3")):
        manifest = f"<package><name>rcl</name><version> {version} </version></package>"
        nothing.put({f"/{prefix}/share/rcl/package.xml": manifest})
    nothing.put({"/first/share/rmw_fastrtps_cpp/package.xml": "no XML"})
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.delenv("TAKT_PREFIX", raising=False)
    prefixes = f"{nothing.root}/none:{nothing.root}/first:{nothing.root}/second"
    monkeypatch.setenv("AMENT_PREFIX_PATH", prefixes)
    found = fingerprint(nothing)
    assert found["ros_packages"] == {"rcl": "9.2.5"}
    assert found["ros_distribution"] == "jazzy"


# lists of CPUs


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_survive_a_round_trip(numbers: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(numbers)) == sorted(numbers)


@given(st.text(max_size=20))
def test_what_is_no_cpu_list_is_empty_or_numbers(text: str) -> None:
    assert all(cpu >= 0 for cpu in parse_cpu_list(text))


# the command


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "takt", "doctor", *arguments]
    environment = {"PYTHONPATH": ":".join(sys.path), "COLUMNS": "80", "LANG": "C.UTF-8"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_exit_code_says_whether_a_problem_was_found() -> None:
    done = doctor("--json")
    document = json.loads(done.stdout)
    assert set(document) == {"schema_version", "findings", "fingerprint"}
    problems = [one for one in document["findings"] if one["severity"] == "problem"]
    assert done.returncode == (1 if problems else 0)


def test_the_text_names_every_finding_and_fits_80_columns_but_for_commands() -> None:
    done = doctor()
    for finding in json.loads(doctor("--json").stdout)["findings"]:
        assert finding["title"] in done.stdout
    for line in done.stdout.splitlines():
        assert len(line) <= 80 or any(word in line for word in ("sudo", "echo", "printf"))
        assert line == line.rstrip() or line.startswith("  ")
