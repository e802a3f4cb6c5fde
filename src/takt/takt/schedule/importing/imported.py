# SPDX-License-Identifier: Apache-2.0
"""An imported application before it is a file, and what all formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from takt.documents.units import LONGEST
from takt.errors import TaktError, shortened

HIGHEST = 98  # priority; 1 is the lowest


@dataclass
class Imported:
    """One application in the flat form (times in ns), and what the user should know of it."""

    document: dict[str, Any]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Given:
    """What the user says beside the file; ns."""

    unit: int | None = None  # of a number without unit; None: the format's own
    wcet: int | None = None  # of callbacks for which the format has no execution time


def wrong(file: Path, line: int | None, what: str, fix: str | None = None) -> TaktError:
    """The error to raise for a file that cannot be imported; ``line`` counts from 1."""
    where = str(file) if line is None else f"{file}:{line}"
    return TaktError(what, where=where, fix=fix or "correct the file, or leave this part out of it")


def time_ns(text: str | None, unit: int, file: Path, line: int | None, what: str) -> int:
    """A number of units as ns; raises TaktError for what is none, or is no whole ns."""
    try:
        value = Fraction(Decimal((text or "").strip())) * unit
    except (InvalidOperation, ValueError, OverflowError):
        raise wrong(file, line, f"{what} is no number: {_short(text)!r}") from None
    if not 0 <= value <= LONGEST:
        raise wrong(
            file,
            line,
            f"{what} {_short(text)} is negative or longer than a hundred years",
            "check the unit of the file (--unit)",
        )
    if value.denominator != 1:
        raise wrong(
            file,
            line,
            f"{what} {_short(text)} is no whole number of nanoseconds",
            "check the unit of the file (--unit)",
        )
    return int(value)


def _short(text: str | None) -> str:
    return shortened(text or "", 40)


def identifier(text: object, prefix: str) -> str:
    """A name that an app.yaml allows."""
    name = re.sub(r"\W", "_", str(text), flags=re.ASCII)
    return (name if re.match(r"[A-Za-z_]", name) else f"{prefix}{name}")[:100]


def descending(count: int, file: Path) -> list[int]:
    """So many distinct priorities, the highest first; raises TaktError where there are too few."""
    if count > HIGHEST:
        raise wrong(
            file,
            None,
            f"{count} different priorities; Linux has {HIGHEST} for real time",
            "import a set with fewer tasks",
        )
    return list(range(count, 0, -1))


def execution(best: int, worst: int) -> dict[str, Any]:
    """Any execution time in between; ns."""
    return {"best": best, "worst": worst, "quantiles": [best, worst] if best < worst else [worst]}


def application(
    callbacks: Iterable[dict[str, Any]], policy: str, cpus: list[int], **parts: Any
) -> dict[str, Any]:
    """The flat form of it all, still without a name."""
    return {"policy": policy, "cpus": cpus, "callbacks": list(callbacks), "topics": [], **parts}
