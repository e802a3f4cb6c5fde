# SPDX-License-Identifier: Apache-2.0
"""A finding as people read it: its verdict, the size of its effect, and its name of today."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from takt.reproduce import page
from takt.reproduce.model import Finding, Outcome, Statement
from takt.reproduce.show import show


def finding(**made: object) -> Finding:
    known = {
        "id": "load-misses",
        "stack": "rcl",
        "claim": "Load misses",
        "at": "III",
        "holds": None,
    }
    rest = {"published": {}, "measured": {}, "criterion": "a > 1"}
    return Finding.model_validate(known | rest | made)


def outcome(folder: Path, *findings: Finding) -> Outcome:
    return Outcome(
        paper="gutierrez2018", title="Title", scale=1, complete=True, findings=list(findings),
        tables=[], figures=[], results=str(folder),
        statements=[Statement(claim="Load misses", at="III", finding=findings[0].id)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "verdict", "words"),
    [
        ({"holds": True}, "holds", "holds here"),
        ({"holds": True, "effect": "larger"}, "holds", "holds here"),
        ({"holds": False}, "not here", "does not hold here"),
        ({"holds": False, "effect": "smaller"}, "smaller", "smaller than published"),
        ({"holds": None}, "undecided", "undecided"),
        ({"holds": None, "not_asked": "it is another kernel's"}, "not asked", "not asked here"),
    ],
)
def test_a_verdict_is_the_same_word_on_the_page_and_in_the_terminal(
    tmp_path: Path, made: dict[str, object], verdict: str, words: str
) -> None:
    one = finding(**made)
    assert page.verdict(one) == verdict
    rendered = page.render(outcome(tmp_path, one), tmp_path)
    assert f'<span class="tag">{words}</span>' in rendered
    assert f"load-misses</a>: {words}" in rendered
    console = Console(file=io.StringIO(), width=120)
    show(console, outcome(tmp_path, one))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert f"{verdict} " in printed
    effect = f"{one.effect} than published" if one.effect else ""
    assert effect in printed
    assert effect in rendered
    assert ("larger than published" in printed) == (one.effect == "larger")


def test_older_results_have_the_name_of_today() -> None:
    assert finding(id="own-class-mends").id == "own-class-repairs"
    assert Statement(claim="x", at="IV", finding="own-class-mends").finding == "own-class-repairs"
