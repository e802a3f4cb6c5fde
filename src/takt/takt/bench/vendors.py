# SPDX-License-Identifier: Apache-2.0
"""What a probe costs on top of a vendor: its round trip against the vendor's own tool.

Cyclone DDS has ``ddsperf``. Both ping once a millisecond, at SCHED_FIFO on one core, with messages
of the same size on the wire, and wait for messages in a thread of their own (ddsperf: ``waitset``).
ddsperf halves a round trip before it tells it; here it is whole again.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from takt.bench import pairs
from takt.bench.model import Bar, Bench, interleaved, median, median_ratio
from takt.bench.pairs import PAYLOAD, PERIOD_US, PRIORITY, SECONDS
from takt.bench.programs import system
from takt.errors import Failure
from takt.network import stacks, transport
from takt.network.domain import own_domain
from takt.processes.scratch import temporary

LIMIT = 1.1
ON_WIRE = 32 + PAYLOAD  # with the head of our message; ddsperf counts its own head, too
_WINDOW = re.compile(rf"size {ON_WIRE} mean .* 50% ([0-9.]+)us .* 99% ([0-9.]+)us .* cnt ([0-9]+)")


def vendors(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """The median round trip of the probe on Cyclone DDS stays within 1.1 of ddsperf's."""
    probe = stacks.program("probe_cyclonedds")
    with own_domain() as domain, temporary() as folder:
        around = transport.environment({transport.CYCLONE: transport.cyclone(PAYLOAD)}, domain)
        found = interleaved(
            {
                "probe": partial(pairs.round_trip, probe, cpu, around, folder),
                "ddsperf": partial(_ddsperf, "waitset", cpu, around, domain),
                "ddsperf in its listener": partial(_ddsperf, "listener", cpu, around, domain),
            },
            rounds,
            seed=1,
            progress=progress,
        )
    detail: dict[str, object] = {
        name: {figure: median(entries, figure) for figure in ("p50_us", "p99_us")}
        for name, entries in found.items()
    }
    detail["probe_over_ddsperf_p99"] = median_ratio(found["probe"], found["ddsperf"], "p99_us")
    detail["probe_over_listener_p50"] = median_ratio(
        found["probe"], found["ddsperf in its listener"], "p50_us"
    )
    bar = Bar(
        name=f"round trip p50 of {PAYLOAD} B on Cyclone DDS over UDP, probe against ddsperf",
        value=median_ratio(found["probe"], found["ddsperf"], "p50_us"),
        limit=LIMIT,
        unit="ratio",
        detail=detail,
    )
    note = "ddsperf in its listener answers on the socket thread: one context switch less"
    return Bench(bench="vendors", rounds=rounds, bars=[bar], notes=[note])


def _ddsperf(mode: str, cpu: int, around: Mapping[str, str], domain: int) -> dict[str, float]:
    started: list[str | Path] = [
        system("chrt", "util-linux"),
        *("--fifo", str(PRIORITY)),
        system("taskset", "util-linux"),
        *("--cpu-list", str(cpu)),
        system("ddsperf", "cyclonedds-tools"),
        *("-i", str(domain)),
    ]
    rate = f"{1_000_000 // PERIOD_US}Hz"
    return parsed(
        pairs.pair(
            [*started, "pong", mode],
            [*started, "-D", str(SECONDS + 1), "ping", rate, "size", str(ON_WIRE), mode],
            around,
        )
    )


def parsed(printed: str) -> dict[str, float]:
    """The round trip by what ddsperf prints each second: the median of all but the first one."""
    windows = [tuple(map(float, one)) for one in _WINDOW.findall(printed)][1:]
    if not windows:
        raise Failure(f"ddsperf reported no round trips: {printed.strip()[-300:]}")
    p50, p99 = (2 * statistics.median(one[figure] for one in windows) for figure in (0, 1))
    return {"p50_us": p50, "p99_us": p99}
