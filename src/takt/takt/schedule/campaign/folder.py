# SPDX-License-Identifier: Apache-2.0
"""The folder of a campaign: what is asked, what is done, what failed; so that it can go on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import parquet

from takt.documents import own
from takt.documents.reading import read_json
from takt.documents.writing import remove_halves, replacing, write_text
from takt.errors import Failure, TaktError
from takt.schedule.campaign.model import Batch, Campaign

CAMPAIGN = "campaign.json"
RESULT = "result.json"


class Folder:
    """Made, or opened again to go on."""

    def __init__(self, path: Path, campaign: Campaign) -> None:
        self.path = path
        self.sets = path / "sets"
        self.executions = path / "executions"
        self.traces = path / "traces"
        self.violations = path / "violations"
        asked = json.loads(json.dumps(campaign.document()))
        file = path / CAMPAIGN
        if file.exists():
            self._same(file, asked)
        elif path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise TaktError(
                "this folder exists and is not a campaign",
                where=str(path),
                fix="choose a new folder with --out",
            )
        for folder in (path, self.sets, self.executions, self.traces, self.violations):
            folder.mkdir(parents=True, exist_ok=True)
            if folder != path and folder.is_symlink():  # one that was handed over may lead anywhere
                raise TaktError(
                    "expected a folder of the campaign, found a link",
                    where=str(folder),
                    fix="replace it with the folder itself",
                )
        write_json(file, asked)
        remove_halves(self.sets)  # of a process that was killed while it wrote
        for folder in (self.sets, self.executions):
            with own.opened(folder) as place:
                for table in folder.glob("*.parquet"):
                    if not _readable(table):  # a disk that lost its end: it is evaluated again
                        place.remove(table.name, closed=0)

    @staticmethod
    def _same(file: Path, asked: dict[str, Any]) -> None:
        new = "choose a new folder with --out, or use the original parameters to continue"
        before = read_json(
            file, fix="the parameters of this campaign are lost: choose a new folder with --out"
        )
        if not isinstance(before, dict):
            raise TaktError("this is not a campaign", where=str(file), fix=new)
        different = sorted(key for key in asked | before if asked.get(key) != before.get(key))
        if different:
            raise TaktError(
                f"the campaign in this folder differs in {', '.join(different)}",
                where=str(file),
                fix=new,
            )

    def remaining(self, batches: list[Batch]) -> list[Batch]:
        """The batches that are not done, or whose evaluation failed."""
        done = {file.stem for file in self.sets.glob("*.parquet")}
        again = {file.name.removesuffix(".failed.json") for file in self.sets.glob("*.failed.json")}
        return [batch for batch in batches if batch.name not in done or batch.name in again]

    def again(self) -> int:
        """How many applications are in batches whose evaluation failed."""
        fix = "delete it; the same command evaluates its batch again"
        marks = [read_json(file, fix=fix) for file in self.sets.glob("*.failed.json")]
        return sum(mark["size"] for mark in marks)

    def keep(self, batch: Batch, table: pa.Table, error: str | None = None) -> None:
        """Keeps the rows of a batch, and that it failed if it did."""
        mark = self.sets / f"{batch.name}.failed.json"
        if error is not None:
            write_json(mark, {"error": error, **vars(batch)})
        write_table(self.sets / f"{batch.name}.parquet", table)
        if error is None:
            mark.unlink(missing_ok=True)


def _readable(table: Path) -> bool:
    try:
        parquet.read_metadata(table)
    except OSError as error:
        if error.errno is not None:  # the disk's, which may hold a whole file
            raise
        return False
    except pa.ArrowException:
        return False
    return True


@contextlib.contextmanager
def reading_tables(folder: Path) -> Iterator[None]:
    """What a query finds damaged becomes a Failure."""
    try:
        yield
    except duckdb.Error as error:
        raise Failure(
            f"cannot read the campaign: {error}",
            where=str(folder),
            fix="delete this file; the same command evaluates it again",
        ) from None


def write_table(file: Path, table: pa.Table) -> None:
    """Nobody ever sees half a file."""
    with replacing(file) as temporary:
        parquet.write_table(table, temporary)


def write_json(file: Path, document: dict[str, Any]) -> None:
    """The same for a document."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(file, text + "\n")
