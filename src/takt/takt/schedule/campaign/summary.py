# SPDX-License-Identifier: Apache-2.0
"""The totals of a campaign, from its Parquet files; memory does not grow with their number."""

from __future__ import annotations

from typing import Any

import duckdb

from takt.schedule.campaign.folder import Folder, reading_tables
from takt.schedule.campaign.model import Campaign, Totals

_TOTALS = """
  count(*), coalesce(sum(accepted::int), 0), coalesce(sum(bound_violations), 0),
  coalesce(sum(misses_in_accepted), 0), count(error)
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
                setattr(counts, name, int(value))
            query = f"select combination, {_TOTALS} from {source} group by all order by all"  # noqa: S608
            for combination, *values in database.execute(query).fetchall():
                forced = campaign.space.combinations[combination]
                row: dict[str, Any] = {"combination": combination, "parameters": _brief(forced)}
                row |= dict(zip(_NAMES, map(int, values), strict=True))
                counts.combinations.append(row)
            query = f"select policy, {_TOTALS} from {source} group by all order by all"  # noqa: S608
            for policy, *values in database.execute(query).fetchall():
                row = {"policy": policy, **dict(zip(_NAMES, map(int, values), strict=True))}
                counts.policies.append(row | {"share": row["accepted"] / row["sets"]})
        if any(folder.executions.glob("*.parquet")):
            counts.executions = _executions(database, folder)
    return counts


def _executions(database: duckdb.DuckDBPyConnection, folder: Folder) -> dict[str, Any]:
    source = f"read_parquet('{_quoted(folder.executions)}/*.parquet')"
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
        "failed",
    )
    query = f"""
      select approach, count(*), count(distinct name), coalesce(sum(executions), 0),
        coalesce(sum(misses), 0), coalesce(sum(misses) filter (accepted), 0),
        coalesce(sum(on_old_data), 0), coalesce(sum(above_bound), 0),
        coalesce(sum(above_stolen), 0), coalesce(sum(above_unexplained), 0), count(error)
      from {source} group by approach order by approach
    """  # noqa: S608 - a path of ours
    return {
        approach: dict(zip(names, map(int, values), strict=True))
        for approach, *values in database.execute(query).fetchall()
    }


def _quoted(path: Any) -> str:
    return str(path).replace("'", "''")


def _brief(parameters: dict[str, Any]) -> dict[str, Any]:
    """What tells combinations apart at a glance."""
    return {key: parameters[key] for key in ("nodes", "utilization", "policy") if key in parameters}
