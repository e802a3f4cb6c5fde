# SPDX-License-Identifier: Apache-2.0
"""Many runs as two SQL tables: ``cells`` and ``samples`` (docs/reference/results.md)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from takt.measure.results import scheduling, store
from takt.measure.results.model import Cell, Run

_NO_SAMPLES = """
CREATE VIEW recorded AS SELECT NULL::UBIGINT AS sequence, NULL::BIGINT AS intended_ns,
  NULL::BIGINT AS sent_ns, NULL::BIGINT AS received_ns,
  NULL::BIGINT AS file_row_number, NULL::VARCHAR AS filename WHERE false
"""
_RECORDED = """
CREATE VIEW recorded AS
SELECT * FROM read_parquet([{files}], filename=true, file_row_number=true)
"""
_SAMPLES = """
CREATE VIEW samples AS
SELECT f.run, f.cell, f.key, f.repetition, f.subscriber, f.earlier_attempt,
  r.sequence, r.intended_ns, r.sent_ns, r.received_ns,
  r.file_row_number = 0 AS first, r.received_ns = 0 AS lost,
  CASE WHEN r.received_ns <> 0
    THEN (r.received_ns - CASE WHEN f.since_intended THEN r.intended_ns ELSE r.sent_ns END) / 1000.0
    END AS latency_us,
  CASE WHEN r.received_ns <> 0 THEN (r.received_ns - r.intended_ns) / 1000.0 END AS response_us
FROM recorded r JOIN files f ON r.filename = f.file
"""
# What is not a column of ``cells``: lists of models, shown by their own tables or in run.json.
_NESTED = {
    *("statistics", "conditions", "probes", "notes", "samples", "earlier_attempts", "error"),
    *("set_aside", "takers"),
}


def connect(folders: Iterable[Path]) -> duckdb.DuckDBPyConnection:
    """Opens runs for SQL, in memory; raises TaktError for a folder without a run.

    Samples stay in their Parquet files and are read only as far as a query needs them.
    """
    cells: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    for folder in folders:
        run = store.read(folder)
        for cell in run.cells:
            cells.append(_row(run, folder, cell))
            files += _files(folder, cell)
    database = duckdb.connect(":memory:")
    _fill(database, "cells", cells, _cell_schema())
    _fill(database, "files", files, _FILES)
    if files:
        names = ", ".join("'" + one["file"].replace("'", "''") + "'" for one in files)
        database.execute(_RECORDED.format(files=names))
    else:
        database.execute(_NO_SAMPLES)
    database.execute(_SAMPLES)
    return database


_FILES = pa.schema(
    [
        ("run", pa.string()),
        ("cell", pa.string()),
        ("key", pa.string()),
        ("repetition", pa.int64()),
        ("subscriber", pa.int64()),
        ("earlier_attempt", pa.bool_()),
        ("since_intended", pa.bool_()),
        ("file", pa.string()),
    ]
)
_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def _cell_schema() -> pa.Schema:
    """The columns of ``cells``, from the model, so that a new field is a new column."""
    columns = [
        ("run", pa.string()),
        ("run_name", pa.string()),
        ("run_started", pa.timestamp("us", "UTC")),
        ("started", pa.timestamp("us", "UTC")),
        ("status", pa.string()),
        ("error", pa.string()),
        ("granted", pa.string()),
        ("histogram", pa.string()),
        ("gaps", pa.string()),
        ("cpu", pa.list_(pa.int64())),
        ("first_us", pa.float64()),
        ("deadline_exceeded", pa.int64()),
        ("deadline_upper_bound", pa.float64()),
    ]
    named = {name for name, _ in columns}
    for name, field in Cell.model_fields.items():
        if name in named or name in _NESTED:
            continue
        kind = field.annotation
        columns.append(
            (name, _TYPES.get(kind, pa.float64()) if isinstance(kind, type) else pa.float64())
        )
    for series in ("latency", "response"):
        columns += [(f"{series}_{name}", pa.float64()) for name in _percentile_names()]
    return pa.schema(columns)


def _percentile_names() -> list[str]:
    from takt.measure.results.model import Percentiles

    return [name for name in Percentiles.model_fields if name.endswith("_us")]


def _row(run: Run, folder: Path, cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = cell.model_dump(exclude=_NESTED)
    row |= {
        "run": str(folder),
        "run_name": run.name,
        "run_started": run.started,
        "status": cell.status.value,
        "error": cell.error.what if cell.error else None,
        "granted": scheduling.granted_in_words([cell]) or None,
    }
    if cell.statistics:
        row["first_us"] = cell.statistics.first_us
        row["deadline_exceeded"] = cell.statistics.exceedance.exceeded
        row["deadline_upper_bound"] = cell.statistics.exceedance.upper_bound
        for series in ("latency", "response"):
            values = getattr(cell.statistics, series)
            row |= {f"{series}_{name}": getattr(values, name) for name in _percentile_names()}
    return row


def _files(folder: Path, cell: Cell) -> list[dict[str, Any]]:
    found = []
    set_aside = [name for one in cell.set_aside for name in one.samples]
    attempts = sorted({*cell.earlier_attempts, *set_aside} - set(cell.samples))
    for names, earlier in ((cell.samples, False), (attempts, True)):
        for number, name in enumerate(names):
            path = folder / name
            if path.exists():
                found.append(
                    {
                        "run": str(folder),
                        "cell": cell.id,
                        "key": cell.key,
                        "repetition": cell.repetition,
                        "subscriber": None if earlier else number,
                        "earlier_attempt": earlier,
                        "since_intended": cell.since_intended,
                        "file": str(path),
                    }
                )
    return found


def _fill(
    database: duckdb.DuckDBPyConnection, name: str, rows: list[dict[str, Any]], schema: pa.Schema
) -> None:
    database.register(f"{name}_rows", pa.Table.from_pylist(rows, schema=schema))
    database.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")  # noqa: S608 - our names
    database.unregister(f"{name}_rows")
