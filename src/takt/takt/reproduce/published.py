# SPDX-License-Identifier: Apache-2.0
"""The published values of a paper: ``experiments/published/<paper>.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from takt.errors import Failure
from takt.reproduce.model import Answer, Figures, Finding

PUBLISHED = "published"


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
    point: dict[str, Any] = {}
    series: str | None = None
    published: Figures


class Published(_Model):
    """All that is published of one paper."""

    paper: str
    title: str
    findings: dict[str, Claim] = {}
    tables: list[PublishedRow] = []

    def finding(self, name: str, stack: str, answer: Answer) -> Finding:
        """A claim with this machine's answer beside it."""
        claim = self.findings[name]
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
        )


def experiments() -> Path:
    """The folder with the papers' experiments: of the source tree, or of an installation."""
    here = Path(__file__).resolve()
    names = ("experiments", "share/takt/experiments")
    for place in (parent / name for parent in here.parents for name in names):
        if (place / PUBLISHED).is_dir():
            return place
    raise Failure("the papers' experiments are not installed", where=str(here.parents[2]))


def load(paper: str) -> Published:
    """Reads the published values of a paper; raises Failure where they are not well-formed."""
    from ruamel.yaml import YAML

    file = experiments() / PUBLISHED / f"{paper}.yaml"
    try:
        return Published.model_validate(YAML(typ="safe").load(file.read_text(encoding="utf-8")))
    except (OSError, ValidationError) as error:
        raise Failure(f"the published values cannot be read: {error}", where=str(file)) from None
