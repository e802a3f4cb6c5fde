# SPDX-License-Identifier: Apache-2.0
"""The totals of a campaign, from its Parquet files; memory does not grow with their number."""

from __future__ import annotations

from typing import Any

import duckdb

from takt.schedule.campaign.folder import Folder, reading_tables
from takt.schedule.campaign.model import Campaign, Totals

# A sum of nothing but null is null: what no row has was not asked for, or never came to an answer.
_TOTALS = """
  count(*), sum(accepted::int), sum(bound_violations), sum(misses_in_accepted), count(error)
"""
_NAMES = ("sets", "accepted", "bound_violations", "misses_in_accepted", "failed")


def summarise(folder: Folder, campaign: Campaign) -> Totals:
    """Counts what is in the folder now."""
    counts = Totals()
    with reading_tables(folder.path), duckdb.connect() as database:
        if any(folder.sets.glob("*.parquet")):
            source = f"read_parquet('{_quoted(folder.sets)}/*.parquet')"
            totals = database.execute(f"select {_TOTALS} from {source}").fetchone() or ()  # noqa: S608
            for name, value in zip(_NAMES, totals, strict=True):
                setattr(counts, name, _whole(value))
            query = f"select combination, {_TOTALS} from {source} group by all order by all"  # noqa: S608
            for combination, *values in database.execute(query).fetchall():
                forced = campaign.space.combinations[combination]
                row: dict[str, Any] = {"combination": combination, "parameters": _brief(forced)}
                row |= dict(zip(_NAMES, map(_whole, values), strict=True))
                counts.combinations.append(row)
            query = f"select policy, {_TOTALS} from {source} group by all order by all"  # noqa: S608
            for policy, *values in database.execute(query).fetchall():
                row = {"policy": policy, **dict(zip(_NAMES, map(_whole, values), strict=True))}
                counts.policies.append(row | {"share": _share(row)})
        if any(folder.executions.glob("*.parquet")):
            counts.executions = _executions(database, folder)
    return counts


def _executions(database: duckdb.DuckDBPyConnection, folder: Folder) -> dict[str, Any]:
    source = f"read_parquet('{_quoted(folder.executions)}/*.parquet', union_by_name=true)"
    names = (
        "count",
        "applications",
        "executions",
        "misses",
        "misses_in_accepted",
        "on_old_data",
        "above_bound",
        "above_stolen",
        "above_unexplained",
        "above_whole",
        "failed",
    )
    known = {column[0] for column in database.execute(f"from {source} limit 0").description}
    whole = "above_whole" if "above_whole" in known else "null"  # earlier versions have none
    query = f"""
      select approach, count(*), count(distinct name), coalesce(sum(executions), 0),
        sum(misses), sum(misses) filter (accepted), sum(on_old_data), sum(above_bound),
        sum(above_stolen), sum(above_unexplained), sum({whole}), count(error)
      from {source} group by approach order by approach
    """  # noqa: S608 - a path of ours
    return {
        approach: dict(zip(names, map(_whole, values), strict=True))
        for approach, *values in database.execute(query).fetchall()
    }


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _share(row: dict[str, Any]) -> float | None:
    """Of all that were to be analysed, those that failed among them."""
    return None if row["accepted"] is None else row["accepted"] / row["sets"]


def _quoted(path: Any) -> str:
    return str(path).replace("'", "''")


def _brief(parameters: dict[str, Any]) -> dict[str, Any]:
    """What tells combinations apart at a glance."""
    return {key: parameters[key] for key in ("nodes", "utilization", "policy") if key in parameters}
