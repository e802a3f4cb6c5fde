# SPDX-License-Identifier: Apache-2.0
"""The chains in the description that a trace carries: no event shows their names and limits.

A model without them would be held to less than what was executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ValidationError

from takt.schedule.model.declared import Name, Time

Part = dict[str, Any]


class _Chain(BaseModel):
    name: Name
    callbacks: list[Name]
    max_latency: Time | None = None


class _Described(BaseModel):
    chains: list[_Chain] = []


def chains(text: str | None) -> list[Part]:
    """In the flat form; none where there is no description, or it is damaged."""
    try:
        found = _Described.model_validate_json(text or "{}").chains
    except ValidationError:
        return []
    return [one.model_dump(exclude_none=True) for one in found]


def kept(
    described: list[Part], names: Mapping[str, str], followers: Mapping[str, list[str]]
) -> list[Part]:
    """Those that data can take in the model; ``names``: its callbacks, by those of the trace."""
    found = []
    for one in described:
        path = [names.get(name, "") for name in one["callbacks"]]
        if all(path) and all(after in followers[before] for before, after in pairwise(path)):
            found.append({**one, "callbacks": path})
    return found
