# SPDX-License-Identifier: Apache-2.0
"""A run as one file to share: documents, samples, histograms and pictures, without private data.

A ZIP file with a checksum of each file. Every command that reads a finished run reads it in the
place of a folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from takt import __version__
from takt.errors import TaktError
from takt.measure.results import store
from takt.measure.results.private import Cleaner, releases
from takt.measure.results.unpacking import (
    DOCUMENTS,
    KEPT,
    MANIFEST,
    SCHEMA_VERSION,
    Manifest,
    unpack,
)
from takt.processes.scratch import DOCUMENT

SUFFIX = ".zip"
REPRODUCTION = "outcome.json"


def write(folder: Path, file: Path | None = None) -> Path:
    """Writes the bundle of a folder, beside it by default; raises TaktError where it is no run."""
    if not any((folder / name).is_file() for name in (DOCUMENT, REPRODUCTION)):
        raise TaktError(
            "no run and no reproduction in this folder",
            where=str(folder),
            fix="give a folder printed by takt run, takt measure or takt reproduce",
        )
    target = file or folder.with_name(folder.resolve().name + SUFFIX)
    part = target.with_name(target.name + ".part")
    there = (folder / DOCUMENT).is_file()
    cleaner = Cleaner(folder, releases(store.read(folder)) if there else ())
    manifest = Manifest(schema_version=SCHEMA_VERSION, takt=__version__)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for one in _files(folder, target):
                name = cleaner.cleaned(one.relative_to(folder).as_posix())
                manifest.files[name] = _packed(archive, one, name, cleaner)
            archive.writestr(MANIFEST, manifest.model_dump_json() + "\n")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder of a run: itself, or a bundle's content for as long as it is used.

    Raises TaktError for a file that is no bundle. Errors about its content name the bundle.
    """
    if not is_bundle(place):
        yield place
        return
    folder = Path(tempfile.mkdtemp(prefix="takt-bundle-"))
    try:
        unpack(place, folder)
        yield folder
    except TaktError as error:
        error.where = error.where and error.where.replace(str(folder), str(place))
        error.what = error.what.replace(str(folder), str(place))
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_bundle(place: Path) -> bool:
    """Whether a path is that of a bundle, by its name."""
    return place.suffix == SUFFIX and place.is_file()


def _packed(archive: zipfile.ZipFile, file: Path, name: str, cleaner: Cleaner) -> str:
    """Its SHA-256, once it is in the archive."""
    if file.suffix in DOCUMENTS:
        content = cleaner.cleaned(file.read_text(encoding="utf-8")).encode()
        archive.writestr(name, content)
        return hashlib.sha256(content).hexdigest()
    archive.write(file, name)
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _files(folder: Path, target: Path) -> Iterator[Path]:
    for one in sorted(folder.rglob("*")):
        if one.is_symlink() or not one.is_file() or one in (target, target.with_suffix(".part")):
            continue
        if one.suffix in KEPT and one.name != MANIFEST:
            yield one
