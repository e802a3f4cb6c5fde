# SPDX-License-Identifier: Apache-2.0
"""What the text of an app.yaml means to the core, for the tests that write some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat


def read(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "x.app.yaml"
    path.write_text(text, encoding="utf-8")
    return flat(read_application(path))


def callback(folder: Path, keys: str) -> dict[str, Any]:
    (only,) = read(folder, f"nodes: {{n: {{c: {{{keys}}}}}}}")["callbacks"]
    assert isinstance(only, dict)
    return only
