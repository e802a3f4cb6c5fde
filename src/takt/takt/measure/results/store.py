# SPDX-License-Identifier: Apache-2.0
"""Run folders: making, finding, reading, and writing them so that a kill loses nothing."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from takt.documents import own, writing
from takt.documents.reading import DOCUMENT_BYTES, parse_json, read_bytes
from takt.errors import TaktError
from takt.measure.results import former_version
from takt.measure.results.model import SCHEMA_VERSION, Run
from takt.processes.scratch import DOCUMENT

RESULTS = Path("results")


class _Version(BaseModel):
    schema_version: int = 1


def create_default(name: str, started: datetime, parent: Path = RESULTS) -> Path:
    """Makes ``results/<name>-<UTC time>``, made distinct where two runs start in one second."""
    base = f"{name}-{started:%Y%m%dT%H%M%SZ}"
    folder, number = parent / base, 2
    while True:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            folder, number = parent / f"{base}-{number}", number + 1
        except OSError as error:
            raise _cannot_make(folder, error) from None
        else:
            return folder


def create(folder: Path) -> Path:
    """Makes a run folder; one that holds a run already is an error."""
    if (folder / DOCUMENT).exists():
        fix = "choose another folder"
        if own.is_own(folder / DOCUMENT):
            fix += f", or continue it: takt run --resume {folder}"
        raise TaktError("this folder already contains a run", where=str(folder), fix=fix)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_make(folder, error) from None
    return folder


def refuse_foreign(folder: Path) -> None:
    """Raises TaktError where a run cannot be gone on with by this user: it is not theirs."""
    for path in (folder.resolve(), folder / DOCUMENT):
        why = own.fault(path.lstat(), folder=path.name != DOCUMENT, closed=0)
        if why is not None:
            raise TaktError(
                f"only the owner of a run can continue it: {why}",
                where=str(path),
                fix="resume it as that user, or measure into another folder",
            )


def read(folder: Path) -> Run:
    """Reads the run in a folder (or of a ``run.json``); raises TaktError where there is none."""
    document = folder if folder.is_file() else folder / DOCUMENT
    if document.suffix == ".zip":
        raise TaktError(
            "this is a file of a run to read, not its folder",
            where=str(document),
            fix="give the folder, on the machine that measured it",
        )
    try:
        content = read_bytes(document, most=DOCUMENT_BYTES)
    except FileNotFoundError:
        raise TaktError(
            "no run in this folder",
            where=str(document),
            fix="give a folder printed by takt run or takt measure",
        ) from None
    try:
        run = _parse(content, str(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        fault = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
    else:
        if run.schema_version == SCHEMA_VERSION:
            return run
        fault = f"schema_version: {run.schema_version}"
    raise TaktError(
        f"this is not a run.json of version {SCHEMA_VERSION}: {fault}",
        where=str(document),
        fix="it was written by another version of the tool, or edited",
    )


def _parse(content: bytes, where: str) -> Run:
    """Reads this version and version 1; raises ValidationError or TaktError."""
    try:
        version = _Version.model_validate_json(content).schema_version
    except ValidationError:
        version = SCHEMA_VERSION  # refused below, with all that is wrong
    if version != 1:
        return Run.model_validate_json(content)
    document = former_version.translated(parse_json(content.decode(), where))
    return Run.model_validate_json(json.dumps(document))


def write(run: Run, folder: Path) -> None:
    """Replaces ``run.json`` in one step: after a kill the old or the new one is there."""
    writing.write_text(folder / DOCUMENT, run.model_dump_json(indent=1) + "\n")


def _cannot_make(folder: Path, error: OSError) -> TaktError:
    if writing.is_of_disk(error):
        error.filename = str(folder)
        return writing.failure(error, "choose a folder on another disk: --out FOLDER")
    return TaktError(
        f"cannot create the results folder: {error.strerror}",
        where=str(folder),
        fix="choose a writable folder: --out FOLDER",
    )


def find_runs(parent: Path = RESULTS) -> list[Path]:
    """The run folders directly below a folder, the oldest first (by their names)."""
    return sorted(document.parent for document in parent.glob(f"*/{DOCUMENT}"))
