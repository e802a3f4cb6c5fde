# SPDX-License-Identifier: Apache-2.0
"""The verdict of every finding of every paper on made-up runs, and the page that lists them.

``PYTHONPATH=src/takt/test python src/takt/test/reproduce/synthetic_verdicts.py`` writes the page.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Protocol

from synthetic_gutierrez import Trips
from synthetic_theses import Applications, Suites
from synthetic_ye import Sizes

from takt.pages.markdown import table
from takt.reproduce.model import Answer, Finding
from takt.reproduce.page import verdict

PAGE = Path(__file__).resolve().parents[4] / "docs/reference/reproduction-verdicts.md"
WORLDS = ("paper", "reversed", "neutral", "tail")
INTRODUCTION = """\
<!-- Written by synthetic_verdicts.py; a test holds that it is as computed. -->
# Verdicts on made-up runs

How `takt reproduce` judges runs whose answer is known. Each finding is judged on four kinds of
made-up runs:

- *paper*: runs with the numbers of the paper's tables and text. Every finding holds.
- *reversed*: what is late there is early here, what grows shrinks, what never happens does. No
  finding holds.
- *neutral*: a part of the runs as published and a part reversed, or, for what is rare, too few
  samples. A finding is undecided, unless such a part is itself an answer: what happens in one run
  of three does happen.
- *tail*: as published, but one sample of a thousand is twenty times as late; of the thesis, one
  job, read or use of data of a hundred misses, is old or is ten times as late. Statements on maxima
  and on what never happens stop holding, those on medians and means stay.

`smaller` is an effect that is there, but less than two thirds of the published one. The runs are
samples and jobs that scatter, not the numbers that a criterion computes with. A stack of `all` is
all middlewares together.
"""


class Paper(Protocol):
    """The made-up runs of a paper, by world."""

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


class Answers:
    """Every answer, computed once."""

    def __init__(self, folder: Path) -> None:
        self.papers: dict[str, Paper] = {}
        for name, made in PAPERS.items():
            (folder / name).mkdir()
            self.papers[name] = made(folder / name)
        self._known: dict[tuple[str, str, str, str], Answer] = {}

    def of(self, paper: str, name: str, stack: str, world: str) -> Answer:
        key = (paper, name, stack, world)
        if key not in self._known:
            self._known[key] = self.papers[paper].answer(name, stack, world)
        return self._known[key]


def page(answers: Answers) -> str:
    """The whole page."""
    lines = [INTRODUCTION.rstrip()]
    for paper, made in PAPERS.items():
        grouped: dict[tuple[str, ...], list[str]] = {}
        for name, stack in sorted(made.asked):
            words = [word(answers.of(paper, name, stack, world)) for world in WORLDS]
            grouped.setdefault((name, *words), []).append(stack)
        rows = [
            [f"`{name}`", ", ".join(stacks), *words] for (name, *words), stacks in grouped.items()
        ]
        lines += ["", f"## {paper}", "", *table(["finding", "stack", *WORLDS], rows)]
    return "\n".join(lines) + "\n"


def word(answer: Answer) -> str:
    """The verdict as the pages of reproductions have it."""
    return verdict(
        Finding(
            id="made", stack="", claim="", at="", published={}, measured={}, holds=answer.holds,
            criterion="", effect=answer.effect, not_asked=answer.not_asked,
        )
    )  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        PAGE.write_text(page(Answers(Path(place))), encoding="utf-8")
