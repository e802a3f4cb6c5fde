# SPDX-License-Identifier: Apache-2.0
"""A paper's experiments on this machine, next to what the paper publishes.

One package a paper, a plug-in, with ``reproduce(request) -> Outcome`` and ``criteria()``. Its
folder holds its data, too: the published values (``published.yaml``), each with its place in the
paper, and the experiment (``experiment.yaml``). Its findings are checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from takt.reproduce import papers

if TYPE_CHECKING:  # takt --help imports this package
    from takt.reproduce.beside.model import Beside
    from takt.reproduce.model import Outcome, Request


def criteria(paper: str) -> dict[str, str]:
    """The expression that decides each finding of a paper."""
    known: dict[str, str] = papers.module(paper).criteria()
    return known


def set_beside(
    paper: str,
    runs: Sequence[Path],
    out: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Beside:
    """Puts several reproductions of a paper on one page; nothing is measured. Raises TaktError."""
    from takt.reproduce.beside import beside

    return beside(paper, papers.module(paper), runs, out, say)


def reproduce(paper: str, request: Request) -> Outcome:
    """Reproduces a paper by its name and keeps the outcome, as data and as a page, in its folder.

    Raises TaktError where there is no such paper.
    """
    from takt.reproduce import page

    outcome: Outcome = papers.module(paper).reproduce(request)
    request.say("writing the page")
    page.keep(outcome)
    return outcome
