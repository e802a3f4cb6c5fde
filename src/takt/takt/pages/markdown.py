# SPDX-License-Identifier: Apache-2.0
"""What the generated pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

GENERATED = "<!-- Made from the code: python -m takt.reference -->"
_MARKUP = re.compile(r"[\\<>*\[\]]|\b_|_\b")


def prose(text: str) -> str:
    """A paragraph of a comment or docstring on one line, without markup that is none."""
    return escaped(" ".join(text.split())).replace("``", "`")


def escaped(line: str) -> str:
    """A line in which nothing outside of backticks is taken for markup."""
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(
        part if part.startswith("`") else _MARKUP.sub(r"\\\g<0>", part) for part in parts
    )


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table; a bar within a cell would end it."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", r"\|").strip() for cell in row) + " |"
