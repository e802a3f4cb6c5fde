# SPDX-License-Identifier: Apache-2.0
"""The runs that a stick has measured, brought home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from takt.errors import Failure
from takt.lab.image import disk, target
from takt.processes import scratch


@dataclass(frozen=True)
class Brought:
    """What came home, and what is here already."""

    new: list[Path]
    known: list[Path]


def bring(stick: Path, out: Path) -> Brought:
    """Copies the runs of an image or a stick that are not here yet; raises Failure.

    A run folder is there as a whole or not at all.
    """
    names = disk.listed(stick, target.RESULTS)
    new, known = [], []
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        folder = out / name
        if folder.exists():
            known.append(folder)
            continue
        with scratch.temporary(out) as place:
            disk.copied(stick, f"{target.RESULTS}/{name}", place)
            (place / name).rename(folder)
        new.append(folder)
    return Brought(new, known)


def said(stick: Path) -> str:
    """What its last boot said; empty: it has not booted."""
    with scratch.temporary() as place:
        try:
            disk.copied(stick, target.LOG, place)
        except Failure:
            return ""
        return (place / target.LOG).read_text(encoding="utf-8", errors="replace")
