# SPDX-License-Identifier: Apache-2.0
"""Machines as the kernel shows them in /sys and /proc: cores of several kinds, many, isolated."""

from __future__ import annotations

from known_machines import cpus

CPU = "/sys/devices/system/cpu"
Files = dict[str, str | bytes]

# Control groups of version 2, with the CPU controller on, below the root.
SERVICE: Files = {
    "/proc/self/cgroup": "0::/system.slice/robot.service\n",
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory\n",
    "/sys/fs/cgroup/system.slice/cpu.weight": "100\n",
    "/sys/fs/cgroup/system.slice/robot.service/cpu.weight": "100\n",
}
ALL_CAPABILITIES: Files = {
    "/proc/self/status": "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3\n",
    "/proc/self/uid_map": "         0          0 4294967295\n",
}
# What Docker gives by default.
CONTAINER: Files = {
    "/proc/self/mounts": "overlay / overlay rw,relatime 0 0\n"
    "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0\n",
    "/dev/shm/.keep": "",
}
REAL_TIME: Files = {
    "/proc/sys/kernel/osrelease": "6.12.9-rt\n",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian 6.12.9-1\n",
    "/sys/kernel/realtime": "1\n",
}


def speeds(file: str, values: dict[int, int]) -> Files:
    """What the kernel reports of each CPU in a file of its folder."""
    return {f"{CPU}/cpu{cpu}/{file}": f"{value}\n" for cpu, value in values.items()}


def machine(count: int, isolated: str = "") -> Files:
    return {**cpus(count), f"{CPU}/isolated": f"{isolated}\n"}


def performance_and_efficiency(isolated: str = "") -> Files:
    """Eight hardware threads on four fast cores, then eight slow cores, two of them slower still.

    One fast core has a higher turbo frequency, as one of each such processor.
    """
    frequencies = {cpu: 5_500_000 if cpu in (2, 3) else 5_200_000 for cpu in range(8)}
    frequencies |= dict.fromkeys(range(8, 16), 4_900_000)  # by frequency alone hardly slower
    return {
        **machine(16, isolated),
        **speeds("cpufreq/cpuinfo_max_freq", frequencies),
        "/sys/devices/cpu_core/cpus": "0-7\n",
        "/sys/devices/cpu_atom/cpus": "8-13\n",
        "/sys/devices/cpu_lowpower/cpus": "14-15\n",
    }


def big_little(isolated: str = "") -> Files:
    """The fast cores come first, as on some boards."""
    capacities = dict.fromkeys(range(4), 1024) | dict.fromkeys(range(4, 8), 381)
    return {**machine(8, isolated), **speeds("cpu_capacity", capacities)}


def one_fast_core() -> Files:
    """The first CPU is the only fast one: it has the kernel's own work."""
    return {**machine(4), **speeds("cpu_capacity", {0: 1024, 1: 512, 2: 512, 3: 256})}


def many(isolated: str = "") -> Files:
    """256 CPUs on two chips; the first has the higher frequency."""
    frequencies = dict.fromkeys(range(128), 5_700_000) | dict.fromkeys(range(128, 256), 4_500_000)
    return {**machine(256, isolated), **speeds("cpufreq/cpuinfo_max_freq", frequencies)}
