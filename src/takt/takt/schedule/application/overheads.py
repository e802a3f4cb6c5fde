# SPDX-License-Identifier: Apache-2.0
"""Reads the overheads of a machine, whatever measured them."""

from __future__ import annotations

from pathlib import Path

from takt.documents.reading import read_json
from takt.documents.units import LONGEST
from takt.errors import TaktError, shortened
from takt.schedule.application.overhead_words import OVERHEADS


def read_overheads(path: Path, key: str = "upper") -> dict[str, int]:
    """The overheads in ns: of a document of ``./takt bench overheads --json``, or of a trace.

    ``key``: ``upper`` for bounds, ``overheads`` for the middle of what was measured.
    """
    # Traces need numpy, which takes a tenth of a second to import: only here, where one is read.
    from takt.schedule.application.measured_overheads import MIDDLE, UPPER, overheads_of
    from takt.schedule.trace.file import is_trace

    if is_trace(path):
        return overheads_of(path, UPPER if key == "upper" else MIDDLE)
    example = "takt bench overheads --json > overheads.json"
    document = read_json(path, fix=example)
    values = document.get(key) if isinstance(document, dict) else None
    if not isinstance(values, dict):
        raise TaktError(f"key {key!r} is missing", where=str(path), fix=example)
    unknown = sorted(set(values) - set(OVERHEADS))
    if unknown:
        raise TaktError(
            f"unknown overhead {unknown[0]!r} below {key!r}",
            where=str(path),
            fix=f"the overheads are {', '.join(OVERHEADS)}, in ns",
        )
    for name, value in values.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 <= value <= LONGEST
        ):
            raise TaktError(
                f"{key}.{name} must be a time in ns, not {shortened(repr(value), 80)}",
                where=str(path),
                fix=example,
            )
    return {name: -int(-value // 1) for name, value in values.items()}
