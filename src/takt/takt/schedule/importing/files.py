# SPDX-License-Identifier: Apache-2.0
"""Imported applications as files: one app.yaml, or a folder of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt.documents.writing import failure, replacing
from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.generate.files import new_folder
from takt.schedule.importing.document import ImportDocument, ImportedFile
from takt.schedule.importing.formats import read
from takt.schedule.importing.imported import Given, Imported, identifier

SUFFIX = ".app.yaml"
FOLDER = Path("applications")


def import_file(
    source: Path,
    out: Path | None,
    given: Given,
    *,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> ImportDocument:
    """Writes the applications of a file; raises TaktError where one cannot be written or read.

    ``out``: the app.yaml of a single application, or the new folder of several.
    """
    name, found = read(source, given)
    stem = identifier(source.name.split(".")[0], "set_")
    targets = _targets(stem, out, len(found), force)
    notes = list(dict.fromkeys(note for one in found for note in one.notes))
    written = []
    for place, (target, one) in enumerate(zip(targets, found, strict=True), 1):
        progress(f"{place} of {len(found)}")
        document = {"name": identifier(target.name.removesuffix(SUFFIX), "set_"), **one.document}
        _write(source, target, document, [f"takt import {source.name}: {name}", *one.notes])
        written.append(
            ImportedFile(
                application=str(target),
                callbacks=len(document["callbacks"]),
                chains=len(document.get("chains", [])),
                utilization=round(_utilization(one), 6),
            )
        )
    return ImportDocument(source=str(source), format=name, applications=written, notes=notes)


def _targets(stem: str, out: Path | None, count: int, force: bool) -> list[Path]:
    """One file, or as many in a new folder, numbered from 1."""
    if count > 1:
        folder = new_folder(out or FOLDER / stem)
        digits = len(str(count))
        return [folder / f"{stem}_{number:0{digits}}{SUFFIX}" for number in range(1, count + 1)]
    target = out or Path(f"{stem}{SUFFIX}")
    if target.exists() and not force:
        raise TaktError(
            "this file exists",
            where=str(target),
            fix="choose another file with -o, or overwrite it with --force",
        )
    return [target]


def _write(source: Path, target: Path, document: dict[str, Any], remarks: list[str]) -> None:
    """Nothing is written that the tool could not read."""
    try:
        with replacing(target) as temporary:
            temporary.write_text(app_yaml(document, "\n".join(remarks)), encoding="utf-8")
            read_application(temporary)
    except OSError as error:
        raise failure(error) from None
    except TaktError as error:
        what = re.sub(r"^.*?\.app\.yaml\S*: ", "", error.what)
        raise TaktError(
            f"cannot build an application of this set: {what}",
            where=str(source),
            fix=error.fix,
        ) from None


def _utilization(one: Imported) -> float:
    """Sum of execution time over period; a callback has the period of its chain."""
    periods: dict[str, int] = {}
    load = 0.0
    callbacks = one.document["callbacks"]
    for callback in callbacks:
        period = callback.get("period") or periods.get(callback.get("trigger", ""))
        if period:
            load += callback["execution"]["worst"] / period
            periods |= dict.fromkeys(callback.get("writes", ()), period)
    return load
