# SPDX-License-Identifier: Apache-2.0
"""What a reproduction asks for and answers; ``Outcome`` is the document of ``--json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

if TYPE_CHECKING:  # takt --help imports this module
    from takt.network.workers import Workers

SCHEMA_VERSION = 1

Figures = dict[str, int | float | str | None]
Effect = Literal["", "smaller", "larger"]  # beside the published one


@dataclass(frozen=True)
class Request:
    """How much of a paper to repeat, and where the results go."""

    scale: float = 1.0  # of the published lengths or numbers of runs
    out: Path | None = None  # of an earlier reproduction: go on with it
    say: Callable[[str], None] = field(default=lambda _: None)  # what is done now
    announce: Callable[[str], None] = field(default=lambda _: None)  # what stays to be read
    draws: int = 4000  # for each finding's intervals
    hosts: dict[str, str] = field(default_factory=dict)  # of an experiment, by the paper's machines
    workers: Workers | None = None  # that have them
    within: int | None = None  # the ROS domain of a running system


def announced(runs: int, seconds: float, folder: Path, beyond_scale: list[str]) -> str:
    """What somebody who waits should know before the start."""
    words = (
        f"{runs} runs, about {duration_in_words(seconds)} of measuring. Ctrl-C keeps "
        f"finished measurements; the same command with --out {folder} continues."
    )
    if beyond_scale:
        words += f"\nScale too small for rare events: {', '.join(beyond_scale)}."
    return words


def duration_in_words(seconds: float) -> str:
    """``20 s``, ``40 min``, ``5 h``, ``21 days``."""
    minutes = seconds / 60
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 72 * 60 else f"{minutes / 1440:.0f} days"


def size_in_words(size: int) -> str:
    """``64 B``, ``4 KB``, ``16 MB``, as papers write powers of 1024."""
    for unit, name in ((1024 * 1024, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


@dataclass(frozen=True)
class Answer:
    """What a check found: whether the statement holds here, by which criterion, on which figures.

    ``holds`` is None where the data cannot tell; ``needs`` says then what it would take. It is None
    as well where the statement is about another machine; ``not_asked`` says which. ``effect`` says
    of one that does not hold that the effect is there but smaller than published, and of one that
    holds that it is larger; empty: neither is certain, or none is published.
    """

    criterion: str
    holds: bool | None
    measured: Figures
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # at 95 %
    definitions: dict[str, str] = field(default_factory=dict)
    differs: str = ""  # from what the paper measured, and why
    needs: str = ""
    not_asked: str = ""
    effect: Effect = ""


def rounded(figures: Mapping[str, float | str | None]) -> Figures:
    """Six digits of each number."""
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in figures.items()
    }


# What findings of older results are called today.
RENAMED = {"own-class-mends": "own-class-repairs"}


def _of_today(name: str) -> str:
    return RENAMED.get(name, name)


FindingId = Annotated[str, AfterValidator(_of_today)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Finding(_Model):
    """A statement of the paper and this machine's answer to it."""

    id: FindingId
    stack: str  # what was measured: rcl, ros1, …, or a scheduler
    claim: str
    at: str  # its place in the paper
    published: Figures
    measured: Figures
    holds: bool | None  # None: undecided, the data cannot tell; or not asked
    criterion: str  # when it holds here; over the measured figures and published_… ones
    intervals: dict[str, tuple[float, float]] = {}  # at 95 %, of measured figures
    definitions: dict[str, str] = {}  # of measured figures
    differs: str = ""  # what is another thing than in the paper, and why
    needs: str = ""  # undecided: what it would take
    not_asked: str = ""  # why it is not about this kernel, machine or middleware; empty: asked
    effect: Effect = ""  # holds not, but is there: smaller than published; holds: larger
    doubts: list[str] = []  # cells of its stack that are incomplete, or that others disturbed


class Row(_Model):
    """One row of a table of the paper; the same figures on both sides."""

    table: str
    row: str
    paper: str = "paper"  # what was measured there
    vendor: str  # what was measured here: the stack, or the vendor of the middleware
    published: Figures
    measured: Figures
    why: str = ""  # nothing was measured


class Figure(_Model):
    """A picture of this machine that stands for one of the paper."""

    figure: str
    file: str
    caption: str = ""


class Deviation(_Model):
    """Where the reproduction as a whole is another thing than the paper's experiment."""

    paper: str
    here: str
    why: str


class Statement(_Model):
    """A statement of the paper: the finding that judges it, or where it is, or why it is not."""

    claim: str
    at: str
    finding: FindingId = ""  # its id
    why: str = ""  # there is no finding of its own
    beside: str = ""  # the finding that judges it where several runs stand beside each other


class Unfinished(_Model):
    """A point of the measurements of which runs are not complete."""

    point: str  # in words: what was measured, of which kind and size
    key: str  # of its cells in run.json, or the name of an execution
    state: Literal["waiting", "lost", "failed"]  # waiting: not measured yet, or stopped
    runs: int  # that are like this
    of: int  # runs of this point in all
    sent: int = 0  # messages or samples of these runs
    came: int = 0  # of these
    why: str
    fix: str = ""  # what may help, beside another try


class Outcome(_Model):
    """A whole reproduction."""

    schema_version: int = SCHEMA_VERSION
    paper: str
    title: str
    scale: float
    complete: bool  # nothing waits and nothing failed; a middleware may have lost messages
    unfinished: list[Unfinished] = []  # the same command with --out tries it again
    findings: list[Finding]
    tables: list[Row]
    figures: list[Figure]
    skipped: list[str] = []  # what this machine cannot do, in words
    undecidable: list[str] = []  # findings that need more than this scale has
    deviations: list[Deviation] = []  # from the paper's experiment, as a whole
    statements: list[Statement] = []  # all of the paper, each with its finding or why it has none
    stolen_s: float | None = None  # CPU time that the hypervisor took meanwhile
    results: str  # the folder
