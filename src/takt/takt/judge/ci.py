# SPDX-License-Identifier: Apache-2.0
"""A verdict for continuous integration: JUnit XML, Markdown, and GitHub's annotations.

JUnit knows passed, failed and skipped: an undecided limit is skipped, with its reason.
"""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field

from takt.judge import words
from takt.judge.model import Judgement, Verdict
from takt.pages.text import count
from takt.statistics.judgement import Outcome


@dataclass(frozen=True)
class Case:
    """One limit: what is judged, the outcome, and why."""

    subject: str
    quantity: str
    outcome: Outcome
    message: str
    columns: Sequence[str]  # of a table, between the quantity and the outcome


@dataclass(frozen=True)
class Suite:
    """The limits of one trace, or of one comparison."""

    name: str
    command: str  # of Takt
    summary: str
    headings: Sequence[str]  # of the columns
    cases: Sequence[Case]
    remarks: Sequence[str] = field(default_factory=tuple)

    def of(self, outcome: Outcome) -> list[Case]:
        """The cases with that outcome."""
        return [one for one in self.cases if one.outcome is outcome]


def suite(verdict: Verdict) -> Suite:
    """The verdict on a trace."""
    return Suite(
        name=verdict.trace,
        command="gate",
        summary=words.summary(verdict),
        headings=("limit", "worst", "exceed"),
        cases=[_case(one) for one in verdict.judgements],
        remarks=verdict.remarks,
    )


def _case(one: Judgement) -> Case:
    exceed = "" if one.growth else f"{count(one.exceeded)} of {count(one.count)}"
    return Case(
        subject=one.subject,
        quantity=words.quantity(one),
        outcome=one.outcome,
        message=words.details(one),
        columns=(words.limit(one), words.worst(one) or "", exceed),
    )


def junit(suites: Sequence[Suite]) -> str:
    """One test suite a trace or comparison, one test case a limit."""
    root = ET.Element("testsuites")
    for suite in suites:
        counts = {
            "tests": len(suite.cases),
            "failures": len(suite.of(Outcome.fails)),
            "skipped": len(suite.of(Outcome.undecided)),
        }
        attributes = {key: str(value) for key, value in counts.items()}
        element = ET.SubElement(root, "testsuite", {"name": _clean(suite.name), **attributes})
        for one in suite.cases:
            name = _clean(f"{one.subject}, {one.quantity}")
            case = ET.SubElement(element, "testcase", classname=f"takt.{suite.command}", name=name)
            message = _clean(one.message)
            if one.outcome is Outcome.fails:
                ET.SubElement(case, "failure", message=message)
            elif one.outcome is Outcome.undecided:
                ET.SubElement(case, "skipped", message=message)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def markdown(suites: Sequence[Suite]) -> str:
    """A table a trace or comparison, for a pull request or a job summary."""
    lines: list[str] = []
    for suite in suites:
        headings = ["of", "quantity", *suite.headings, "outcome"]
        lines += [f"### {_cell(suite.summary)}", ""]
        lines += [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
        for one in suite.cases:
            outcome = one.outcome.value
            bold = f"**{outcome}**" if one.outcome is Outcome.fails else outcome
            cells = (one.subject, one.quantity, *one.columns, bold)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        lines += ["", *(f"- {_cell(remark)}" for remark in suite.remarks), ""]
    return "\n".join(lines)


def workflow_commands(suites: Sequence[Suite]) -> list[str]:
    """GitHub's workflow commands: an error for a failure, a warning for what is undecided."""
    lines = []
    for suite in suites:
        for outcome, command in ((Outcome.fails, "error"), (Outcome.undecided, "warning")):
            lines += [
                f"::{command} title={_property(one.subject)}, {one.quantity}::{_data(one.message)}"
                for one in suite.of(outcome)
            ]
    return lines


def _clean(text: str) -> str:
    """Without characters that XML 1.0 cannot hold."""
    return "".join(
        one if one.isprintable() or unicodedata.category(one) == "Zs" else "?" for one in text
    )


def _cell(text: str) -> str:
    return _clean(text).replace("|", "\\|")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
