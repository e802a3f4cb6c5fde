# SPDX-License-Identifier: Apache-2.0
"""A robot under other executors: of one process at a time, and of all processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Flat = dict[str, Any]
Executors = list[tuple[str, str | None]]  # executor and policy; None: it has none

TAKT = "takt"
ALL = "all"


@dataclass(frozen=True)
class Change:
    """What differs from the description."""

    process: str | None  # its name, or ALL; None: nothing differs
    executor: str
    policy: str | None
    flat: Flat


def changes(flat: Flat, executors: Executors) -> Iterator[Change]:
    """The robot as described first, then each other executor in each process, then in all."""
    yield Change(None, "as described", None, flat)
    for one in flat["processes"]:
        for executor, policy in executors:
            if (executor, policy) != own_executor(one):
                changed = _under(flat, {one["name"]}, executor, policy)
                yield Change(one["name"], executor, policy, changed)
    names = {one["name"] for one in flat["processes"]}
    if len(names) < 2:
        return
    for executor, policy in executors:
        if any(own_executor(one) != (executor, policy) for one in flat["processes"]):
            yield Change(ALL, executor, policy, _under(flat, names, executor, policy))


def named(change: Change) -> str:
    """The process and the executor, in few words."""
    own = change.policy or change.executor
    return own if change.process is None else f"{change.process}: {own}"


def described(flat: Flat) -> str:
    """The executors of the description, in words."""
    return ", ".join(
        f"{one['name']}: {' '.join(part for part in own_executor(one) if part)}"
        for one in flat["processes"]
    )


def own_executor(process: Flat) -> tuple[str, str | None]:
    """The executor that a process has in the description, and its policy."""
    executor = process.get("executor", TAKT)
    return executor, process.get("policy", "fp") if executor == TAKT else None


def _under(flat: Flat, names: set[str], executor: str, policy: str | None) -> Flat:
    choice = {"executor": executor} if policy is None else {"policy": policy}
    return {
        **flat,
        "processes": [
            {key: value for key, value in one.items() if key not in ("executor", "policy")} | choice
            if one["name"] in names
            else one
            for one in flat["processes"]
        ],
    }
