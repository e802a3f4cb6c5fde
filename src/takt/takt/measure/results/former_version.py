# SPDX-License-Identifier: Apache-2.0
"""Reads ``run.json`` of version 1, which has other names for some keys."""

from __future__ import annotations

from typing import Any

#: The keys of version 1 and those of today, by the kind of object that has them.
CELL = {"policy": "scheduling", "samples_asked": "samples_requested"}
PROBE = {"asked": "requested", "obtained": "granted"}
DDS_THREAD = {"asked_priority": "requested_priority"}


def translated(run: Any) -> Any:
    """The same run in the keys of version 2; what is not a run stays as it is, to be refused."""
    if not isinstance(run, dict) or not isinstance(run.get("cells", []), list):
        return run
    return run | {"schema_version": 2, "cells": [_cell(one) for one in run.get("cells", [])]}


def _cell(cell: Any) -> Any:
    cell = _renamed(cell, CELL)
    if isinstance(cell, dict) and isinstance(cell.get("probes"), list):
        cell["probes"] = [_probe(one) for one in cell["probes"]]
    return cell


def _probe(probe: Any) -> Any:
    probe = _renamed(probe, PROBE)
    granted = probe.get("granted") if isinstance(probe, dict) else None
    if isinstance(granted, dict) and isinstance(granted.get("dds_threads"), list):
        threads = [_renamed(one, DDS_THREAD) for one in granted["dds_threads"]]
        probe["granted"] = granted | {"dds_threads": threads}
    return probe


def _renamed(document: Any, names: dict[str, str]) -> Any:
    if not isinstance(document, dict):
        return document
    return {names.get(key, key): value for key, value in document.items()}
