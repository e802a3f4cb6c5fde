# SPDX-License-Identifier: Apache-2.0
"""A finding that rests on disturbed runs is decided only where the other runs alone decide alike.

What a disturbed run shows may be what other programs did, for a statement and against it: a machine
that was not idle makes load look harmless.
"""

from __future__ import annotations

from dataclasses import replace

from takt.pages import text
from takt.reproduce import judgement
from takt.reproduce.draws import DRAWS
from takt.reproduce.evidence import Own
from takt.reproduce.model import Answer, Figures
from takt.reproduce.quantity import Check


def judge(check: Check[Own], published: Figures, evidence: Own, most_draws: int = DRAWS) -> Answer:
    """As :func:`takt.reproduce.judgement.judge`; undecided where only disturbed runs decide."""
    answer = judgement.judge(check, published, evidence, most_draws)
    rest = evidence.undisturbed
    if answer.holds is None or rest is evidence:
        return answer
    if judgement.judge(check, published, rest, most_draws).holds is answer.holds:
        return answer
    needs = (
        f"runs that nothing disturbs: other programs took CPU time during "
        f"{text.number_of(evidence.disturbed, 'run')}, and the others do not decide it"
    )
    return replace(answer, holds=None, needs=needs)
