# SPDX-License-Identifier: Apache-2.0
"""Whether raised priorities of the kernel's threads make fewer round trips late."""

from __future__ import annotations

from collections.abc import Sequence

from takt.lab.hosts import NORMAL, TESTS, TRAFFIC, TUNED
from takt.lab.hosts_model import Compared, HostsTest, LateShare
from takt.lab.modes import WAYS, Mode
from takt.statistics import shares
from takt.statistics.judgement import CONFIDENCE
from takt.statistics.shares import Counted

LEAST_ROUNDS = 2  # the load of the host differs from round to round: one tells nothing of it


def late_shares(tests: Sequence[HostsTest]) -> list[LateShare]:
    """Over all rounds of each test that count."""
    found = []
    for name in TESTS:
        each = _counted(tests, name)
        late, sent = sum(one.hits for one in each), sum(one.count for one in each)
        found.append(LateShare(test=name, late=late, sent=sent, share=shares.share(each)))
    return found


def compared(tests: Sequence[HostsTest]) -> list[Compared]:
    """Each test with traffic, against the one with raised priorities."""
    found = []
    tuned = _counted(tests, TUNED)
    for name in (TRAFFIC, NORMAL):
        usual = _counted(tests, name)
        one = Compared(test=name, less_low=None, less_high=None, helps=None)
        if tuned and usual:
            less = shares.difference(tuned, usual, 1 - CONFIDENCE)
            one.less_low, one.less_high = less.low, less.high
            if min(len(tuned), len(usual)) >= LEAST_ROUNDS:
                one.helps = True if less.low > 0 else False if less.high <= 0 else None
        found.append(one)
    return found


def headline(tests: Sequence[HostsTest], mode: Mode) -> str:
    """A sentence about each of them."""
    late = {one.test: f"{one.share:.2%} late" if one.sent else "-" for one in late_shares(tests)}
    said = [
        f"Raised priorities against {one.test}: {_WORDS[one.helps]} "
        f"({late[one.test]} without, {late[TUNED]} with them)."
        for one in compared(tests)
    ]
    return f"{' '.join(said)} All in {WAYS[mode].numbers}."


_WORDS = {True: "fewer late", False: "not fewer late", None: "undecided"}


def _counted(tests: Sequence[HostsTest], name: str) -> list[Counted]:
    of = [one for one in tests if one.test == name and one.fault is None and one.sent]
    return [Counted(one.late, one.sent) for one in of]
