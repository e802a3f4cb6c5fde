# SPDX-License-Identifier: Apache-2.0
"""Makes or takes the hosts of a cell, and brings home what an attempt before has left there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from takt.errors import Failure
from takt.measure.conditions import relay
from takt.measure.results.model import Cell
from takt.measure.run import samples
from takt.measure.run.context import Context
from takt.measure.run.measured import FOLDER, keep
from takt.network import namespace, shaping, workers
from takt.network.hosts import Hosts, Side
from takt.network.namespace import Link
from takt.network.workers import Remote
from takt.processes import recording


@contextlib.contextmanager
def hosts_of(cell: Cell, context: Context) -> Iterator[Hosts]:
    """Makes, or takes, the hosts of a cell; raises Failure where one cannot be had."""
    with contextlib.ExitStack() as around:
        if namespace.THERE in cell.hosts:
            link = around.enter_context(_link(cell, context))
            here, there = (Side(address) for address in link.addresses)
            there.link = link
            ends = {namespace.HERE: here, namespace.THERE: there}
            active, passive = (ends[name] for name in cell.hosts)
            yield Hosts(active, passive, link)
            return
        if cell.simulated:
            yield Hosts(Side(), Side(), around.enter_context(_link(cell, context)))
            return
        if cell.host == namespace.HERE:
            yield Hosts.one()
            return
        if context.workers is None:
            raise Failure(
                f"the host {cell.host} needs a Dask scheduler",
                where="--scheduler",
                fix="give its address: --scheduler tls://HOST:8786",
            )
        sides = []
        for name in cell.hosts:
            if name == namespace.HERE:
                sides.append(Side())
                continue
            session = context.workers.session(name, context.scratch.run_id)
            remote = around.enter_context(session)
            _take_home(remote, cell, context)
            sides.append(Side(remote.address, remote=remote))
        for side, other in (sides, sides[::-1]):
            if side.remote is None:
                side.address = workers.source_address(other.address)
        yield Hosts(sides[0], sides[1])


def _link(cell: Cell, context: Context) -> contextlib.AbstractContextManager[Link]:
    """To a second host, or to a simulated segment."""
    wants = namespace.Wants(
        round(cell.link_mbps * 1e6),
        cell.queue,
        timed=cell.transport == shaping.TXTIME,
        traffic=cell.traffic_mbps > 0,
        relay=relay.needed(cell),
        bare=cell.simulated,
    )
    return namespace.link(context.scratch.folder, context.scratch.run_id, context.domain, wants)


def _take_home(remote: Remote, cell: Cell, context: Context) -> None:
    """What an attempt that was killed has recorded there is stored beside the samples."""
    for there in remote.ask("recordings"):
        name = Path(there).name
        stem = name.removesuffix(recording.SUFFIX)
        home = context.scratch.folder / f"{name}.home"
        try:
            if remote.fetch(there, home):
                number = len(list((context.folder / FOLDER).glob(f"{stem}.attempt*"))) + 1
                stored = keep(samples.read(home), Path(name), context.folder, f".attempt{number}")
                if stem == cell.id or stem.startswith(f"{cell.id}-s"):
                    cell.earlier_attempts.append(stored)
        except samples.BadRecording:
            continue  # it stays there, for a person
        finally:
            home.unlink(missing_ok=True)
        remote.ask("remove", path=there)
