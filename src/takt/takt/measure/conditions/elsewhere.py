# SPDX-License-Identifier: Apache-2.0
"""Whether other machines can be the hosts of a point: there, of one version, with clocks known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from takt.errors import TaktError
from takt.measure.conditions import load, traffic, tuned
from takt.measure.results.point import Point
from takt.network import clocks, same_host, stacks
from takt.network.clocks import Clock
from takt.network.same_host import Identity
from takt.network.stacks import Capability, parts
from takt.network.workers import Workers

MEANT = "give the scheduler of its workers: --scheduler tls://HOST:8786"


def lacking(point: Point, names: list[str], workers: Workers | None) -> tuple[str, str] | None:
    """What is missing for these hosts, and what to do; None: nothing."""
    if workers is None:
        return f"no known machine offers the host {names[0]}", MEANT
    each = parts(point.stack)
    found = {}
    try:
        for name in names:
            found[name] = workers.about(name, each)
    except TaktError as error:
        return f"host {name}: {error.what}", error.fix or ""
    for name, about in found.items():
        for stack in each:
            if lack := _stack(point, name, stack, about["stacks"].get(stack)):
                return lack
    if lack := _one_host(point, each, {name: about["host"] for name, about in found.items()}):
        return lack
    return _clocks(point, {name: Clock(**about["clock"]) for name, about in found.items()})


def _one_host(
    point: Point, each: list[str], found: dict[str, Sequence[str]]
) -> tuple[str, str] | None:
    """What is said where Fast DDS takes the two hosts for one."""
    hosts = {name: Identity(*one) for name, one in found.items()}
    one, other = (hosts.get(name) or same_host.identity() for name in point.hosts)
    if not same_host.taken_for_one(each, one, other):
        return None
    names = " and ".join(point.hosts)
    return f"{names} have the same machine-id: Fast DDS takes them for one host", same_host.FIX


def without(point: Point, names: list[str], workers: Workers) -> Iterator[tuple[str, str, str]]:
    """What other machines lack for the conditions of a point, each as key, what, fix."""
    for name, asked in point.loads.items():
        if name not in names:
            continue
        about = workers.about(name, parts(point.stack))
        if load.limited(asked):
            what = f"the load {asked} of the host {name}: Takt limits loads of this machine only"
            yield "load", what, "use the same load without limited"
        if load.by_stress_ng(asked) and load.STRESS_NG not in about["programs"]:
            yield ("load", *_absent(load.STRESS_NG, name))
        if point.tuned != tuned.NONE and (
            lack := workers.call(name, partial(tuned.lacking, point.tuned))
        ):
            yield "tuned", f"{lack[0]}, on the host {name}", f"on that machine: {lack[1]}"
        if point.traffic_mbps:
            yield from _traffic(name, about)
        if (need := load.bytes_taken(asked)) > about["memory_bytes"] // 2:
            there = about["memory_bytes"] >> 20
            yield (
                "load",
                f"the load {asked} {load.NEEDS.format(need >> 20)}",
                (f"the host {name} has {there} MiB available: use fewer workers"),
            )


def _traffic(name: str, about: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Of a host that is to send and receive it."""
    if traffic.IPERF3 not in about["programs"]:
        yield ("traffic", *_absent(traffic.IPERF3, name))
    if why := about["without_traffic"]:
        fix = "give its worker the --address of an interface with IPv6: traffic goes over IPv6"
        yield "traffic", f"no traffic with the host {name}: {why}", fix


def _absent(program: str, name: str) -> tuple[str, str]:
    what = f"{program} is not installed on the host {name}"
    return what, f"on that machine: apt-get install {program}"


def _stack(
    point: Point, name: str, stack: str, there: list[dict[str, object]] | None
) -> tuple[str, str] | None:
    fix = f"on that machine: ./takt setup {stack}; its worker needs the same installation"
    if there is None:
        return f"the stack {stack} is not installed on the host {name}", fix
    own = stacks.find()[stack].capability(point.kind, point.transport)
    if own not in [Capability.model_validate(one) for one in there]:
        what = (
            f"{stack} differs in {point.kind} over {point.transport} between the "
            f"host {name} and this machine"
        )
        return what, fix
    return None


def _clocks(point: Point, known: dict[str, Clock]) -> tuple[str, str] | None:
    """One way takes one clock, or two whose distance is bounded."""
    if point.kind != "pubsub":
        return None
    names = point.hosts
    publisher, subscriber = (known[name] if name in known else clocks.read() for name in names)
    if clocks.between(subscriber, publisher):
        return None
    why = clocks.why_unknown(publisher, subscriber)
    what = f"the offset between the clocks of {' and '.join(names)} is unknown ({why})"
    return what, clocks.REMEDY
