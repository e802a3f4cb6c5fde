# SPDX-License-Identifier: Apache-2.0
"""What a guest does: the jobs, and the shell script that does them, idle and loaded."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from takt.lab.guest import DONE, STEP, UP, Share
from takt.lab.initramfs import IN_MEMORY

IDLE, LOADED, FFT = "idle", "loaded", "fft"
THREADS = 5
NO_LOAD = "takt-lab: the load did not last"
LOAD = "hackbench and stress-ng (fork, vm, mremap, dentry, udp, pipe, switch)"
# What takes the stock kernel longest is to clear a huge page. Mapping two and giving them back
# takes a few ms, so that it happens all the time, and not only while the load starts.
_HUGE = "--mremap 1 --mremap-bytes 4m"
MEMORY = "/dev/shm/takt-lab"  # noqa: S108 - of the guest, where nothing waits for the host
_SWITCHES = {LOADED: "load", FFT: "fft"}  # the functions that begin and end a load
SETTLE_S = 2  # from the start of the load to the measurement
INTERVAL_US = 1000  # of cyclictest's threads, and the deadline of their wake-ups
HISTOGRAM_US = 20_000


@dataclass(frozen=True)
class Job:
    """One thing that a guest does; its words are kept as ``<name>.log``."""

    name: str
    load: str  # idle, loaded, fft
    commands: tuple[tuple[str, ...], ...]  # all but the last one in the background
    limit_s: int  # of the guest's time
    from_host: bool = False  # needs the shared folders; the others run before they are mounted
    environment: tuple[tuple[str, str], ...] = ()
    beside: str = ""  # a script that runs meanwhile, to its own end
    takes: bool = False  # those in the background take what is still on its way, then they end


def cyclictest(load: str, seconds: int) -> Job:
    """Five threads of cyclictest, from priority 90 downwards, each every ms."""
    command = ["cyclictest", "--mlockall", "--quiet", f"--threads={THREADS}", "--priority=90"]
    command += [f"--interval={INTERVAL_US}", f"--histogram={HISTOGRAM_US}", "--affinity"]
    command += [f"--duration={seconds}", f"--json={MEMORY}/cyclictest-{load}.json"]
    return Job(f"cyclictest-{load}", load, (tuple(command),), seconds + 30)


KEPT = ".kept"  # ends the name of a job whose files are all at the host


def init(
    jobs: Sequence[Job],
    shares: Sequence[Share],
    out: Path,
    *,
    keep: bool = False,
    begin: str = "",
) -> str:
    """The guest's first and only program: it does the jobs, copies what they left, and ends.

    With ``keep`` it copies after each job, so that a guest that is killed loses one of them only;
    then the folders of the host are mounted before the first one. ``begin``: what comes before all.
    """
    if keep:
        parts = [HEAD, begin, mounted(shares), *_turns(jobs, out), copied(out)]
        return "\n".join([*parts, f"echo '{DONE}'", "poweroff -f", ""])
    early, late = ([one for one in jobs if one.from_host is host] for host in (False, True))
    parts = [HEAD, begin, *_turns(early), mounted(shares), copied(out)]
    if late:
        parts += [*_turns(late), copied(out)]
    return "\n".join([*parts, f"echo '{DONE}'", "poweroff -f", ""])


def _turns(jobs: Sequence[Job], keep: Path | None = None) -> list[str]:
    """The idle jobs first; the others between the start and the end of their load."""
    each = {
        load: [_turn(one, keep) for one in jobs if one.load == load] for load in (IDLE, *_SWITCHES)
    }
    loaded = [
        line
        for load, switch in _SWITCHES.items()
        if each[load]
        for line in (f"{switch}_on", *each[load], f"{switch}_off")
    ]
    idle = each[IDLE]
    if any(one.from_host for one in jobs if one.load == IDLE):
        idle = ["awake_on", *idle, "awake_off"]
    return [*idle, *loaded]


def _turn(job: Job, keep: Path | None) -> str:
    if keep is None:
        return _job(job)
    return f"{_job(job)}\n{kept(job.name, keep, loaded=job.load != IDLE)}"


def _job(job: Job) -> str:
    lines = [f"echo '{STEP}{job.name}'", f"log={MEMORY}/{job.name}.log"]
    set_before = "".join(f"{name}={shlex.quote(value)} " for name, value in job.environment)
    *background, last = (
        f"{set_before}timeout {job.limit_s} {shlex.join(one)} >>$log 2>&1" for one in job.commands
    )
    if job.beside:
        lines.append(f"( {job.beside} ) >>$log 2>&1 & beside=$!")
    lines += ["b="] if background else []
    lines += [f'{one} & b="$b $!"' for one in background]
    lines.append(last)
    lines.append(f"echo $? >{MEMORY}/{job.name}.code")
    if job.takes:
        lines.append("drain $b")
    if background:
        lines.append("kill $b 2>/dev/null; wait $b")
    if job.beside:
        lines.append("wait $beside")
    return "\n".join(lines)


def kept(name: str, out: Path, *, loaded: bool) -> str:
    """Moves what a job has left; the mark comes last, as the files before it are whole then.

    ``loaded``: there is none where its load has ended.
    """
    files = " ".join(shlex.quote(f"{MEMORY}/{name}") + each for each in (".*", "-*"))
    mark = shlex.quote(f"{out}/{name}{KEPT}")
    each = f'[ ! -e "$file" ] || cp "$file" {shlex.quote(str(out))} || kept=no'
    lasts = " && kill -0 $stress || kept=no" if loaded else ""
    done = f"[ $kept = no ] || {{ : >{mark}; rm -f {files}; }}"
    return f"kept=yes{lasts}\nfor file in {files}; do {each}; done\n{done}"


def mounted(shares: Sequence[Share]) -> str:
    """Shows the guest the folders of the host."""
    lines = []
    for share in shares:
        rights = "rw" if share.writable else "ro,cache=loose"
        options = f"trans=virtio,version=9p2000.L,msize=262144,{rights}"
        place = shlex.quote(str(share.folder))
        lines.append(f"mkdir -p {place}; mount -t 9p -o {options} {share.tag} {place}")
    return "\n".join(lines)


def copied(out: Path) -> str:
    """What is to be known of the machine goes along, below its own paths."""
    place = shlex.quote(str(out))
    return f"facts\ncp -r {MEMORY}/. {place} || echo 'the results cannot be copied'"


HEAD = f"""#!/lab/busybox sh
/lab/busybox --install -s /lab/bin
export PATH=/lab/bin:/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts /var/tmp
{IN_MEMORY}
mkdir -p {MEMORY}
ifconfig lo 127.0.0.1 up
ulimit -l unlimited
ulimit -r 99
echo '{UP}'
for module in /lab/modules/*.ko; do insmod $module || echo $module; done
load_on() {{
    hackbench --groups 1 --loops 100000000 >/dev/null 2>&1 &
    hackbench=$!
    stress-ng --quiet --temp-path /tmp --timeout 0 --fork 1 --vm 1 --vm-bytes 64m {_HUGE} \\
        --dentry 1 --udp 1 --pipe 1 --switch 1 >/dev/null 2>&1 &
    stress=$!
    sleep {SETTLE_S}
}}
load_off() {{
    kill -0 $hackbench && kill -0 $stress || echo '{NO_LOAD}'
    kill $stress
    killall hackbench
    wait $stress $hackbench
}}
fft_on() {{
    stress-ng --quiet --temp-path /tmp --timeout 0 --cpu 0 --cpu-method fft >/dev/null 2>&1 &
    stress=$!
    sleep {SETTLE_S}
}}
fft_off() {{
    kill -0 $stress || echo '{NO_LOAD}'
    kill $stress
    wait $stress
}}
drain() {{
    for one in $*; do
        for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            kill -0 $one 2>/dev/null || break
            sleep 0.1
        done
    done
}}
# In instruction time an idle guest jumps ahead, past all limits, while it waits for a file.
awake_on() {{
    nice -n 19 sh -c 'while :; do :; done' &
    awake=$!
}}
awake_off() {{
    kill $awake
    wait $awake
}}
facts() {{
    for file in /proc/version /proc/cmdline /proc/cpuinfo /proc/meminfo /proc/loadavg \\
        /proc/sys/kernel/osrelease /proc/sys/kernel/version /proc/sys/kernel/sched_rt_runtime_us \\
        /sys/kernel/realtime /sys/kernel/debug/sched/preempt /sys/devices/system/cpu/online \\
        /sys/devices/system/cpu/isolated \\
        /sys/devices/system/clocksource/clocksource0/current_clocksource; do
        [ -e $file ] || continue
        mkdir -p {MEMORY}/machine$(dirname $file)
        cat $file >{MEMORY}/machine$file
    done
}}
"""
