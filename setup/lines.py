# SPDX-License-Identifier: Apache-2.0
"""A log with a JSON document in each line, which a kill at any moment leaves readable."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any


def append(log: Path, document: dict[str, Any]) -> None:
    """Writes a line; half of one that a kill left ends there."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a+", encoding="utf-8") as file:
        file.seek(0)
        whole = file.read()
        file.write(
            ("\n" if whole and not whole.endswith("\n") else "") + json.dumps(document) + "\n"
        )


def read(log: Path) -> list[dict[str, Any]]:
    """All documents; half a line is none."""
    found = []
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
