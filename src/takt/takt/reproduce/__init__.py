# SPDX-License-Identifier: Apache-2.0
"""A paper's experiments on this machine, next to what the paper publishes.

One module or package a paper, with ``reproduce(request) -> Outcome`` and ``criteria()``. Its
published values are data (``experiments/published/<paper>.yaml``, each with its place in the
paper); its findings are checks.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from takt.errors import TaktError
from takt.reproduce import page
from takt.reproduce.beside import beside
from takt.reproduce.beside.model import Beside
from takt.reproduce.model import Outcome, Request

PAPERS = {
    "gutierrez2018": "takt.reproduce.gutierrez2018",
    "krukiewicz2021": "takt.reproduce.krukiewicz2021",
    "sticha2014": "takt.reproduce.sticha2014",
    "ye2023": "takt.reproduce.ye2023",
}


def criteria(paper: str) -> dict[str, str]:
    """The expression that decides each finding of a paper."""
    known: dict[str, str] = importlib.import_module(PAPERS[paper]).criteria()
    return known


def set_beside(
    paper: str,
    runs: Sequence[Path],
    out: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Beside:
    """Puts several reproductions of a paper on one page; nothing is measured. Raises TaktError."""
    return beside(paper, _module(paper), runs, out, say)


def reproduce(paper: str, request: Request) -> Outcome:
    """Reproduces a paper by its name and keeps the outcome, as data and as a page, in its folder.

    Raises TaktError where there is no such paper.
    """
    outcome: Outcome = _module(paper).reproduce(request)
    request.say("writing the page")
    page.keep(outcome)
    return outcome


def _module(paper: str) -> ModuleType:
    if paper not in PAPERS:
        raise TaktError(
            f"unknown paper {paper!r}", where="PAPER", fix=f"one of {', '.join(PAPERS)}"
        )
    return importlib.import_module(PAPERS[paper])
