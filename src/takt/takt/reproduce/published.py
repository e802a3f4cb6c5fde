# SPDX-License-Identifier: Apache-2.0
"""The published values of a paper: ``published.yaml`` in its folder."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from takt.errors import Failure
from takt.measure.experiment.shipped import EXPERIMENT
from takt.reproduce import papers
from takt.reproduce.model import (
    Answer,
    Deviation,
    Figures,
    Finding,
    Outcome,
    Request,
    Statement,
    Unfinished,
)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Model):
    """A finding as the paper states it."""

    claim: str
    at: str
    values: Figures = {}


class PublishedRow(_Model):
    """A row of a table or figure; ``point`` and ``series`` choose what stands beside it."""

    table: str
    row: str
    paper: str = "paper"  # what was measured there
    point: dict[str, Any] = {}
    series: str | None = None
    published: Figures


class PublishedFigure(_Model):
    """What a figure shows, in our words, and the numbers that the paper gives of it."""

    caption: str
    values: Figures = {}


class Published(_Model):
    """All that is published of one paper.

    ``statements`` are those without a finding of their own: each names the finding that judges it,
    too, or says why there is none.
    """

    paper: str
    title: str
    findings: dict[str, Claim] = {}
    beside: dict[str, Claim] = {}  # what takes several runs, such as two kernels
    tables: list[PublishedRow] = []
    figures: dict[str, PublishedFigure] = {}
    statements: list[Statement] = []
    deviations: list[Deviation] = []
    # In the place of those with the same ``paper``, and more: between real hosts, with rclcpp.
    between_hosts: list[Deviation] = []
    by_rclcpp: list[Deviation] = []

    @model_validator(mode="after")
    def _every_statement_leads_somewhere(self) -> Published:
        for one in self.statements:
            if bool(one.finding) == bool(one.why) or (
                one.finding and one.finding not in self.findings
            ):
                raise ValueError(f"{one.claim!r} has no finding of this paper and no reason")
            if one.beside and one.beside not in self.beside:
                raise ValueError(f"{one.claim!r} has no finding of several runs {one.beside}")
        return self

    def all_statements(self) -> list[Statement]:
        """Every statement with its finding, or the reason why there is none, by place."""
        own = [
            Statement(claim=claim.claim, at=claim.at, finding=name)
            for name, claim in self.findings.items()
        ]
        return sorted([*own, *self.statements], key=lambda one: natural(one.at))

    def of_several_runs(self) -> list[Statement]:
        """The statements that take several runs, by place."""
        found = [one for one in self.statements if one.beside]
        return sorted(found, key=lambda one: natural(one.at))

    def finding(self, name: str, stack: str, answer: Answer) -> Finding:
        """A claim with this machine's answer beside it."""
        claim = self.findings.get(name) or self.beside[name]
        return Finding(
            id=name,
            stack=stack,
            claim=claim.claim,
            at=claim.at,
            published=claim.values,
            measured=answer.measured,
            holds=answer.holds,
            criterion=answer.criterion,
            intervals=answer.intervals,
            definitions=answer.definitions,
            differs=answer.differs,
            needs=answer.needs,
            not_asked=answer.not_asked,
            effect=answer.effect,
        )

    def outcome(
        self,
        request: Request,
        folder: Path,
        *,
        unfinished: list[Unfinished],
        other: Sequence[Deviation] = (),
        **fields: Any,
    ) -> Outcome:
        """What a reproduction found (``fields`` of Outcome), with what the paper says of itself.

        ``other``: deviations in the place of those with the same ``paper``, and more.
        """
        return Outcome(
            paper=self.paper,
            title=self.title,
            scale=request.scale,
            complete=all(one.state == "lost" for one in unfinished),
            unfinished=unfinished,
            deviations=[
                *self._deviations([*other, *(self.between_hosts if request.hosts else [])]),
                *_within(request.within),
            ],
            statements=self.all_statements(),
            results=str(folder),
            **fields,
        )

    def _deviations(self, other: list[Deviation]) -> list[Deviation]:
        instead = {one.paper: one for one in other}
        own = [instead.pop(one.paper, one) for one in self.deviations]
        return [*own, *instead.values()]


def _within(domain: int | None) -> list[Deviation]:
    if domain is None:
        return []
    return [
        Deviation(
            paper="no other ROS 2 nodes",
            here=f"within the running system of ROS domain {domain}",
            why="asked for by --within; its CPU time is among the conditions of each measurement",
        )
    ]


def natural(place: str) -> list[tuple[int, int, str]]:
    """Orders places as the paper does: 5.9 before 5.10, chapters after sections."""
    name = place.split(",", maxsplit=1)[0]
    parts = re.findall(r"\d+|[^\d.]+", name)
    return [(0, int(one), "") if one.isdigit() else (1, 0, one) for one in parts]


def experiment_file(paper: str) -> Path:
    """The experiment of a paper."""
    return papers.folder(paper) / EXPERIMENT


def read_published(paper: str) -> Published:
    """Reads the published values of a paper; raises Failure where they are not well-formed."""
    return _read(papers.folder(paper) / "published.yaml")


@functools.cache
def _read(file: Path) -> Published:
    from ruamel.yaml import YAML

    try:
        return Published.model_validate(YAML(typ="safe").load(file.read_text(encoding="utf-8")))
    except (OSError, ValidationError) as error:
        raise Failure(f"the published values cannot be read: {error}", where=str(file)) from None
