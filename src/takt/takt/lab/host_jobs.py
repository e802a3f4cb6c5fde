# SPDX-License-Identifier: Apache-2.0
"""What each of two guests does: they meet before and after each test, over a folder of the host."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from takt.lab import cable, jobs
from takt.lab.cable import End
from takt.lab.cells import Planned
from takt.lab.guest import DONE, STEP, Share
from takt.lab.hosts import COMPONENT, CONTROLLER, NORMAL, environment
from takt.lab.jobs import MEMORY, SETTLE_S
from takt.machine.threads import NETWORK_PRIORITY, SOFTIRQ_PRIORITY
from takt.measure.conditions.load import STRESSORS, workers
from takt.measure.conditions.traffic import DATAGRAM, IPERF3, PORT
from takt.measure.conditions.tuned import NONE
from takt.measure.results.model import Cell

MEET_S = 1200  # of the guest's time, at most, until the other one is there, too
NOT_MET = "takt-lab: the other guest is missing"
TRAFFIC_LOG = ".iperf3"  # ends the name of a test whose traffic it is of
WORKER_MB = 8  # of memory or of a file: the guest has no disk
_USUAL = 50  # priority of interrupt threads, which the kernel gives them
_BEFORE_LOAD = ("nice", "-n", "-20")  # the load must not slow down the traffic
_STRESS = " ".join(f"--{one} $1" for one in STRESSORS)


@dataclass(frozen=True)
class Host:
    """One of the two."""

    name: str
    end: End
    other: End
    out: Path  # a folder that both see and write

    @property
    def other_name(self) -> str:
        """The one that it meets."""
        return COMPONENT if self.name == CONTROLLER else CONTROLLER


def init(host: Host, tests: Sequence[Planned], shares: Sequence[Share]) -> str:
    """The guest's first and only program; what each test leaves is copied as soon as it ends."""
    place = shlex.quote(str(host.out))
    parts = [jobs.HEAD, jobs.mounted(shares)]
    parts.append(f'me={host.name} other={host.other_name} out={place}\nmkdir -p "$out/$me"')
    parts += [FUNCTIONS, "awake_on", jobs.copied(host.out / host.name)]
    parts.append(f"ifconfig {cable.INTERFACE} {host.end.address} netmask {cable.NETWORK_MASK} up")
    parts += ["find_threads", *(_test(host, one) for one in tests), "awake_off"]
    parts.append(jobs.copied(host.out / host.name))
    return "\n".join([*parts, f"echo '{DONE}'", "poweroff -f", ""])


def usual(thread: str) -> tuple[str, str]:
    """The setting that changes a thread of this name, and its scheduling without a change."""
    if thread.startswith("ksoftirqd/"):
        return "ksoftirqd", "other"
    return "irq-threads", f"fifo {_USUAL}"


def _test(host: Host, one: Planned) -> str:
    """Load and traffic are there before the probes, and last longer than them."""
    cell, name = one.cell, one.job.name
    log = f">>{MEMORY}/{name}.log 2>&1"
    sees = "".join(f"{key}={shlex.quote(value)} " for key, value in environment(one, host.end))
    pong, ping = (
        f"{sees}timeout {one.job.limit_s} {shlex.join(each)} {log}" for each in one.job.commands
    )
    words = f">/dev/null 2>>{MEMORY}/{name}{TRAFFIC_LOG}"
    listens, settles = f"meet {name}.listens", f"sleep {SETTLE_S}; meet {name}.settled"
    before, after = f"counts {name}.before", f"counts {name}.after"
    if host.name == CONTROLLER:
        traffic = [listens, f"{_client(host, cell)} {words} & iperf=$!"]
        measured = [settles, before, ping, f"echo $? >{MEMORY}/{name}.code"]
        measured += [f': >"$out/{name}.measured.$me"', after]
    else:
        traffic = [f"{_server(host)} {words} & iperf=$!", "sleep 1", listens]
        measured = [f"{pong} & pong=$!", settles, before, f"meet {name}.measured", after]
        measured.append("kill $pong 2>/dev/null; wait $pong")
    lines = [f"echo '{STEP}{name}'", f"meet {name}.begin", f"priorities {_priorities(cell)}"]
    lines.append(f"stress_on {workers(cell.loads[host.name])}")
    lines += [*traffic, *measured, "traffic_off"] if cell.traffic_mbps else measured
    lines.append(jobs.kept(name, host.out / host.name, loaded=True))
    return "\n".join([*lines, "stress_off"])


def _priorities(cell: Cell) -> str:
    """Of interrupt threads of the network and of ksoftirqd, as words of chrt."""
    if cell.tuned != NONE:
        return f"-f {NETWORK_PRIORITY} -f {SOFTIRQ_PRIORITY}"
    return "-o 0 -o 0" if cell.label == NORMAL else f"-f {_USUAL} -o 0"


def _server(host: Host) -> str:
    return _iperf3("--server", "--bind", host.end.address)


def _client(host: Host, cell: Cell) -> str:
    rate = str(round(cell.traffic_mbps * 1e6))
    both_ways = ("--udp", "--bidir", "--bitrate", rate, "--length", str(DATAGRAM), "--time", "0")
    return _iperf3("--client", host.other.address, *both_ways)


def _iperf3(*words: str) -> str:
    return shlex.join([*_BEFORE_LOAD, IPERF3, *words, "--port", str(PORT)])


FUNCTIONS = f"""meet() {{
    : >"$out/$1.$me"
    waited=0
    until [ -e "$out/$1.$other" ]; do
        waited=$((waited + 1))
        [ $waited -lt {MEET_S} ] || {{ echo '{NOT_MET}'; poweroff -f; }}
        sleep 1
    done
}}
find_threads() {{
    interrupts= softirqs=
    for place in /proc/[0-9]*; do
        read name <$place/comm
        case $name in
            irq/*-{cable.INTERFACE}*) interrupts="$interrupts ${{place#/proc/}}" ;;
            ksoftirqd/*) softirqs="$softirqs ${{place#/proc/}}" ;;
        esac
    done
}}
priorities() {{
    for thread in $interrupts; do chrt $1 -p $2 $thread; done
    for thread in $softirqs; do chrt $3 -p $4 $thread; done
}}
counts() {{
    {{
        read up idle </proc/uptime
        echo uptime $up
        for way in rx tx; do
            read bytes </sys/class/net/{cable.INTERFACE}/statistics/${{way}}_bytes
            echo $way $bytes
        done
        for thread in $interrupts $softirqs; do
            read name </proc/$thread/comm
            read stat </proc/$thread/stat
            set -- "$1" ${{stat##*) }}
            read times </proc/$thread/schedstat
            echo thread $name ${{39}} ${{40}} $times
        done
    }} >{MEMORY}/$1.counts
}}
stress_on() {{
    stress-ng --quiet --temp-path /tmp --timeout 0 {_STRESS} \\
        --vm-bytes {WORKER_MB}m --hdd-bytes {WORKER_MB}m >/dev/null 2>&1 &
    stress=$!
}}
stress_off() {{
    kill -0 $stress || echo '{jobs.NO_LOAD}'
    kill $stress
    wait $stress
}}
traffic_off() {{
    kill $iperf 2>/dev/null
    wait $iperf
}}"""
