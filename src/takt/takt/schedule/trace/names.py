# SPDX-License-Identifier: Apache-2.0
"""The names that an app.yaml allows, for those that a trace has.

A rule without memory, so that whoever holds another trace of the same application against the file
finds its callbacks in it: slashes around are left out, what is no letter, digit or _ becomes one _.
"""

from __future__ import annotations

import re

LONGEST = 100  # of an identifier of the file


def identifier(name: str) -> str:
    """A node or a callback."""
    text = re.sub(r"[^A-Za-z0-9_]+", "_", name.strip("/"))
    if not text or text[0].isdigit():
        text = f"_{text}"
    return text[:LONGEST]


def whole_name(task: str) -> str:
    """``node.callback`` of a task; one without a dot is the one callback of a node of its name."""
    node, dot, callback = task.partition(".")
    return f"{identifier(node)}.{identifier(callback if dot else 'run')}"
