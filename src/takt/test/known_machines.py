# SPDX-License-Identifier: Apache-2.0
"""Machines that the doctor knows well: a prepared robot, and a laptop fresh from the shop."""

from __future__ import annotations

from synthetic_machine import thread

GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max locked memory         {memlock}              {memlock}              bytes
Max realtime priority     {rtprio}                    {rtprio}
"""


def cpus(count: int) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {"/sys/devices/system/cpu/online": f"0-{count - 1}\n"}
    for cpu in range(count):
        files[f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"] = f"{cpu}\n"
    return files


ROBOT: dict[str, str | bytes] = {
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
    **thread(40, "ksoftirqd/0", "50 1"),
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
    "/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n',
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
