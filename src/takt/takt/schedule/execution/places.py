# SPDX-License-Identifier: Apache-2.0
"""On which machines the hosts of a robot are: here, in a namespace behind a link, or workers."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from takt.errors import TaktError
from takt.network import clocks, namespace, same_host, workers
from takt.network.clocks import REMEDY, Between
from takt.network.hosts import Side
from takt.network.namespace import HERE, THERE
from takt.network.workers import Workers
from takt.processes.scratch import Scratch
from takt.schedule.application.processes import hosts_of, places_of

OPTION = "--hosts"
_STACK = "rcl"  # the middleware of the runner


@dataclass(frozen=True)
class Places:
    """The machine of each host of a robot."""

    machines: Mapping[str, str]  # by host: here, namespace, or a role or the address of a worker
    workers: Workers | None = None
    bits_per_s: int = 100_000_000  # of the link to the namespace, each way


def parse(text: str) -> dict[str, str]:
    """HOST=MACHINE, separated by commas; raises TaktError."""
    given = [one.partition("=") for one in text.replace(" ", "").split(",")]
    found = {host: machine for host, _, machine in given if host and machine}
    if len(found) < len(given):
        raise TaktError(
            f"{text!r} does not name a machine for each host",
            where=OPTION,
            fix="pc=here,motors=namespace, or the role or address of a worker",
        )
    return found


@dataclass
class Place:
    """The machine of one host, while an execution has it."""

    host: str
    side: Side
    cpus: list[int]  # that processes may use there
    identity: same_host.Identity = field(default_factory=same_host.identity)

    def now_ns(self) -> int:
        """Of CLOCK_MONOTONIC there."""
        return self.side.call(time.monotonic_ns)


def check(application: Mapping[str, Any], places: Places | None) -> None:
    """Each host of the robot has a machine, and a robot of one host has none; raises TaktError."""
    named = hosts_of(application)
    machines = places.machines if places else {}
    if places is None and len(named) < 2:
        return
    if set(machines) != set(named) or len(named) < 2:
        what = f"its hosts are {', '.join(named)}" if len(named) > 1 else "it runs on one host"
        fix = ",".join(f"{host}={HERE if n == 0 else THERE}" for n, host in enumerate(named))
        raise TaktError(
            f"{', '.join(machines) or 'no machine'} given, but {what}",
            where=OPTION,
            fix=f"{OPTION} {fix}, or workers" if len(named) > 1 else f"omit {OPTION}",
        )
    chosen = list(machines.values())
    remote = [one for one in chosen if one not in (HERE, THERE)]
    if len(set(chosen)) < len(chosen) or (THERE in chosen and remote):
        raise TaktError(
            f"these machines cannot be hosts of one robot: {', '.join(chosen)}",
            where=OPTION,
            fix=f"{HERE} and {THERE}, or {HERE} and workers, each once",
        )
    if remote and places is not None and places.workers is None:
        raise TaktError(
            f"{remote[0]} is a worker, and there is no scheduler",
            where=OPTION,
            fix="give its address: --scheduler tls://HOST:8786",
        )
    for topic in application.get("topics", []):
        _check_outside(application, topic)


def _check_outside(application: Mapping[str, Any], topic: Mapping[str, Any]) -> None:
    """Somebody outside writes a topic on one host: that of its readers."""
    if not topic.get("external_period"):
        return
    homes = {one["name"]: one.get("host") for one in application["processes"]}
    readers = {
        homes[one["process"]]
        for one in application["callbacks"]
        if one.get("trigger") == topic["name"]
        or any(read["topic"] == topic["name"] for read in one.get("reads", []))
    }
    if len(readers) > 1:
        raise TaktError(
            f"the external topic {topic['name']} is read on {' and '.join(map(str, readers))}",
            where="topics",
            fix="give each host a topic of its own, or read it on one and publish it there",
        )


def used_domains(places: Places) -> set[int]:
    """ROS domains in use on the machines of workers; raises TaktError where one cannot be asked."""
    found: set[int] = set()
    for machine in places.machines.values():
        if places.workers and machine not in (HERE, THERE):
            found.update(places.workers.about(_role(places, machine), [_STACK])["domains"])
    return found


@contextlib.contextmanager
def opened(places: Places, scratch: Scratch, domain: int) -> Iterator[list[Place]]:
    """Makes the namespace and takes the workers, until this is left; raises Failure, TaktError."""
    with contextlib.ExitStack() as around:
        found = []
        here = sorted(os.sched_getaffinity(0))
        link = None
        if THERE in places.machines.values():
            if lack := namespace.lacking():
                raise TaktError(lack[0], where=OPTION, fix=lack[1])
            wants = namespace.Wants(places.bits_per_s)
            opening = namespace.link(scratch.folder, scratch.run_id, domain, wants)
            link = around.enter_context(opening)
        for host, machine in places.machines.items():
            if machine == HERE:
                found.append(Place(host, Side(link.addresses[0]) if link else Side(), here))
            elif link is not None:
                found.append(Place(host, Side(link.addresses[1], link=link), here))
            elif places.workers is not None:
                found.append(_worker(places.workers, places, host, machine, scratch, around))
        for one in found:
            peer = next(other for other in found if other is not one)
            if one.side.link is None and one.side.remote is None and link is None:
                one.side.address = workers.source_address(peer.side.address)
        _check_machine_ids(found, has_link=link is not None)
        yield found


def _worker(
    of: Workers,
    places: Places,
    host: str,
    machine: str,
    scratch: Scratch,
    around: contextlib.ExitStack,
) -> Place:
    role = _role(places, machine)
    about = of.about(role, [_STACK])
    remote = around.enter_context(of.session(role, scratch.run_id))
    side = Side(remote.address, remote=remote)
    return Place(host, side, list(about["cpus"]), same_host.Identity(*about["host"]))


def _role(places: Places, machine: str) -> str:
    assert places.workers is not None  # noqa: S101 - check() has refused it
    return places.workers.named(machine, machine)


def _check_machine_ids(found: Sequence[Place], *, has_link: bool) -> None:
    for one, other in _pairs(found):
        if not has_link and same_host.taken_for_one([_STACK], one.identity, other.identity):
            raise TaktError(
                f"hosts {one.host} and {other.host} have the same /etc/machine-id, by which Fast "
                "DDS takes them for one",
                where=OPTION,
                fix="give each machine its own: systemd-machine-id-setup",
            )


def check_cpus(application: Mapping[str, Any], found: Sequence[Place]) -> None:
    """Each host has its cores, and no two hosts on one machine share one; raises TaktError."""
    cores = {
        host.host: {cpu for name, cpu in places_of(application) if name == host.host}
        for host in found
    }
    for one in found:
        if missing := sorted(cores[one.host] - set(one.cpus)):
            raise TaktError(
                f"host {one.host} needs core {', '.join(map(str, missing))}, and its machine "
                f"allows {', '.join(map(str, one.cpus))}",
                where="processes",
                fix="use cores that it has",
            )
    for one, other in _pairs(found):
        same = one.side.clock().identity == other.side.clock().identity
        if same and (shared := sorted(cores[one.host] & cores[other.host])):
            raise TaktError(
                f"hosts {one.host} and {other.host} are the same machine and both use core "
                f"{', '.join(map(str, shared))}: they would disturb each other",
                where="processes",
                fix="give their processes different cores, or run them on two machines",
            )


def between(found: Sequence[Place]) -> dict[str, Between]:
    """From the clock of each host to that of the first one; raises TaktError: unknown."""
    first, *others = found
    to = first.side.clock()
    known = {first.host: Between(0, 0, "its own clock")}
    for one in others:
        of = one.side.clock()
        way = clocks.between(of, to)
        if way is None:
            raise TaktError(
                f"how far the clocks of {one.host} and {first.host} are apart is unknown: "
                f"{clocks.why_unknown(of, to)}",
                where=OPTION,
                fix=REMEDY.partition(". Or")[0],
            )
        known[one.host] = way
    return known


def _pairs(found: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            yield one, other
