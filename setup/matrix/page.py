# SPDX-License-Identifier: Apache-2.0
"""The page of the matrix, which is its record: what was not tried this time keeps its row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from setup.distributions import ROOT
from setup.matrix.entries import ByEmulator, Entry
from setup.matrix.trial import Outcome

PAGE = ROOT / "docs" / "reference" / "systems.md"
HEAD = """# Systems

The systems that Takt was tried on. `./takt test --matrix` writes this page. An entry that did not
run this time, or that this machine cannot run, keeps its row. `./takt test --matrix --list` shows
how each entry is tried; its settings are in [setup/matrix.yaml](../../setup/matrix.yaml). *With
changes* marks trials of uncommitted files.

## Tried

| entry | system | result | what was shown | version | when, at which commit |
|---|---|---|---|---|---|
"""
ROW = re.compile(r"^\| `([^`]+)` \|.*\|$", re.MULTILINE)
NEVER = "not tried yet"


@dataclass(frozen=True)
class Moment:
    """When a trial was, of which commit, and how long it took."""

    date: str
    commit: str
    seconds: float


def write(
    entries: Sequence[Entry], done: Mapping[str, tuple[Outcome, Moment]], page: Path = PAGE
) -> None:
    """Makes it anew from what it said before and what was done now."""
    page.parent.mkdir(parents=True, exist_ok=True)
    before = rows(page.read_text(encoding="utf-8")) if page.exists() else {}
    page.write_text(text(entries, done, before), encoding="utf-8")


def rows(page: str) -> dict[str, str]:
    """The rows of what was tried, by entry."""
    tried = page.partition("\n## Tried\n")[2].partition("\n## ")[0]
    return {found[1]: found[0] for found in ROW.finditer(tried)}


def text(
    entries: Sequence[Entry],
    done: Mapping[str, tuple[Outcome, Moment]],
    before: Mapping[str, str],
) -> str:
    """The whole page."""
    tried = [one for one in entries if one.how]
    lines = []
    for entry in tried:
        outcome = done.get(entry.name)
        if outcome and (outcome[0].result != "left out" or NEVER in before.get(entry.name, NEVER)):
            lines.append(row(entry, *outcome))
        else:
            lines.append(before.get(entry.name) or f"{start(entry)} {NEVER} | | | |")
    left = [f"| {one.system} | {one.not_tried} |" for one in entries if one.not_tried]
    parts = [HEAD + "\n".join(lines)]
    if left:
        parts.append("## Not tried\n\n| system | why |\n|---|---|\n" + "\n".join(left))
    for entry in tried:
        if isinstance(entry.how, ByEmulator) and entry.how.excluded:
            excluded = "\n".join(f"| `{cell(e.tests)}` | {e.reason} |" for e in entry.how.excluded)
            parts.append(
                f"## Tests of `{entry.name}` that are left out\n\n"
                "By regular expressions over CTest's names.\n\n"
                f"| tests | why |\n|---|---|\n{excluded}"
            )
    return "\n\n".join(parts) + "\n"


def row(entry: Entry, outcome: Outcome, moment: Moment) -> str:
    """One that was tried now."""
    when = f"{moment.date}, {moment.commit}, {moment.seconds:.0f} s"
    cells = [outcome.result, shown(outcome), outcome.version, when]
    return f"{start(entry)} {' | '.join(map(cell, cells))} |"


def shown(outcome: Outcome) -> str:
    """What was looked at, with the numbers of tests."""
    counted = {
        "tests passed": outcome.passed,
        "failed": outcome.failed,
        "left out": outcome.excluded,
    }
    detail = ", ".join(f"{number} {what}" for what, number in counted.items() if number)
    return "; ".join(part for part in (outcome.detail, detail) if part)


def start(entry: Entry) -> str:
    """The cells that say which it is."""
    return f"| `{entry.name}` | {entry.system} |"


def cell(content: str) -> str:
    """What a table takes."""
    return " ".join(content.replace("|", "\\|").split())
