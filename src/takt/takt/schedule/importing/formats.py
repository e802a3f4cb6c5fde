# SPDX-License-Identifier: Apache-2.0
"""Which format a file has: recognized by its content, not by its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from takt.documents.reading import NO_FILE, read_text
from takt.schedule.importing import irobot, np_jobs, picas, schedcat
from takt.schedule.importing.imported import Given, Imported, wrong

Reader = Callable[[Path, str, Given], list[Imported]]
FORMATS: dict[str, Reader] = {
    "np-schedulability-analysis": np_jobs.read,
    "SchedCAT": schedcat.read,
    "PiCAS": picas.read,
    "ros2-performance": irobot.read,
}


def read(file: Path, given: Given) -> tuple[str, list[Imported]]:
    """The format and its applications; raises TaktError for another format, or a wrong file."""
    try:
        text = read_text(file)
    except FileNotFoundError:
        raise wrong(file, None, "no such file", NO_FILE) from None
    name = _format(text)
    if name is None:
        raise wrong(
            file,
            None,
            "unknown format",
            "formats: a job set of np-schedulability-analysis (CSV), task sets of SchedCAT (XML), "
            "chain sets of PiCAS (text of 8 columns), a topology of ros2-performance (JSON)",
        )
    return name, FORMATS[name](file, text, given)


def _format(text: str) -> str | None:
    begin = text.lstrip("\ufeff \t\r\n")
    first = begin.split("\n", 1)[0]
    if begin.startswith("{"):
        return "ros2-performance"
    if begin.startswith("<"):
        return "SchedCAT"
    heads = re.sub(r"\s", "", first).lower().split(",")
    if heads[0] in np_jobs.HEADERS or heads[0].startswith("predecessor"):
        return "np-schedulability-analysis"
    if re.fullmatch(r"[-+0-9.eE \t]+", first.strip()) and len(first.split()) == picas.COLUMNS:
        return "PiCAS"
    return None
