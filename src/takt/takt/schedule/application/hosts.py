# SPDX-License-Identifier: Apache-2.0
"""The computers of a robot, and the cores that an application describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.documents.units import format_duration
from takt.documents.yaml_file import Source
from takt.errors import TaktError
from takt.schedule.application.cores import Core, budget_of, flat_core, parse_cpu_max
from takt.schedule.application.model import Application


def flat_cores(application: Application) -> dict[str, Any]:
    """Those that are described, as the core parses them."""
    cores = [
        flat_core(cpu, core, len(_used(application, host))) | ({"host": host} if host else {})
        for host, cpu, core, _ in _described(application)
    ]
    return {"cores": cores} if cores else {}


def check_cores(application: Application, source: Source) -> None:
    """Only the cores that the application uses. Raises TaktError."""
    hosts = {one.host for one in application.processes.values()}
    if application.cores and len(hosts) > 1:
        raise TaktError(
            "cores are given, and the processes run on several hosts",
            where=source.where(("cores",)),
            fix="say of which host they are: hosts: {NAME: {cores: …}}",
        )
    for name in application.hosts:
        if name not in hosts:
            raise TaktError(
                f"no process runs on host {name}",
                where=source.where(("hosts", name)),
                fix="give a process this host, or remove it from hosts",
            )
    for host, cpu, core, keys in _described(application):
        used = _used(application, host)
        if cpu not in used:
            of = f" of host {host}" if host else ""
            more = "give a process this core" if application.processes else f"add {cpu} to cpus"
            raise TaktError(
                f"core {cpu}{of} is described, but the application uses "
                f"{', '.join(map(str, used))}",
                where=source.where(keys),
                fix=f"{more}, or describe one of them",
            )
        _check_quota(application, core, cpu, used, source.where((*keys, "supply")))


def _check_quota(
    application: Application, core: Core, cpu: int, used: list[int], where: str
) -> None:
    if core.supply is None or core.supply.cpu_max is None:
        return
    quota, period = parse_cpu_max(core.supply.cpu_max)
    if quota is None:
        return
    if application.processes:
        raise TaktError(
            f"cpu_max {core.supply.cpu_max} is given for core {cpu} of a robot, whose processes "
            "have real-time priorities: no quota holds for these",
            where=where,
            fix="give what the core provides, such as budget: 8ms, period: 10ms",
        )
    if not budget_of(quota, period, len(used)):
        raise TaktError(
            f"cpu_max {core.supply.cpu_max} guarantees nothing to core {cpu}: the other "
            f"{len(used) - 1} may use all of it",
            where=where,
            fix=f"a quota above {format_duration((len(used) - 1) * period)}, or fewer cpus",
        )


def _used(application: Application, host: str | None) -> list[int]:
    if not application.processes:
        return application.cpus or [0]
    own = [one for one in application.processes.values() if one.host == host]
    return sorted(set().union(*(one.cores for one in own)))


def _described(
    application: Application,
) -> Iterator[tuple[str | None, int, Core, tuple[str | int, ...]]]:
    """The host, the number, what is described, and where."""
    only = next((one.host for one in application.processes.values()), None)
    for cpu, core in application.cores.items():
        yield only, cpu, core, ("cores", cpu)
    for name, host in application.hosts.items():
        for cpu, core in host.cores.items():
            yield name, cpu, core, ("hosts", name, "cores", cpu)
