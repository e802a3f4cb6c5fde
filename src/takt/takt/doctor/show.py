# SPDX-License-Identifier: Apache-2.0
"""Findings on a terminal: worst first, readable at 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from takt.doctor import SEVERITIES
from takt.doctor.finding import Finding, Severity

STYLES = {
    Severity.problem: "bold red",
    Severity.warning: "dark_orange",  # yellow is not readable on white
    Severity.unknown: "magenta",
    Severity.note: "cyan",
    Severity.good: "green",
}
HEADINGS = {
    Severity.problem: ("problem", "problems"),
    Severity.warning: ("warning", "warnings"),
    Severity.unknown: ("unknown", "unknown"),
    Severity.note: ("note", "notes"),
    Severity.good: ("good", "good"),
}
# A line that begins so is pasted into a shell: it is never broken.
_SHELL = ("sudo ", "echo ", "for ", "printf ", "docker ", "uname ")
_COMMENT = "   # "
_INDENT = 4
_WIDTH = 100  # longer lines of prose are hard to read


def count(findings: Iterable[Finding]) -> str:
    """Sum up in a line, such as ``1 problem, 2 warnings, 12 good``."""
    severities = [finding.severity for finding in findings]
    numbers = ((severity, severities.count(severity)) for severity in SEVERITIES)
    return ", ".join(f"{n} {HEADINGS[severity][n != 1]}" for severity, n in numbers if n)


def show(console: Console, findings: Sequence[Finding]) -> None:
    """Print all findings: what is wrong in full, what is good in one line each."""
    for severity in SEVERITIES:
        group = [finding for finding in findings if finding.severity is severity]
        if not group:
            continue
        heading = HEADINGS[severity][1].upper()
        console.print(Text(f"\n{heading} ({len(group)})", style=STYLES[severity]))
        if severity is Severity.good:
            console.print(_table(group))
        else:
            for number, finding in enumerate(group):
                if number:
                    console.print()
                show_finding(console, finding)


def tuned_by(findings: Iterable[Finding]) -> str | None:
    """Which of these takt tune fixes, in a sentence; None where there is none."""
    names = list(dict.fromkeys(finding.setting for finding in findings if finding.setting))
    if not names:
        return None
    of_these = f"{len(names)} setting{'s' if len(names) > 1 else ''} of these"
    return f"takt tune changes {of_these}, and takes them back: {', '.join(names)}."


def show_finding(console: Console, finding: Finding) -> None:
    """Print one finding: what was found, why it matters, how to fix it."""
    heading = Text.assemble((finding.title, f"bold {STYLES[finding.severity]}"), ": ")
    print_prose(console, heading.append(finding.value), indent=2)
    print_prose(console, Text(finding.why), indent=_INDENT)
    print_fix(console, finding.fix)


def print_fix(console: Console, fix: str | None, indent: int = _INDENT) -> None:
    """Print a fix so that its commands can be copied: they are not broken into lines."""
    label = "Fix: "
    for line in (fix or "").splitlines():
        if line.startswith(_SHELL):
            command, mark, comment = line.partition(_COMMENT)
            fits = indent + len(label) + len(line) <= console.width
            parts = [line] if fits or not mark else [command, f"# {comment}"]
        else:
            parts = [line]
        for part in parts:
            text = Text.assemble((label, "green"), (part, "bold"))
            if line.startswith(_SHELL):
                console.print(Text(" " * indent) + text, soft_wrap=True)
            else:
                print_prose(console, text, indent, hanging=len(label))
            label = " " * len(label)


def print_prose(console: Console, text: Text, indent: int, hanging: int = 0) -> None:
    """Print wrapped text with an indentation; lines after the first have ``hanging`` more."""
    width = min(console.width, _WIDTH) - indent - hanging
    for number, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        console.print(Text(" " * (indent + (hanging if number else 0))) + line, soft_wrap=True)


def _table(findings: Iterable[Finding]) -> Padding:
    table = Table.grid(padding=(0, 2))
    table.add_column(max_width=32)
    table.add_column(overflow="fold")
    for finding in findings:
        table.add_row(finding.title, finding.value)
    return Padding(table, (0, 0, 0, 2), expand=False)
