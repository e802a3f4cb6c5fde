# SPDX-License-Identifier: Apache-2.0
"""Each file where threads share data without a mutex has its row on the page of memory order."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "memory-order.md"
ATOMIC = re.compile(r"std::atomic|\batomic_ref\b|__atomic_|\bAtomic(?:Bool|U\d|I\d|Usize)")
NO_LIBRARY = {"test", "bench", "baseline", "examples", "bin"}
SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".rs"}


def shares(source: str) -> bool:
    return ATOMIC.search(source) is not None


def test_every_file_with_atomics_is_on_the_page() -> None:
    named = {Path(name).stem for name in re.findall(r"[\w/]+\.[ch]pp\b", PAGE.read_text())}
    sharing = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "src").rglob("*")
        if file.suffix in SUFFIXES
        and not NO_LIBRARY & set(file.relative_to(ROOT).parts)
        and shares(file.read_text())
    }
    assert len(sharing) > 50
    missing = sorted(name for name in sharing if Path(name).stem not in named)
    assert not missing, f"{PAGE.name} has no argument for {missing}"


def test_what_counts_as_atomic() -> None:
    assert shares("std::atomic<int> a;")
    assert shares("static ENDED: AtomicBool = AtomicBool::new(false);")
    assert not shares("// atomically renamed")
