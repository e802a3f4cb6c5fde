# SPDX-License-Identifier: Apache-2.0
"""Whether raised priorities of the kernel's threads make fewer round trips late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from takt.lab.hosts import TESTS, TRAFFIC, TUNED
from takt.lab.hosts_model import HostsTest, LateShare
from takt.lab.modes import WAYS, Mode
from takt.statistics import shares
from takt.statistics.judgement import CONFIDENCE
from takt.statistics.shares import Counted


def late_shares(tests: Sequence[HostsTest]) -> list[LateShare]:
    """Over all rounds of each test that count."""
    found = []
    for name in TESTS:
        each = _counted(tests, name)
        late, sent = sum(one.hits for one in each), sum(one.count for one in each)
        found.append(LateShare(test=name, late=late, sent=sent, share=shares.share(each)))
    return found


def judge(tests: Sequence[HostsTest], mode: Mode) -> dict[str, Any]:
    """The difference with its limits, whether it is one, and a sentence about it."""
    tuned, usual = (_counted(tests, name) for name in (TUNED, TRAFFIC))
    if not tuned or not usual:
        headline = f"Undecided: {TRAFFIC} or {TUNED} was not measured."
        return {"less_low": None, "less_high": None, "seen": None, "headline": headline}
    found = shares.difference(tuned, usual, 1 - CONFIDENCE)
    seen = True if found.low > 0 else False if found.high <= 0 else None
    what = {
        True: "Raised priorities of interrupt threads and ksoftirqd make fewer round trips late",
        False: "Raised priorities of interrupt threads and ksoftirqd do not help",
        None: "Undecided whether raised priorities of interrupt threads and ksoftirqd help",
    }[seen]
    both = [shares.share(one) for one in (usual, tuned)]
    headline = f"{what}: {both[0]:.2%} late without, {both[1]:.2%} with ({WAYS[mode].numbers})."
    return {"less_low": found.low, "less_high": found.high, "seen": seen, "headline": headline}


def _counted(tests: Sequence[HostsTest], name: str) -> list[Counted]:
    of = [one for one in tests if one.test == name and one.fault is None and one.sent]
    return [Counted(one.late, one.sent) for one in of]
