# SPDX-License-Identifier: Apache-2.0
"""The quotas (cpu_max) of a robot's processes while it is executed.

Each has a control group, which the threads that run its callbacks enter. The trace says afterwards
for how long the kernel throttled them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from takt.errors import TaktError
from takt.machine import cpu_quota
from takt.schedule.execution.programs import append_attributes
from takt.schedule.trace import quotas as traced


@dataclass
class Quotas:
    """The groups of an execution's processes, by their names."""

    groups: dict[str, Path] = field(default_factory=dict)

    def options(self, application: Mapping[str, Any], host: str | None = None) -> list[str]:
        """Of the runner, for the processes of a host."""
        here = {one["name"] for one in application.get("processes", []) if one.get("host") == host}
        groups = {name: group for name, group in self.groups.items() if name in here}
        return [word for name in groups for word in ("--quota", f"{name}={groups[name]}")]

    def append(self, trace: Path) -> None:
        """Writes what the kernel counted behind the events of the trace; raises OSError."""
        found = {name: cpu_quota.throttled(group) for name, group in self.groups.items()}
        append_attributes(trace, [traced.attribute(name, one) for name, one in found.items()])


@contextlib.contextmanager
def applied(
    application: Mapping[str, Any], scratch: Path, away: Mapping[str, str] | None = None
) -> Iterator[Quotas]:
    """For the processes that have a quota; ``away`` are the machines of hosts that are workers.

    Raises TaktError where the kernel makes no such group here.
    """
    quotas = Quotas()
    with contextlib.ExitStack() as around:
        for number, process in enumerate(application.get("processes", [])):
            if (limit := process.get("quota")) is None:
                continue
            name = process["name"]
            if machine := (away or {}).get(process.get("host", "")):
                raise TaktError(
                    f"process {name!r} has a quota (cpu_max), and its host is the worker "
                    f"{machine}, where takt execute makes no control group",
                    where="processes",
                    fix="execute it on this machine (here, namespace), or remove cpu_max",
                )
            one = cpu_quota.quota_of_threads(
                scratch, number, limit["budget"], limit["period"], process["nice"]
            )
            try:
                quotas.groups[name] = around.enter_context(one)
            except cpu_quota.NoQuota as failure:
                raise TaktError(
                    f"process {name!r} has a quota (cpu_max): {failure.what}",
                    where=failure.where,
                    fix=f"{failure.fix}; or remove cpu_max. analyse and simulate count it",
                ) from None
        yield quotas
