# SPDX-License-Identifier: Apache-2.0
"""What only timers have: reported latencies, and the jitter of a cyclic timer.

The definitions are those of docs/reference/probes.md, after Sticha 2014, sections 4.1 and 4.2.
Percentiles and extremes come from ``takt_core``, as everywhere.
"""

from __future__ import annotations

import numpy as np
import takt_core
from numpy.typing import NDArray

from takt.results.model import Cyclic, Extreme, OneShot
from takt.statistics.series import Int64
from takt.statistics.summary import EXTREMES, microseconds, percentiles

FIRST_INTERVALS = 2  # set apart: roscpp settles in them (Sticha 2014, 4.2.2)


def one_shot(records: NDArray[np.void], reports: bool) -> OneShot:
    """Reported latency and its difference to the measured one; the first sample left out."""
    fired = records["received_ns"] != 0
    never = int((~fired).sum())
    fired[:1] = False
    if not reports or not fired.any():
        return OneShot(reported=None, difference=None, never_fired=never)
    sent, received, due = (
        records[name][fired].astype(np.int64) for name in ("sent_ns", "received_ns", "intended_ns")
    )
    return OneShot(
        reported=percentiles(sent - due), difference=percentiles(sent - received), never_fired=never
    )


def jitter_ns(received_ns: NDArray[np.integer], period_ns: int) -> Int64:
    """P_k in ns of all callbacks that follow each other, the first two intervals included.

    ``received_ns`` are the times of all expiries, 0 for one that was passed over; the callback
    after it is late by a period.
    """
    times = received_ns[received_ns != 0].astype(np.int64)
    jitter: Int64 = np.diff(times) - period_ns
    return jitter


def cyclic(records: NDArray[np.void], period_ns: int) -> Cyclic | None:
    """Drift and jitter of one timer; None where fewer than four callbacks came."""
    fired = records[records["received_ns"] != 0]
    if len(fired) < FIRST_INTERVALS + 2:
        return None
    times, numbers = (fired[name].astype(np.int64) for name in ("received_ns", "sequence"))
    jitter = jitter_ns(times, period_ns)
    settled = jitter[FIRST_INTERVALS:]
    drift = (times - times[0]) - (numbers - numbers[0]) * period_ns
    highest, lowest = takt_core.extremes(settled, EXTREMES)
    return Cyclic(
        drift=percentiles(drift[1:]),
        jitter=percentiles(settled),
        highest=_indexed(highest),
        lowest=_indexed(lowest),
        first_two_us=[microseconds(int(one)) for one in jitter[:FIRST_INTERVALS]],
        negative_share=float((settled < 0).mean()),
        callbacks=len(fired),
        expiries=int(numbers[-1] - numbers[0]) + 1,
        rate_hz=float((len(times) - 1) * 1e9 / (times[-1] - times[0])),
    )


def _indexed(pairs: list[tuple[int, int]]) -> list[Extreme]:
    """Extremes by the place of their callback: interval i ends at callback i."""
    return [
        Extreme(index=place + FIRST_INTERVALS + 1, us=microseconds(value)) for place, value in pairs
    ]
