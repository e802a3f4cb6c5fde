# SPDX-License-Identifier: Apache-2.0
"""What takt_rcl costs: its round trip against the same ping-pong written directly on rcl."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takt.bench.model import Bar, Bench, median
from takt.bench.modes import compare
from takt.errors import Failure
from takt.processes.scratch import temporary

if TYPE_CHECKING:
    from takt.measure.results.model import Cell

STACKS = ("rcl", "rcl_direct")
LIMIT = 1.1
PARTS = 5  # of a round: many short measurements, so that both stacks are seen in each mode


@dataclass
class _Watcher:
    """Says which cell is measured."""

    say: Callable[[str], None]

    def begin(self, cell: Cell, done: int, of: int) -> None:
        self.say(f"{done + 1} of {of}: {cell.id}")

    def advance(self, cell: Cell, recorded: int) -> None:
        pass

    def finish(self, cell: Cell) -> None:
        pass

    def stopping(self) -> None:
        self.say("stopping")


def roundtrip(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """The median round trip of 500 B stays within 1.1 of direct rcl, in each mode that it has."""
    from takt.measure.experiment.file import Source, check
    from takt.measure.results.model import Status
    from takt.measure.run import session as sessions

    source = Source()
    experiment = check(
        {
            "name": "bench-roundtrip",
            "repetitions": PARTS * rounds,
            "duration": "1s",
            "measurements": [
                {
                    "kind": "pingpong",
                    "stack": list(STACKS),
                    "transport": ["shm", "process"],
                    "payload": "500B",
                    "rate": "1kHz",
                    "scheduling": "fifo 80",
                    "cpu": cpu,
                }
            ],
        },
        source,
    )

    with temporary() as folder:
        plan = sessions.make_plan(experiment, source, seed=1)
        session = sessions.start(experiment, plan, folder / "run")
        run = sessions.finish(session, _Watcher(progress), resumable=False)
    broken = [cell for cell in run.cells if cell.status is not Status.complete]
    if broken:
        what = broken[0].error.what if broken[0].error else broken[0].status.value
        raise Failure(f"{broken[0].id}: {what}")
    bars = []
    for transport in ("shm", "process"):
        of, to = (
            [
                {"p50_us": cell.p50_us or 0.0, "p99_us": cell.p99_us or 0.0}
                for cell in sorted(run.cells, key=lambda cell: cell.repetition)
                if cell.stack == stack and cell.transport == transport
            ]
            for stack in STACKS
        )
        detail = {
            stack: {figure: median(entries, figure) for figure in ("p50_us", "p99_us")}
            for stack, entries in zip(STACKS, (of, to), strict=True)
        }
        modes = compare(
            [entry["p50_us"] for entry in of if entry["p50_us"] > 0],
            [entry["p50_us"] for entry in to if entry["p50_us"] > 0],
        )
        bars.append(
            Bar(
                name=f"round trip p50 over {transport}, takt_rcl against direct rcl",
                value=max(mode.ratio for mode in modes),
                limit=LIMIT,
                unit="ratio",
                detail={
                    **detail,
                    **{
                        f"mode {number}": {
                            "ratio": mode.ratio,
                            **{
                                stack: {"p50_us": p50, "measurements": count}
                                for stack, p50, count in zip(
                                    STACKS, (mode.of, mode.to), mode.values, strict=True
                                )
                            },
                        }
                        for number, mode in enumerate(modes, 1)
                    },
                },
            )
        )
    return Bench(bench="roundtrip", rounds=rounds, bars=bars)
