# SPDX-License-Identifier: Apache-2.0
"""Every finding of every paper, fed with the paper's own numbers, their reversal and neither.

The numbers are those of the tables and the text; :mod:`synthetic_distributions` makes runs of them
without anything that a criterion computes with.
"""

from __future__ import annotations

import pytest
from read_files import ROOT
from synthetic_verdicts import PAPERS, Answers, page

EXPECTED = {"paper": True, "reversed": False, "neutral": None}
# (paper, finding, world): what it is instead, and why.
UNLIKE = "runs of which a part is the other way round are not alike, which is what it denies"
NEVER = "what happens in a part of the runs happens: it refutes never, always and only"
EXCEPTIONS: dict[tuple[str, str, str], tuple[bool | None, str]] = {
    ("ye2023", "jitter-native", "neutral"): (
        True, "the highest over eight frequencies: two of three runs of each have it"
    ),
    ("ye2023", "jitter-within-10us", "neutral"): (
        True, "two of three runs are as published: the majority of their cycles is within 10 µs"
    ),
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
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return Answers(tmp_path_factory.mktemp("papers"))


@pytest.mark.parametrize(
    "world",
    [
        "paper",
        *(pytest.param(one, marks=pytest.mark.thorough) for one in EXPECTED if one != "paper"),
    ],
)
@pytest.mark.parametrize(("paper", "name", "stack"), EVERY)
def test_the_papers_numbers_hold_their_reversal_does_not_and_neither_is_undecided(
    answers: Answers, paper: str, name: str, stack: str, world: str
) -> None:
    expected, _ = EXCEPTIONS.get((paper, name, world), (EXPECTED[world], ""))
    found = answers.of(paper, name, stack, world)
    assert found.holds is expected, found
    assert not (world == "reversed" and found.effect), "what is the other way round is not smaller"
    assert not found.not_asked
    assert found.measured
    assert bool(found.needs) == (found.holds is None)


def test_every_exception_is_of_a_finding_and_has_its_reason() -> None:
    assert {(paper, name) for paper, name, _ in EXCEPTIONS} <= {one[:2] for one in EVERY}
    assert all(why and EXPECTED[world] is not instead
               for (_, _, world), (instead, why) in EXCEPTIONS.items())  # fmt: skip


@pytest.mark.thorough
@pytest.mark.timeout(1800)
def test_the_page_has_the_verdict_of_every_finding_in_every_world(answers: Answers) -> None:
    written = (ROOT / "docs/reference/reproduction-verdicts.md").read_text(encoding="utf-8")
    assert written == page(answers), "synthetic_verdicts.py beside this file writes it again"
