# SPDX-License-Identifier: Apache-2.0
"""Figures without the time that rendering them takes: they are made, and their files are empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from matplotlib.figure import Figure


@contextmanager
def none_rendered() -> Iterator[None]:
    """Tests that are marked as thorough render each figure."""

    def save(_: Figure, file: Path, **options: Any) -> None:
        file.touch()

    with mock.patch.object(Figure, "savefig", save):
        yield
