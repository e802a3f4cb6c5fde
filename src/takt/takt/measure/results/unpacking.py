# SPDX-License-Identifier: Apache-2.0
"""The content of a bundle, which others wrote: taken only as a whole, and only what a run has."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ValidationError

from takt.documents.reading import DOCUMENT_BYTES
from takt.errors import TaktError

MANIFEST = "bundle.json"
SCHEMA_VERSION = 1
DOCUMENTS = (".json", ".yaml", ".txt")
KEPT = (*DOCUMENTS, ".parquet", ".png")
MOST_FILES = 100_000
MOST_TIMES = 200  # as much as the bundle; runs have less than 20
FREELY_BYTES = 16 << 20  # small bundles may contain more of their size
_COPIED_BYTES = 1 << 20
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    NotImplementedError,  # compressed by another method
    RuntimeError,  # encrypted
)


class Manifest(BaseModel):
    """The content of ``bundle.json``."""

    schema_version: int
    takt: str = ""  # the version that wrote it
    files: dict[str, str] = {}  # SHA-256 of each file


def unpack(file: Path, folder: Path) -> None:
    """Writes a bundle's files into a folder; raises TaktError for what is no whole bundle."""
    try:
        with zipfile.ZipFile(file) as found:
            manifest = _manifest(file, found)
            for one in _checked(file, folder, found, manifest):
                if _copied(found, one, folder) != manifest.files[one.filename]:
                    raise _damaged(file, f"{one.filename} is not what was packed")
    except _UNREADABLE as error:
        raise _damaged(file, str(error)) from None


def _manifest(file: Path, found: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in found.namelist():
        raise _foreign(file, f"there is no {MANIFEST} in it")
    if found.getinfo(MANIFEST).file_size > DOCUMENT_BYTES:
        raise _foreign(file, f"{MANIFEST} is larger than it can be")
    try:
        manifest = Manifest.model_validate_json(found.read(MANIFEST))
    except ValidationError:
        raise _foreign(file, f"{MANIFEST} is not one of Takt") from None
    if manifest.schema_version > SCHEMA_VERSION:
        raise TaktError(
            f"a newer version of Takt wrote this bundle (schema version {manifest.schema_version}, "
            f"this Takt reads {SCHEMA_VERSION})",
            where=str(file),
            fix=f"update Takt{f' to {manifest.takt}' if manifest.takt else ''}",
        )
    if manifest.schema_version < SCHEMA_VERSION:
        raise _foreign(file, f"there is no schema version {manifest.schema_version}")
    return manifest


def _checked(
    file: Path, folder: Path, found: zipfile.ZipFile, manifest: Manifest
) -> list[zipfile.ZipInfo]:
    """The members to unpack, of which nothing is unpacked yet."""
    members = [one for one in found.infolist() if one.filename != MANIFEST and not one.is_dir()]
    for one in members:
        name = PurePosixPath(one.filename)
        if name.is_absolute() or ".." in name.parts or name.suffix not in KEPT:
            raise _foreign(file, f"{one.filename} is not a file of a run")
    names = [one.filename for one in members]
    if len(set(names)) < len(names) or found.namelist().count(MANIFEST) > 1:
        raise _foreign(file, "it has two files of one name")
    if differing := sorted(set(names) ^ manifest.files.keys()):
        has = "has a file that was not packed" if differing[0] in names else "lacks a file"
        raise _damaged(file, f"it {has}: {differing[0]}")
    size = sum(one.file_size for one in members)
    if len(members) > MOST_FILES or size > FREELY_BYTES + MOST_TIMES * file.stat().st_size:
        raise _foreign(file, "it unpacks to more than a run can have")
    if size > (free := shutil.disk_usage(folder).free):
        raise TaktError(
            f"no space to unpack the bundle: it takes {size >> 20} MiB, {free >> 20} MiB are free "
            f"in {folder.parent}",
            where=str(file),
            fix="free space, or set TMPDIR to a folder on another disk",
        )
    return members


def _copied(found: zipfile.ZipFile, one: zipfile.ZipInfo, folder: Path) -> str:
    """Its SHA-256, once it is written; never more is read than its size says."""
    place, digest = folder / one.filename, hashlib.sha256()
    place.parent.mkdir(parents=True, exist_ok=True)
    with found.open(one) as source, place.open("xb") as copy:
        while part := source.read(_COPIED_BYTES):
            digest.update(part)
            copy.write(part)
    return digest.hexdigest()


def _damaged(file: Path, why: str) -> TaktError:
    return TaktError(
        f"the bundle is damaged: {why}",
        where=str(file),
        fix="copy it again, or write it again: takt report DIR --bundle",
    )


def _foreign(file: Path, why: str) -> TaktError:
    return TaktError(
        f"this is not a bundle of a run: {why}",
        where=str(file),
        fix="give a file of: takt report DIR --bundle",
    )
