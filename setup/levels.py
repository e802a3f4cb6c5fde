# SPDX-License-Identifier: Apache-2.0
"""How much is set up; each level has all of those before it, and ``./takt`` starts the lowest."""

from __future__ import annotations

WHAT = {
    "check": "what a check needs",
    "measure": "what measuring needs",
    "tool": "the whole tool",
    "dev": "the tool and its tests",
}
LEVELS = tuple(WHAT)
# The lock file of the tool's environment, each a part of the next.
ENVIRONMENTS = {"check": "check", "measure": "tool", "tool": "tool", "dev": "dev"}


def higher(one: str, other: str) -> str:
    """The level that has the other, too; what is no level is below all of them."""
    return max(one, other, key=lambda level: LEVELS.index(level) if level in LEVELS else -1)


def measures_only(level: str) -> bool:
    """Whether the build leaves out all that measuring does not need."""
    return level in {"check", "measure"}
