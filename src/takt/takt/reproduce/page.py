# SPDX-License-Identifier: Apache-2.0
"""A reproduction as one HTML file: paper and machine side by side, in the paper's order.

It is made of ``outcome.json`` and the pictures in the results folder, so it can be made again.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from takt import __version__
from takt.documents.reading import read_json
from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.pages import page, text
from takt.reproduce.model import Figure, Figures, Finding, Outcome, Row
from takt.reproduce.published import natural
from takt.reproduce.unfinished import parts

DOCUMENT, PAGE = "outcome.json", "reproduction.html"
_ROMAN = (
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X",
    "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII", "XVIII", "XIX", "XX",
)  # fmt: skip
_NUMBER = r"(?:[IVX]+|\d+(?:\.\d+)*)"
_MENTIONED = re.compile(rf"(figure|table|output)s? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)")
WORDS: dict[str, tuple[str, str]] = {
    "holds": ("good", "holds here"),
    "smaller": ("fair", "smaller than published"),
    "not here": ("bad", "does not hold here"),
    "undecided": ("unknown", "undecided"),
    "not asked": ("unknown", "not asked here"),
}


@dataclass
class Section:
    """What belongs to one section of the paper."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)


def verdict(one: Finding) -> str:
    """A key of WORDS."""
    if one.not_asked:
        return "not asked"
    if one.holds is False and one.effect:
        return one.effect
    return {True: "holds", False: "not here", None: "undecided"}[one.holds]


def keep(outcome: Outcome) -> Path:
    """Writes the outcome as data and as a page into the results folder; returns the page."""
    folder = Path(outcome.results)
    write_text(folder / DOCUMENT, outcome.model_dump_json(indent=1) + "\n")
    return write_page(folder, outcome)


def write_page(folder: Path, outcome: Outcome, file: Path | None = None) -> Path:
    """Writes the page of a results folder."""
    target = file or folder / PAGE
    write_text(target, render(outcome, folder))
    return target


def report(folder: Path, file: Path | None = None) -> Path:
    """Writes the page of a reproduction that is kept in a folder; raises TaktError."""
    return write_page(folder, read(folder), file)


def read(folder: Path) -> Outcome:
    """The outcome that is kept in a results folder; raises TaktError where it is damaged."""
    file = folder / DOCUMENT
    try:
        return Outcome.model_validate(read_json(file))
    except ValueError as error:
        raise TaktError(
            f"not the outcome of a reproduction: {error}"[:300], where=str(file)
        ) from None


def render(outcome: Outcome, folder: Path) -> str:
    """Lays the page out."""
    environment = page.environment("takt.reproduce")
    environment.globals.update(text=text, words=WORDS, verdict=verdict, figures=figures_in_words)
    return environment.get_template("reproduction.html.j2").render(
        outcome=outcome,
        sections=sections(outcome),
        unfinished=list(parts(outcome.unfinished)),
        counts={key: sum(verdict(one) == key for one in outcome.findings) for key in WORDS},
        pictures={
            one.file: _picture(folder / one.file)
            for one in outcome.figures
            if one.file.endswith(".png") and (folder / one.file).is_file()
        },
        differs=list(dict.fromkeys(one.differs for one in outcome.findings if one.differs)),
        columns=columns,
        cell=cell,
        written=datetime.now(timezone.utc),
        version=__version__,
        style=page.asset("page.css"),
    )


def sections(outcome: Outcome) -> list[Section]:
    """The paper's sections in their order; each table and figure where a finding speaks of it.

    One that no finding speaks of stands where a statement does, and one that another chapter refers
    to in its own.
    """
    found: dict[str, Section] = {}
    for one in outcome.findings:
        found.setdefault(_section(one.at), Section(_section(one.at))).findings.append(one)
    spoken_of: dict[tuple[str, str], list[str]] = {}
    for at in (*(one.at for one in outcome.findings), *(one.at for one in outcome.statements)):
        for key in mentioned(at):
            spoken_of.setdefault(key, []).append(_section(at))
    places = {
        key: min(
            names, key=lambda name: (not _is_in(name, key[1]), name not in found, natural(name))
        )
        for key, names in spoken_of.items()
    }
    found |= {name: found.get(name) or Section(name) for name in places.values()}
    rest = Section("Further tables and figures")
    for row in outcome.tables:
        kind, _, number = row.table.rpartition(" ")
        section = found.get(number, rest) if kind == "section" else None
        section = section or _of(places, found, (kind or "table", number)) or rest
        section.tables.setdefault(row.table, []).append(row)
    for figure in outcome.figures:
        number = re.sub(r"^\D*", "", figure.figure)
        (_of(places, found, ("figure", number)) or rest).figures.append(figure)
    ordered = sorted(found.values(), key=lambda one: natural(one.name))
    return [one for one in (*ordered, rest) if one.findings or one.tables or one.figures]


def _of(
    places: dict[tuple[str, str], str], found: dict[str, Section], key: tuple[str, str]
) -> Section | None:
    return found.get(places.get(key, ""))


def _is_in(section: str, number: str) -> bool:
    """Whether a figure or table numbered by chapters, 5.2, is of the chapter of a section."""
    chapter, dot, _ = number.partition(".")
    return bool(dot) and section.removeprefix("chapter ").partition(".")[0] == chapter


def _section(at: str) -> str:
    return at.split(",", maxsplit=1)[0]


def mentioned(at: str) -> Iterator[tuple[str, str]]:
    """The figures and tables that a place names: ``figures 5.8 to 5.10`` are three."""
    for kind, numbers in _MENTIONED.findall(at):
        for part in re.split(r", | and ", numbers):
            first, _, last = part.strip().partition(" to ")
            if first in _ROMAN:
                for name in _ROMAN[_ROMAN.index(first) : _ROMAN.index(last or first) + 1]:
                    yield kind, name
                continue
            chapter, _, low = first.rpartition(".")
            high = last.rpartition(".")[2] or low
            for number in range(int(low), int(high) + 1):
                yield kind, f"{chapter}.{number}" if chapter else str(number)


def columns(rows: list[Row]) -> list[str]:
    """The columns of a table, in the order of their appearance."""
    return list(dict.fromkeys(key for row in rows for key in (*row.published, *row.measured)))


def cell(value: float | str | None) -> str:
    """A number as a person reads it."""
    if value is None:
        return text.ABSENT
    if not isinstance(value, str) and value >= 10_000:
        return text.count(round(value))
    if isinstance(value, str):
        return value
    return f"{value:.5g}" if value >= 1000 else f"{value:.4g}"  # 1022.4 µs are not 1022


def figures_in_words(figures: Figures) -> str:
    """``growth 0.15, highest 400 µs``."""
    return ", ".join(f"{name} {number}" for name, number in map(_with_unit, figures.items()))


def _with_unit(figure: tuple[str, int | float | str | None]) -> tuple[str, str]:
    name, _, unit = text.words(figure[0]).partition(" (")
    return name, f"{cell(figure[1])} {unit.removesuffix(')')}".strip()


def _picture(file: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}"
