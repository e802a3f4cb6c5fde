# SPDX-License-Identifier: Apache-2.0
"""Cores that only the measured processes use, by cpusets: of version 1 or 2 of control groups.

With version 2 a partition of its own takes its cores away from everything else. With version 1 all
processes of the root are moved to a group that has the other cores, and other groups lose these.
What stands in a group below the root that has no cpuset of its own follows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from takt.machine.kernel_thread import kernel_thread
from takt.machine.own_group import OwnGroup, group_value, members
from takt.machine.place import Controller, KernelFile
from takt.machine.setting import ANY_PATH, Listed, Setting, Wish
from takt.machine.system import System, format_cpu_list, parse_cpu_list

ID = "measured-cores"
_ROOT = "/sys/fs/cgroup"
_FIRST = f"{_ROOT}/cpuset"  # the hierarchy of version 1
_MEASURED, _REST = "takt.measured", "takt.rest"
PLACES = (
    Listed(Controller, f"{_ROOT} cpuset"),
    Listed(KernelFile, rf"{_FIRST}{ANY_PATH}(?<=/cpuset[.]cpus)"),
    Listed(OwnGroup, rf"({_ROOT}|{_FIRST})/{re.escape(_MEASURED)}"),
    Listed(OwnGroup, f"{_FIRST}/{re.escape(_REST)} takes"),
)
_KEEPS_AFFINITY = (6, 2)  # Linux from which a process has its own affinity again afterwards


def group(system: System) -> str:
    """Where the measured processes stand."""
    return f"{_FIRST if _version(system) == 1 else _ROOT}/{_MEASURED}"


def exclusive_cores(cpus: Collection[int]) -> Setting:
    """The setting for these cores."""
    text = format_cpu_list(cpus)
    return Setting(
        id=ID,
        title="Exclusive cores for the measured processes",
        why="No other process evicts their caches or delays them.",
        findings=(),
        wishes=lambda system: _wishes(system, cpus),
        places=PLACES,
        by_hand=lambda _: f"systemd-run --scope -p AllowedCPUs={text} COMMAND",
        caution="all other processes share the remaining cores",
    )


def lacking(system: System, cpus: Collection[int]) -> tuple[str, str] | None:
    """Why these cores cannot be had alone, and what to do; None: they can."""
    rest = set(system.online) - set(cpus)
    text = format_cpu_list(cpus)
    if not rest:
        what = f"CPU {text} is all of this machine: no core remains for other processes"
        return what, "measure on fewer, such as one CPU for both roles"
    version = _version(system)
    if version is None:
        return "cpusets are not available", "mount control groups, with the controller cpuset"
    if system.release_number < _KEEPS_AFFINITY:
        what = f"Linux {system.release} forgets the affinity of processes that change cpusets"
        return what, "use Linux 6.2 or later, or cores: shared"
    place = OwnGroup(path=group(system))
    if not place.may_write(system):
        return f"this user may not create control groups ({place.where})", "use sudo"
    return None


def strangers(system: System, cpus: Collection[int]) -> list[str]:
    """Processes, not the kernel's own threads, that may use these cores and are not measured."""
    ours = set(members(system, group(system)))
    found = []
    for pid in map(int, filter(str.isdecimal, system.names("/proc"))):
        status = system.pairs(f"/proc/{pid}/status")
        allowed, ended = status.get("Cpus_allowed_list"), status.get("State", "")[:1] in "ZX"
        if pid in ours or allowed is None or ended or kernel_thread(system, pid):
            continue
        if set(parse_cpu_list(allowed)) & set(cpus):
            found.append(f"{pid} ({system.text(f'/proc/{pid}/comm') or ''})")
    return found


def _version(system: System) -> int | None:
    if "cpuset" in (system.text(f"{_ROOT}/cgroup.controllers") or "").split():
        return 2
    return 1 if system.exists(f"{_FIRST}/cpuset.cpus") else None


def _wishes(system: System, cpus: Collection[int]) -> Iterator[Wish]:
    text = format_cpu_list(cpus)
    if _version(system) == 2:
        yield Wish(Controller(group=_ROOT, name="cpuset"), "on")
        value = group_value(cpus=text, partition="isolated")
        yield Wish(OwnGroup(path=group(system)), value)
        return
    memory = system.text(f"{_FIRST}/cpuset.mems") or "0"
    others = set(system.online) - set(cpus)
    for file in _narrowed(system, others):
        left = (system.cpus(file) or set()) & others
        yield Wish(KernelFile(path=file), format_cpu_list(left or others))
    rest = group_value(mems=memory, cpus=format_cpu_list(others))
    yield Wish(OwnGroup(path=f"{_FIRST}/{_REST}", takes=True), rest)
    yield Wish(OwnGroup(path=group(system)), group_value(mems=memory, cpus=text))


def _narrowed(system: System, others: set[int]) -> list[str]:
    """The lists of groups that have other cores, the deepest first: a group holds those below."""
    files = [
        file
        for file in system.glob(f"{_FIRST}/**/cpuset.cpus")
        if file.count("/") > f"{_FIRST}/cpuset.cpus".count("/")
        and file.split("/")[-2] not in (_MEASURED, _REST)
        and (system.cpus(file) or set()) - others
    ]
    return sorted(files, key=lambda file: (-file.count("/"), file))
