# SPDX-License-Identifier: Apache-2.0
"""A run as one file to share: documents, samples, histograms and pictures, without private data.

A ZIP file. In its documents the names of this computer and of its user, and the paths of the run
and of the home directory, are replaced. ``takt history`` and ``takt reproduce --beside`` read it in
the place of a folder.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import re
import shutil
import socket
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from takt.errors import TaktError

SUFFIX = ".zip"
MANIFEST = "bundle.json"
SCHEMA_VERSION = 1
DOCUMENTS = (".json", ".yaml", ".txt")
KEPT = (*DOCUMENTS, ".parquet", ".png")
LEFT_OUT = ("history.sqlite",)
MOST_FILES, MOST_BYTES = 100_000, 200 << 30
LEAST_NAME = 3  # letters: a shorter user name would be replaced inside of other words


def write(folder: Path, file: Path | None = None) -> Path:
    """Writes the bundle of a folder, beside it by default; raises TaktError where it is no run."""
    from takt.processes.scratch import DOCUMENT

    if not any((folder / name).is_file() for name in (DOCUMENT, "outcome.json")):
        raise TaktError(
            "no run and no reproduction in this folder",
            where=str(folder),
            fix="give a folder printed by takt run, takt measure or takt reproduce",
        )
    target = file or folder.with_name(folder.name + SUFFIX)
    part = target.with_name(target.name + ".part")
    private = _private(folder)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, json.dumps({"schema_version": SCHEMA_VERSION}) + "\n")
            for one in _files(folder, target):
                name = one.relative_to(folder).as_posix()
                if one.suffix in DOCUMENTS:
                    archive.writestr(name, _cleaned(one.read_text(encoding="utf-8"), private))
                else:
                    archive.write(one, name)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder of a run: itself, or a bundle's content for as long as it is used.

    Raises TaktError for a file that is no bundle.
    """
    if not place.is_file() or place.suffix != SUFFIX:
        yield place
        return
    folder = Path(tempfile.mkdtemp(prefix="takt-bundle-"))
    try:
        _extract(place, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path, target: Path) -> Iterator[Path]:
    for one in sorted(folder.rglob("*")):
        if one.is_symlink() or not one.is_file() or one in (target, target.with_suffix(".part")):
            continue
        if one.suffix in KEPT and one.name not in LEFT_OUT:
            yield one


def _private(folder: Path) -> list[tuple[re.Pattern[str], str]]:
    """What is replaced, and by what: paths first, which names are a part of."""
    paths = {str(folder.resolve()): ".", str(folder): ".", str(Path.home()): "~"}
    found = [
        (re.compile(re.escape(path)), by)
        for path, by in paths.items()
        if len(path) > 1 and path != "."
    ]
    names = {socket.gethostname(): "computer"}
    with contextlib.suppress(Exception):
        names[getpass.getuser()] = "user"
    return found + [
        (re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"), by)
        for name, by in names.items()
        if len(name) >= LEAST_NAME and name not in {"root", "localhost"}
    ]


def _cleaned(content: str, private: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, by in private:
        content = pattern.sub(by, content)
    return content


def _extract(file: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(file) as found:
            names = [one for one in found.infolist() if not one.is_dir()]
            if MANIFEST not in found.namelist():
                raise _damaged(file, f"there is no {MANIFEST} in it")
            if len(names) > MOST_FILES or sum(one.file_size for one in names) > MOST_BYTES:
                raise _damaged(file, "it is larger than a run can be")
            for one in names:
                name = PurePosixPath(one.filename)
                if name.is_absolute() or ".." in name.parts or name.suffix not in KEPT:
                    raise _damaged(file, f"{one.filename} is not a file of a run")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with found.open(one) as source, (folder / name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise _damaged(file, str(error)) from None
    if manifest != {"schema_version": SCHEMA_VERSION}:
        raise _damaged(file, f"its version is not {SCHEMA_VERSION}")


def _damaged(file: Path, why: str) -> TaktError:
    return TaktError(
        f"this is not a bundle of a run: {why}",
        where=str(file),
        fix="write it with: takt report DIR --bundle",
    )
