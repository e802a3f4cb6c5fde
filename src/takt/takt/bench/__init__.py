# SPDX-License-Identifier: Apache-2.0
"""Takt's own costs, each as a ratio to a baseline measured in the same run."""

from __future__ import annotations

from collections.abc import Callable

from takt.bench.model import Bench
from takt.bench.record import record
from takt.bench.roundtrip import roundtrip
from takt.bench.wakeup import wakeup

# A bench gets the rounds, the core that it may use, and where to say how far it is.
BENCHES: dict[str, Callable[[int, int, Callable[[str], None]], Bench]] = {
    "record": record,
    "roundtrip": roundtrip,
    "wakeup": wakeup,
}
