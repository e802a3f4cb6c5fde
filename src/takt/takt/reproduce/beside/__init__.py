# SPDX-License-Identifier: Apache-2.0
"""Several reproductions of one paper on one page: kernels, machines, middlewares, versions of ROS.

What differs between them is said of each finding; what takes two of them, such as the statements on
two kernels, is decided. Nothing is measured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType

from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.measure.results import bundle, store
from takt.reproduce.beside import page, sides
from takt.reproduce.beside.differences import compared
from takt.reproduce.beside.model import Beside
from takt.reproduce.beside.sides import Opened
from takt.reproduce.published import read_published

DOCUMENT = "beside.json"


def beside(
    paper: str,
    module: ModuleType,
    places: Sequence[Path],
    out: Path | None,
    say: Callable[[str], None] = lambda _: None,
) -> Beside:
    """Compares reproductions, folders or bundles, and writes data and page into a folder.

    Raises TaktError where one of them is no reproduction of this paper.
    """
    if len(places) < 2:
        raise TaktError(
            "one run has nothing beside it",
            where="--beside",
            fix=f"give two runs at least: takt reproduce {paper} --beside RUN RUN",
        )
    with contextlib.ExitStack() as stack:
        say("reading the runs")
        folders = [stack.enter_context(bundle.opened(place)) for place in places]
        opened = sides.opened(paper, module, list(zip(places, folders, strict=True)))
        folder = out or store.create_default(f"{paper}-beside", datetime.now(timezone.utc))
        folder.mkdir(parents=True, exist_ok=True)
        return _made(paper, module, opened, folder, say)


def _made(
    paper: str,
    module: ModuleType,
    opened: Sequence[Opened],
    folder: Path,
    say: Callable[[str], None],
) -> Beside:
    published = read_published(paper)
    say("judging what takes several runs")
    own = getattr(module, "beside", None)
    comparison = Beside(
        paper=paper,
        title=published.title,
        sides=[one.side for one in opened],
        findings=own.findings(published, opened) if own else [],
        compared=compared([(one.side.name, one.outcome) for one in opened]),
        figures=own.figures(published, opened, folder) if own else [],
        statements=published.of_several_runs(),
        results=str(folder),
    )
    write_text(folder / DOCUMENT, comparison.model_dump_json(indent=1) + "\n")
    say("writing the page")
    page.write(comparison, [(one.side.name, one.folder, one.outcome) for one in opened], folder)
    return comparison
