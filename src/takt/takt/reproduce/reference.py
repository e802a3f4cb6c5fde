# SPDX-License-Identifier: Apache-2.0
"""The page of what the reproductions judge: every statement of each paper."""

from __future__ import annotations

from collections.abc import Iterator

from takt.pages.markdown import GENERATED, prose, table
from takt.reproduce import criteria, papers
from takt.reproduce.model import Deviation, Statement
from takt.reproduce.published import read_published

INTRODUCTION = """\
What `takt reproduce` judges of each paper, and what not. A finding holds where its expression is
true at 95 % confidence; `published_` stands before the names of the paper's own numbers."""


def page() -> str:
    """The whole page."""
    lines = [
        GENERATED,
        "# Reproductions",
        "",
        INTRODUCTION,
    ]
    for paper in papers.names():
        lines += ["", *_paper(paper)]
    return "\n".join(lines) + "\n"


def _paper(paper: str) -> Iterator[str]:
    published, known = read_published(paper), criteria(paper)
    yield f"## {paper}"
    yield ""
    yield f"{prose(published.title)}."
    yield ""
    yield from table(
        ["where", "statement", "finding, or why there is none", "holds if"],
        (_statement(one, known) for one in published.all_statements()),
    )
    yield ""
    yield f"### What is different from {paper}"
    yield ""
    columns = ["paper", "here", "why"]
    yield from table(columns, map(_deviation, published.deviations))
    for when, instead in (
        ("Between machines (`--hosts`)", published.between_hosts),
        ("Where Takt was built with rclcpp", published.by_rclcpp),
    ):
        if instead:
            yield ""
            yield f"{when}, these instead or in addition:"
            yield ""
            yield from table(columns, map(_deviation, instead))


def _statement(one: Statement, known: dict[str, str]) -> list[str]:
    answer = (
        [f"`{one.finding}`", f"`{known[one.finding]}`"] if one.finding else [prose(one.why), ""]
    )
    return [one.at, prose(one.claim), *answer]


def _deviation(one: Deviation) -> list[str]:
    return [prose(one.paper), prose(one.here), prose(one.why)]
