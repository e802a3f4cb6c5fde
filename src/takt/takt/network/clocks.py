# SPDX-License-Identifier: Apache-2.0
"""Which clock this machine has, and how far it may be from another machine's.

Every stamp of a probe is CLOCK_MONOTONIC, which begins at any value on each machine. What ties two
of them together is CLOCK_REALTIME, as far as chrony or PTP keeps it. Its bound is the one of RFC
5905 (the root distance): what is still to be corrected, dispersion, and half of the delay.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from takt.processes.process import output

LIMIT_S = 5.0
REMEDY = (
    "on both hosts: apt-get install chrony, and configure the same server (a PTP clock as "
    "its refclock PHC); see chronyc tracking. Or measure pingpong, which needs only one "
    "clock"
)
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_TIME_NAMESPACE = Path("/proc/self/ns/time")
_TRIES = 20
_CHRONY_FIELDS = 14
_LOCAL = "7F7F01"  # chrony's name of a reference that is the machine's own clock
_CURRENT = re.compile(r"(offsetFromMaster|meanPathDelay)\s+(-?[0-9.e+]+)")


@dataclass(frozen=True)
class Clock:
    """The clock of a machine at a moment."""

    identity: str  # processes with the same one have the same CLOCK_MONOTONIC
    offset_ns: int  # CLOCK_REALTIME - CLOCK_MONOTONIC
    read_ns: int  # the most by which that may be wrong: the two are not read at once
    bound_ns: int | None  # the most by which CLOCK_REALTIME is wrong; None: nobody knows
    by: str  # who says so, or why nobody does
    own: bool = False  # it is its own reference, so its bound says nothing of any other clock
    reference: str = ""  # the address of the server that it follows
    addresses: tuple[str, ...] = ()  # of this machine, which others may follow


@dataclass(frozen=True)
class Between:
    """What is to be added to stamps of one clock to have them on another."""

    add_ns: int
    bound_ns: int  # the most by which that is wrong
    by: str


def read() -> Clock:
    """The clock of this machine now."""
    import psutil

    offset, width = _offset()
    kept = _kept()
    each = [one.address for many in psutil.net_if_addrs().values() for one in many]
    return Clock(
        identity(), offset, width, kept.bound_ns, kept.by, kept.own, kept.reference, tuple(each)
    )


def identity() -> str:
    """The boot of the kernel and the time namespace: who shares both has one clock."""
    try:
        namespace = str(_TIME_NAMESPACE.readlink())
    except OSError:  # before Linux 5.6 there is one for all
        namespace = "time"
    return f"{_BOOT.read_text(encoding='ascii').strip()} {namespace}"


def between(of: Clock, to: Clock) -> Between | None:
    """From stamps of one clock to those of the other; None where nobody knows how far apart."""
    if of.identity == to.identity:
        return Between(0, 0, "one clock: both hosts are the same machine (same boot)")
    if of.bound_ns is None or to.bound_ns is None or not _of_one_reference(of, to):
        return None
    bound = of.bound_ns + to.bound_ns + of.read_ns + to.read_ns
    return Between(of.offset_ns - to.offset_ns, bound, of.by)


def _offset() -> tuple[int, int]:
    """The two clocks' difference, and how long the narrowest of some readings took."""
    found = []
    for _ in range(_TRIES):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        found.append((after - before, wall - (before + after) // 2))
    width, offset = min(found)
    return offset, width


def why_unknown(of: Clock, to: Clock) -> str:
    """Why nobody knows how far two clocks are apart."""
    said = [one.by for one in (of, to) if one.bound_ns is None]
    return "; ".join(dict.fromkeys(said)) or "they do not follow the same reference"


def _of_one_reference(one: Clock, other: Clock) -> bool:
    """Bounds are to a reference: UTC, or the clock of one of the two that the other follows."""
    if one.by != other.by or (one.own and other.own):
        return False
    if not one.own and not other.own:
        return True
    master, follower = (one, other) if one.own else (other, one)
    return follower.reference in master.addresses


@dataclass(frozen=True)
class _Kept:
    """How well somebody keeps the clock of this machine."""

    bound_ns: int | None
    by: str
    own: bool = False
    reference: str = ""


def _kept() -> _Kept:
    said = []
    for program, ask in (("chronyc", _by_chrony), ("pmc", _by_ptp)):
        if shutil.which(program) is None:
            said.append(f"{program} is not installed")
            continue
        try:
            found = ask()
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            found = _Kept(None, f"{program} does not answer: {error}")
        if found.bound_ns is not None:
            return found
        said.append(found.by)
    return _Kept(None, "; ".join(said))


def _by_chrony() -> _Kept:
    done = output(["chronyc", "-n", "-c", "tracking"], LIMIT_S)
    if done.returncode:
        words = (done.stdout + done.stderr).strip().splitlines() or ["no answer"]
        return _Kept(None, f"chronyc: {words[-1]}")
    return kept_by_chrony(done.stdout)


def kept_by_chrony(tracking: str) -> _Kept:
    """From ``chronyc -n -c tracking``.

    Its fields: reference, its address, stratum, time, system offset, last and RMS offset,
    frequency, residual, skew, root delay, root dispersion, interval, leap status; in seconds.
    """
    fields = next(csv.reader(tracking.splitlines()), [])
    if len(fields) != _CHRONY_FIELDS:
        raise ValueError(f"{len(fields)} fields instead of {_CHRONY_FIELDS}")
    if fields[13].strip().lower() == "not synchronised":
        return _Kept(None, "chrony is not synchronised")
    system, delay, dispersion = (abs(float(fields[place])) for place in (4, 10, 11))
    bound = round((system + dispersion + delay / 2) * 1e9)
    return _Kept(bound, "chrony", fields[0].startswith(_LOCAL), fields[1])


def _by_ptp() -> _Kept:
    hardware = output(["pmc", "-u", "-b", "0", "GET PORT_HWCLOCK_NP"], LIMIT_S).stdout
    current = output(["pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"], LIMIT_S).stdout
    return kept_by_ptp(hardware, current)


def kept_by_ptp(hardware: str, current: str) -> _Kept:
    """From pmc's PORT_HWCLOCK_NP and CURRENT_DATA_SET.

    What ptp4l knows is how far the clock is that it steers. Only with software stamps that is the
    system's; how far that is from a network card's, only chrony tells (refclock PHC).
    """
    index = re.search(r"phc_index\s+(-?[0-9]+)", hardware)
    if index is None:
        return _Kept(None, "pmc does not report which clock ptp4l steers (needs linuxptp 4)")
    if int(index[1]) >= 0:
        card = f"/dev/ptp{index[1]}"
        return _Kept(None, f"ptp4l steers a network card's clock ({card}), not the system's")
    found = {name: abs(float(value)) for name, value in _CURRENT.findall(current)}
    if len(found) != 2:
        return _Kept(None, "pmc knows no master")
    return _Kept(round(found["offsetFromMaster"] + found["meanPathDelay"]), "PTP")
