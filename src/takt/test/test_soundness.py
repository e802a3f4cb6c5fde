# SPDX-License-Identifier: Apache-2.0
"""Applications of which a run once showed what the analysis guaranteed not to happen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import takt_core

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.campaign.judge import Document, plays, violations

FOLDER = Path(__file__).parent / "soundness"
FILES = {file.name.removesuffix(".app.yaml"): file for file in sorted(FOLDER.glob("*.app.yaml"))}
SEEDS = (1, 3, 20)

# Where nothing is proved, why.
REASONS = {
    "age-cascade-np-fp": "period and response",
    "age-circle": "nobody knows how often",
    "chain-dropped-upstream": "job chains",
    "chain-outside-writer": "other writers of topic 'topic2'",
    "chain-three-writers-depth-2": "other writers of topic",
    "chain-two-writers": "other writers of topic 'topic4'",
    "chain-two-writers-message": "may lose messages of 'topic3'",
    "switch-of-policy": "do not order jobs alike",
    "switch-of-deadline": "which it waits for",
    "switch-same-levels": "above a deadline",
    "fp-beside-np-edf": "do not order jobs alike",
}


def load(name: str) -> tuple[Document, Document]:
    document = flat(read_application(FILES[name]))
    return document, takt_core.analyse(json.dumps(document), sensitivity=False, proposals=False)


@pytest.mark.parametrize("name", FILES)
def test_no_run_is_above_a_bound_or_breaks_what_is_guaranteed(name: str) -> None:
    document, report = load(name)
    for seed in SEEDS:
        for play in plays(document, seed):
            (simulated,) = takt_core.simulate_many(
                [json.dumps(play.document)], seed=seed, execution=play.execution
            )
            assert [one.text for one in violations(report, play, simulated)] == []


@pytest.mark.parametrize("name", REASONS)
def test_what_is_not_covered_has_no_bound_and_says_why(name: str) -> None:
    _, report = load(name)
    said = [*report["remarks"]]
    unbounded = 0
    for scenario in report["scenarios"]:
        said += scenario["remarks"]
        for one in scenario["chains"]:
            unbounded += one["latency_us"] is None
            said.append(one["bound_by"])
        for one in scenario["ages"]:
            unbounded += one["age_us"] is None
            said.append(one["bound_by"])
    if report["switches"]:
        unbounded += not report["switches"]["meets"]
        said.append(report["switches"]["bound_by"])
    assert unbounded
    assert any(REASONS[name] in one for one in said), said
