# SPDX-License-Identifier: Apache-2.0
"""Which overheads a bound counts, and which it does not, in words."""

from __future__ import annotations

from collections.abc import Mapping

#: Their names, in the order in which people read them.
OVERHEADS = (
    "dispatch",
    "preemption",
    "release",
    "publish",
    "publish_per_kib",
    "deliver",
    "deliver_per_kib",
)
HOW = "takt execute, then --overheads TRACE, or overheads: {from: TRACE} in the app.yaml"


def overhead_words(ns: Mapping[str, float]) -> str:
    """By name, without a final stop: what is declared, then the names of the others."""
    declared = [
        f"{name.replace('_', ' ')} {_microseconds(ns[name])}" for name in OVERHEADS if ns.get(name)
    ]
    others = [name.replace("_", " ") for name in OVERHEADS if not ns.get(name)]
    if not declared:
        return f"no overheads are declared; measure them: {HOW}"
    left = f"; not declared: {', '.join(others)}" if others else ""
    return f"overheads: {', '.join(declared)}{left}"


def _microseconds(ns: float) -> str:
    return f"{ns / 1000:.4g} µs" if ns < 1e7 else f"{ns / 1e6:.4g} ms"
