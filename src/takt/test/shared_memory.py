# SPDX-License-Identifier: Apache-2.0
"""Shared-memory files as a journal of Takt's names them."""

from __future__ import annotations

from pathlib import Path

from takt.processes import leftovers, scratch


def note(folder: Path, *names: str, memory: Path = scratch.MEMORY) -> None:
    """Writes a journal of these files, those of them that are there."""
    journal = folder / leftovers.JOURNAL
    there = [name for name in names if (memory / name).exists()]
    journal.write_text("".join(f"{name} {(memory / name).stat().st_ino}\n" for name in there))
    journal.chmod(0o600)
