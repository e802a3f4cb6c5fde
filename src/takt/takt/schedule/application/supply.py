# SPDX-License-Identifier: Apache-2.0
"""What ``--supply`` adds to an application: the cores of a supply.yaml, or of a running process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from takt.documents import yaml_file
from takt.documents.quantities import Strict
from takt.documents.yaml_file import Form
from takt.errors import TaktError
from takt.schedule.application.cores import Core, flat_core
from takt.schedule.application.executors import Cpu
from takt.schedule.application.processes import cores_of, places_of, refuse_hosts
from takt.schedule.application.reservation import reservation

MEASURE = "takt measure supply"


class SupplyFile(Strict):
    """A whole supply.yaml."""

    cores: dict[Cpu, Core] = Field(description="what each core provides, by number")


FORM = Form(
    "a supply",
    SupplyFile,
    keys="cores",
    example=f"what {MEASURE} writes",
    reference="docs/reference/application-keys.md",
)


def add_supply(flat: dict[str, Any], given: str) -> None:
    """Puts cores into the flat form: of a file, or of the process with this number.

    Raises TaktError where a core of the application is missing, or has a supply of its own.
    """
    refuse_hosts(flat, "--supply", "--supply")
    cpus = cores_of(flat)
    own = [core["cpu"] for core in flat.get("cores", [])]
    if own:
        raise TaktError(
            f"core {own[0]} is described in the application, too",
            where="--supply",
            fix="remove cores from the app.yaml, or leave out --supply",
        )
    if given.isdecimal():
        supply = reservation(int(given))
        cores = dict.fromkeys(cpus, Core(supply=supply))
        where = f"process {given}"
    else:
        cores = read_supply(Path(given))
        where = given
    add_cores(flat, cores, where)


def read_supply(path: Path) -> dict[int, Core]:
    """What each core provides, of a supply.yaml; raises TaktError."""
    return yaml_file.read(path, FORM)[0].cores


def add_cores(flat: dict[str, Any], cores: Mapping[int, Core], where: str) -> None:
    """Puts those of its cores into the flat form; ``where`` names them in errors.

    Of a robot of several hosts, each host has these. Raises TaktError where one is missing, or
    gets nothing.
    """
    cpus = cores_of(flat)
    for cpu in cpus:
        if cpu not in cores:
            raise TaktError(
                f"core {cpu} of the application is missing",
                where=where,
                fix=f"{MEASURE} --cpu {','.join(map(str, cpus))}",
            )
    _refuse_quotas(flat, cores, where)
    of = sorted(places_of(flat) or {("", cpu) for cpu in cpus})
    entries = [
        flat_core(cpu, cores[cpu], len(cpus)) | ({"host": host} if host else {}) for host, cpu in of
    ]
    for entry in entries:
        if not entry.get("supply", {}).get("budget", 1):
            raise TaktError(
                f"the quota guarantees nothing to core {entry['cpu']}: the other "
                f"{len(cpus) - 1} may use all of it",
                where=where,
                fix="a quota above the period of each other core, or fewer cpus",
            )
    flat["cores"] = entries


def _refuse_quotas(flat: Mapping[str, Any], cores: Mapping[int, Core], where: str) -> None:
    quotas = [one.supply.cpu_max for one in cores.values() if one.supply and one.supply.cpu_max]
    if flat.get("processes") and quotas:
        raise TaktError(
            f"cpu_max {quotas[0]} holds for no thread of a robot, whose processes have real-time "
            "priorities",
            where=where,
            fix="give what the cores provide, such as budget: 8ms, period: 10ms",
        )
