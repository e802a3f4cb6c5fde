# SPDX-License-Identifier: Apache-2.0
"""Spreads batches over Dask workers and hands their rows back as they come.

No more batches are under way than keep the workers busy, so that memory does not grow with their
number. A batch whose worker dies is tried again; then it is given back as failed.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from takt.network import certificates
from takt.network import workers as workers_of
from takt.processes.guard import marking
from takt.processes.scratch import temporary
from takt.schedule.campaign import batch as work
from takt.schedule.campaign.model import Batch, Campaign

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2
AHEAD = 3  # batches a worker has: one that it works on, and the next ones

Keep = Callable[[Batch, pa.Table, str | None], None]


@contextmanager
def cluster(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """A client of a running scheduler, or of a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    if scheduler is not None:
        with workers_of.connected(scheduler) as client:
            yield client
        return
    with temporary() as place, marking():  # the workers end with us, at whatever they are
        security = certificates.temporary(place).security()  # others have accounts here, too
        with _deaf_to_interrupts():
            local = LocalCluster(
                n_workers=workers or len(os.sched_getaffinity(0)),
                threads_per_worker=1,
                local_directory=str(place),  # nothing spills: few batches are under way
                scheduler_kwargs={"local_directory": str(place)},
                host="127.0.0.1",
                security=security,
                dashboard_address="127.0.0.1:0",  # on any free port
                silence_logs=logging.CRITICAL,  # a batch whose worker died is told by us
            )
        try:
            with Client(local, security=security) as client:
                yield client
        finally:
            with suppress(TimeoutError):  # what a busy machine does not end in time ends with us
                local.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C goes to the whole group of processes; those started here leave it to their parent."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def evaluate(client: Client, campaign: Campaign, batches: list[Batch], keep: Keep) -> None:
    """Evaluates the batches on the workers; `keep` gets each one's rows, and its error if any."""
    from distributed import as_completed

    # The largest first, so that no worker is left alone with one of them at the end.
    waiting = iter(sorted(batches, key=lambda one: _size(campaign, one), reverse=True))
    space = client.scatter(campaign.space, broadcast=True)
    running: dict[Any, Batch] = {}

    def submit(one: Batch) -> Any:
        # The batch may be evaluated in an earlier attempt's stead: pure=False gives it its own key.
        future = client.submit(
            work.evaluate,
            space,
            campaign.seed,
            one,
            campaign.do,
            campaign.overheads,
            campaign.cores,
            retries=RETRIES,
            pure=False,
        )
        running[future] = one
        return future

    threads = max(1, sum(client.nthreads().values()))
    first = [submit(one) for one in islice(waiting, AHEAD * threads)]
    completed = as_completed(first, loop=client.loop)
    for future in completed:
        one = running.pop(future)
        error = future.exception()
        if error is None:
            keep(one, future.result(), None)
        else:
            text = f"{type(error).__name__}: {error}"
            keep(one, work.failed(campaign.space, campaign.seed, one, text), text)
        future.release()
        following = next(waiting, None)
        if following is not None:
            completed.add(submit(following))


def _size(campaign: Campaign, batch: Batch) -> int:
    """How much there is to do, roughly: callbacks."""
    nodes: int | None = campaign.space.combinations[batch.combination].get("nodes")
    return batch.size * int(nodes or max(campaign.space.drawn["nodes"]))
