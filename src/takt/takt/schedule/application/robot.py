# SPDX-License-Identifier: Apache-2.0
"""A whole robot: which node belongs to which process, and how the core reads that."""

from __future__ import annotations

from typing import Any

from takt.documents.yaml_file import Source
from takt.errors import TaktError
from takt.schedule.application.kernel_scheduling import flat_scheduling
from takt.schedule.application.links import Link
from takt.schedule.application.model import Application
from takt.schedule.application.processes import Process
from takt.schedule.application.threads import flat_thread


def flat_processes(application: Application) -> dict[str, Any]:
    """The processes and what lies between them, as the core parses them."""
    if not application.processes:
        return {}
    keys = ("executor", "policy", "host")
    least, most = application.middleware.latency if application.middleware else (0, 0)
    return {
        "processes": [
            {
                "name": name,
                **{key: value for key in keys if (value := getattr(process, key)) is not None},
                **({"cpus": process.cpus} if process.cpus else {"cpu": process.cpu}),
                **flat_scheduling(process),
                **_threads(process),
            }
            for name, process in application.processes.items()
        ],
        "handover": {"least": least, "most": most},
        **({"links": [_flat(one) for one in application.links]} if application.links else {}),
    }


def _threads(process: Process) -> dict[str, Any]:
    threads = [flat_thread(name, one) for name, one in process.threads.items()]
    return {"threads": threads} if threads else {}


def _flat(link: Link) -> dict[str, Any]:
    assert link.latency is not None  # noqa: S101 - the file has none without it
    return {
        "hosts": link.hosts,
        "least": link.latency[0],
        "most": link.latency[1],
        "loss": link.loss or 0,
        "drift": link.drift or 0,
        "measured": link.messages or 0,
    }


def check_processes(application: Application, source: Source) -> None:
    """Each node belongs to one process, and nothing is said twice."""
    if not application.processes:
        for key in ("middleware", "links"):
            if getattr(application, key):
                raise TaktError(
                    f"{key} is given, but there are no processes to pass messages between",
                    where=source.where((key,)),
                    fix=f"add processes, or remove {key}",
                )
        return
    for key in ("executor", "policy", "cpus"):
        if getattr(application, key) is not None:
            raise TaktError(
                f"{key} is given for the application, but each process has its own",
                where=source.where((key,)),
                fix=f"give {key.removesuffix('s')} in each of the processes",
            )
    homes: dict[str, str] = {}
    for name, process in application.processes.items():
        for node in process.nodes:
            where = source.where(("processes", name))
            if node not in application.nodes:
                raise TaktError(
                    f"process {name} names node {node}, which does not exist",
                    where=where,
                    fix=f"name one of {', '.join(application.nodes)}",
                )
            if node in homes:
                raise TaktError(
                    f"node {node} is in process {homes[node]} and in process {name}",
                    where=where,
                    fix="leave it in one of them",
                )
            homes[node] = name
    for node in application.nodes:
        if node not in homes:
            raise TaktError(
                f"node {node} is in no process",
                where=source.where(("nodes", node)),
                fix=f"add it to the nodes of a process: {', '.join(application.processes)}",
            )
