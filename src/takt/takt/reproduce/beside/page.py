# SPDX-License-Identifier: Apache-2.0
"""Several reproductions as one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from takt import __version__
from takt.documents.writing import write_text
from takt.pages import page, text
from takt.reproduce.beside.model import Beside, Compared, Value
from takt.reproduce.model import Outcome
from takt.reproduce.page import WORDS, cell, figures_in_words, verdict
from takt.reproduce.published import natural

PAGE = "beside.html"
TONES = {name: tone for name, (tone, _) in WORDS.items()} | {"not measured": "unknown"}


def write(comparison: Beside, runs: Sequence[tuple[str, Path, Outcome]], folder: Path) -> Path:
    """Writes the page; ``runs`` are the names, folders and outcomes of the sides."""
    environment = page.environment("takt.reproduce")
    environment.globals.update(
        text=text, words=WORDS, verdict=verdict, figures=figures_in_words, cell=cell, value=_value
    )
    target = folder / PAGE
    drawn = {one.figure for one in comparison.figures}
    write_text(
        target,
        environment.get_template("beside.html.j2").render(
            beside=comparison,
            names=[one.name for one in comparison.sides],
            tones=TONES,
            counts={name: _count(comparison.compared, name) for name in ("apart", "differing")},
            pictures={one.figure: _picture(folder / one.file)
                      for one in comparison.figures if one.file.endswith(".png")},
            panels=_panels(runs, drawn),
            written=datetime.now(timezone.utc),
            version=__version__,
            style=page.asset("page.css"),
        ),
    )  # fmt: skip
    return target


def _count(found: Sequence[Compared], which: str) -> int:
    return sum(bool(getattr(one, which)) for one in found)


def _value(one: Value | None) -> str:
    """``4.2 (4.1 to 4.3)``."""
    if one is None:
        return text.ABSENT
    if one.low is None or one.high is None:
        return cell(one.value)
    return f"{cell(one.value)} ({cell(one.low)} to {cell(one.high)})"


def _panels(
    runs: Sequence[tuple[str, Path, Outcome]], drawn: set[str]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """The pictures of each figure that more than one run has, each with the name of its run."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, folder, outcome in runs:
        for one in outcome.figures:
            file = folder / one.file
            if one.file.endswith(".png") and one.figure not in drawn and file.is_file():
                found.setdefault(one.figure, []).append((name, _picture(file)))
    several = [
        (figure, each) for figure, each in found.items() if len({name for name, _ in each}) > 1
    ]
    return sorted(several, key=lambda one: natural(one[0]))


def _picture(file: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}"
