# SPDX-License-Identifier: Apache-2.0
"""Every finding of every paper, fed with the paper's own numbers, their reversal and neither.

The numbers are those of the tables and the text; :mod:`made_distributions` makes runs of them
without anything that a criterion computes with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from made_gutierrez import Trips
from made_theses import Applications, Suites
from made_ye import Sizes

from takt.reproduce.model import Answer


class Paper(Protocol):
    """The made-up runs of a paper: a world is ``paper``, ``reversed`` or ``neutral``."""

    def __init__(self, folder: Path) -> None: ...

    @property
    def asked(self) -> object: ...

    def answer(self, name: str, stack: str, world: str) -> Answer: ...


PAPERS = {
    "gutierrez2018": Trips,
    "ye2023": Sizes,
    "sticha2014": Suites,
    "krukiewicz2021": Applications,
}
EXPECTED = {"paper": True, "reversed": False, "neutral": None}
# (paper, finding, world): what it is instead, and why.
UNLIKE = "runs of which a part is the other way round are not alike, which is what it denies"
NEVER = "what happens in a part of the runs happens: it refutes never, always and only"
SEEN = "what is seen in a part of the runs is seen"
EXCEPTIONS: dict[tuple[str, str, str], tuple[bool | None, str]] = {
    ("ye2023", "jitter-native", "neutral"): (
        True, "the highest over eight frequencies: two of three runs of each have it"
    ),
    ("ye2023", "jitter-within-10us", "neutral"): (
        True, "two of three runs are as published: the majority of their cycles is within 10 µs"
    ),
    ("sticha2014", "cyclic-deterministic", "neutral"): (False, UNLIKE),
    ("sticha2014", "pubsub-deterministic", "neutral"): (False, UNLIKE),
    ("sticha2014", "cyclic-rate-kept", "neutral"): (False, NEVER),
    ("sticha2014", "oneshot-reported-accurate", "neutral"): (
        False, "48 runs of which a part is wrong by 300 µs are wrong by more than 10 µs on average"
    ),
    ("sticha2014", "pubsub-first-highest", "neutral"): (
        False, "the last mixture: of 32 runs those whose first message is early decide"
    ),
    ("krukiewicz2021", "age-constraint-kept", "neutral"): (False, NEVER),
    ("krukiewicz2021", "freshness-never-old", "neutral"): (False, NEVER),
    ("krukiewicz2021", "freshness-baseline1-full-4", "neutral"): (False, NEVER),
    ("krukiewicz2021", "freshness-harmonic-half", "neutral"): (False, NEVER),
    ("krukiewicz2021", "misses-baseline1-20-nodes-half", "neutral"): (False, NEVER),
    ("krukiewicz2021", "misses-none-at-half", "neutral"): (False, NEVER),
    ("krukiewicz2021", "misses-none-small", "neutral"): (False, NEVER),
    ("krukiewicz2021", "misses-takt-50-nodes", "neutral"): (True, SEEN),
    ("krukiewicz2021", "misses-reduced", "neutral"): (
        False, "the misses of either executor in a part of the runs are not those of the sentence"
    ),
    ("gutierrez2018", "payload-128k-misses", "neutral"): (
        False, "misses and losses in a part of the runs are there, but smaller than published"
    ),
}  # fmt: skip
EVERY = [
    (paper, name, stack) for paper, made in PAPERS.items() for name, stack in sorted(made.asked)
]


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Paper]:
    return {name: made(tmp_path_factory.mktemp(name)) for name, made in PAPERS.items()}


@pytest.mark.parametrize("world", list(EXPECTED))
@pytest.mark.parametrize(("paper", "name", "stack"), EVERY)
def test_the_papers_numbers_hold_their_reversal_does_not_and_neither_is_undecided(
    papers: dict[str, Paper], paper: str, name: str, stack: str, world: str
) -> None:
    expected, _ = EXCEPTIONS.get((paper, name, world), (EXPECTED[world], ""))
    found = papers[paper].answer(name, stack, world)
    assert found.holds is expected, found
    assert not found.not_asked
    assert found.measured
    assert bool(found.needs) == (found.holds is None)


def test_every_exception_is_of_a_finding_and_has_its_reason() -> None:
    assert {(paper, name) for paper, name, _ in EXCEPTIONS} <= {one[:2] for one in EVERY}
    assert all(why and EXPECTED[world] is not instead
               for (_, _, world), (instead, why) in EXCEPTIONS.items())  # fmt: skip
