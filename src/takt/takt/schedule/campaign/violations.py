# SPDX-License-Identifier: Apache-2.0
"""Keeps the violations of a campaign: each kind as a small app.yaml, with what shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import takt_core

from takt.documents.writing import write_text
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.campaign.batch import with_given
from takt.schedule.campaign.folder import Folder, reading_tables
from takt.schedule.campaign.judge import (
    Document,
    Play,
    Violation,
    first_scenario,
    plays,
    violations,
)
from takt.schedule.campaign.model import Campaign
from takt.schedule.campaign.shrink import shrink
from takt.schedule.generate.blocks import BLOCK, Generated, block

OF_EACH = 2  # of each kind, for each policy


@dataclass(frozen=True)
class Kept:
    """A file that shows a violation."""

    policy: str
    kind: str
    file: Path
    text: str
    command: str


def chosen(folder: Folder) -> list[tuple[str, str, int, int]]:
    """Kind, name, combination and repetition of those to be kept: of the smallest applications."""
    if not any(folder.sets.glob("*.parquet")):
        return []
    source = str(folder.sets).replace("'", "''")
    query = f"""
      select kind, name, combination, repetition from (
        select distinct unnest(kinds) as kind, policy, name, combination, repetition, nodes
        from read_parquet('{source}/*.parquet'))
      qualify row_number() over (partition by policy, kind order by nodes, name) <= {OF_EACH}
      order by all
    """  # noqa: S608 - a path of ours
    with reading_tables(folder.path), duckdb.connect() as database:
        return database.execute(query).fetchall()


def keep(folder: Folder, campaign: Campaign) -> Iterator[Kept]:
    """Shrinks what was found and writes it; what is there from before is not shrunk again."""
    for kind, name, combination, repetition in chosen(folder):
        file = folder.violations / f"{name}-{kind.replace(' ', '-')}.app.yaml"
        *_, one = block(
            campaign.space,
            campaign.seed,
            combination,
            repetition // BLOCK,
            repetition % BLOCK + 1,
        )
        if not file.exists():
            first = _first(with_given(one, campaign.overheads, campaign.cores), kind, campaign.seed)
            if first is not None:
                _write(file, first, name)
        if file.exists():
            head = [line[2:] for line in file.read_text(encoding="utf-8").splitlines()[:3]]
            yield Kept(one.policy, kind, file, head[0], head[2])


def shown(document: Document, kind: str, before: Play) -> Violation | None:
    """The violation of this kind that a play like the one before shows; None: none, or refused."""
    scenario = None if before.scenario is None else first_scenario(document)
    play = Play(document, scenario, before.execution, before.seed)
    return next((one for one in _all(play) if one.kind == kind), None)


def smallest(violation: Violation) -> Violation:
    """The same kind of violation of the smallest application that shows it."""
    kind, play = violation.kind, violation.play
    document = shrink(play.document, lambda one: shown(one, kind, play) is not None)
    return shown(document, kind, play) or violation


def _first(one: Generated, kind: str, seed: int) -> Violation | None:
    found = (violation for play in plays(one.flat, seed) for violation in _all(play))
    return next((violation for violation in found if violation.kind == kind), None)


def _all(play: Play) -> Iterator[Violation]:
    text = json.dumps(play.document)
    try:
        report = takt_core.analyse(text, sensitivity=False, proposals=False)
    except ValueError:
        return
    (simulated,) = takt_core.simulate_many([text], seed=play.seed, execution=play.execution)
    if "error" not in simulated:
        yield from violations(report, play, simulated)


def _write(file: Path, first: Violation, name: str) -> None:
    """As small as it can be; as it was where the file does not say all that matters."""
    for violation in (smallest(first), first):
        command = f"./takt simulate {file}{violation.play.options}"
        remark = f"{violation.text}\nfrom {name}; guaranteed by ./takt analyse, shown by\n{command}"
        write_text(file, app_yaml(violation.play.document, remark))
        if shown(flat(read_application(file)), first.kind, first.play):
            return
