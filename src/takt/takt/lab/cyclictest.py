# SPDX-License-Identifier: Apache-2.0
"""What cyclictest says of its threads, all of them together.

It skips the wake-ups whose time has passed when a thread wakes: as many as the interval fits into
the latency. Takt counts them as missing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from takt.errors import Failure
from takt.lab import judged
from takt.lab.jobs import HISTOGRAM_US, INTERVAL_US
from takt.lab.model import Latency
from takt.lab.modes import Mode


def read(file: Path, load: str, mode: Mode) -> Latency:
    """Sums up its JSON (``--json`` with ``--histogram``); raises Failure where there is none."""
    try:
        return summed(json.loads(file.read_bytes()), load, mode)
    except OSError:
        raise Failure("cyclictest wrote no result", where=file.name) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(f"cannot read the result of cyclictest: {error!r}", where=file.name) from None


def summed(document: dict[str, Any], load: str, mode: Mode) -> Latency:
    """The same of the parsed document. A percentile beyond the histogram is the maximum."""
    threads = list(document["thread"].values())
    cycles = sum(int(one["cycles"]) for one in threads)
    if not cycles:
        raise ValueError("no thread woke up")
    counts: dict[int, int] = {}
    for one in threads:
        for value, count in one["histogram"].items():
            counts[int(value)] = counts.get(int(value), 0) + int(count)
    highest = max(float(one["max"]) for one in threads)

    def percentile(share: float) -> float:
        rank, counted = math.ceil(share * cycles), 0
        for value in sorted(counts):
            counted += counts[value]
            if counted >= rank:
                return float(value)
        return highest

    beyond = max(0, cycles - sum(counts.values()))
    late = beyond + sum(count for value, count in counts.items() if value >= INTERVAL_US)
    skipped = beyond * (HISTOGRAM_US // INTERVAL_US)  # at least
    skipped += sum(value // INTERVAL_US * count for value, count in counts.items())
    outcome, reasons = judged.counts(late, skipped, cycles, INTERVAL_US, mode)
    return Latency(
        what="cyclictest",
        load=load,
        count=cycles,
        min_us=min(float(one["min"]) for one in threads),
        avg_us=round(sum(float(one["avg"]) * int(one["cycles"]) for one in threads) / cycles, 3),
        p50_us=percentile(0.5),
        p99_us=percentile(0.99),
        max_us=highest,
        outcome=outcome,
        reasons=reasons,
    )
