# SPDX-License-Identifier: Apache-2.0
"""A verdict for continuous integration: JUnit XML, Markdown, and GitHub's annotations.

JUnit knows passed, failed and skipped: an undecided limit is skipped, with its reason.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from takt.judge import words
from takt.judge.model import Outcome, Verdict


def junit(verdicts: Sequence[Verdict]) -> str:
    """One test suite a trace, one test case a limit."""
    root = ET.Element("testsuites")
    for verdict in verdicts:
        counts = {
            "tests": len(verdict.judgements),
            "failures": len(verdict.of(Outcome.fails)),
            "skipped": len(verdict.of(Outcome.undecided)),
        }
        attributes = {key: str(value) for key, value in counts.items()}
        suite = ET.SubElement(root, "testsuite", {"name": _clean(verdict.trace), **attributes})
        for one in verdict.judgements:
            name = f"{one.subject}, {one.quantity.value}"
            case = ET.SubElement(suite, "testcase", classname="takt.gate", name=_clean(name))
            message = _clean(words.details(one))
            if one.outcome is Outcome.fails:
                ET.SubElement(case, "failure", message=message)
            elif one.outcome is Outcome.undecided:
                ET.SubElement(case, "skipped", message=message)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def markdown(verdicts: Sequence[Verdict]) -> str:
    """A table a trace, for a pull request or a job summary."""
    lines: list[str] = []
    for verdict in verdicts:
        lines += [f"### {_cell(words.summary(verdict))}", ""]
        lines += [
            "| of | quantity | limit | worst | exceed | outcome |",
            "|---|---|---|---|---|---|",
        ]
        for one in verdict.judgements:
            worst = "" if one.worst_us is None else words.milliseconds(one.worst_us)
            cells = (
                one.subject,
                one.quantity.value,
                words.limit(one),
                worst,
                f"{one.exceeded:,} of {one.count:,}",
                f"**{one.outcome.value}**" if one.outcome is Outcome.fails else one.outcome.value,
            )
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        lines += ["", *(f"- {_cell(remark)}" for remark in verdict.remarks), ""]
    return "\n".join(lines)


def workflow_commands(verdicts: Sequence[Verdict]) -> list[str]:
    """GitHub's workflow commands: an error for a failure, a warning for what is undecided."""
    lines = []
    for verdict in verdicts:
        for outcome, command in ((Outcome.fails, "error"), (Outcome.undecided, "warning")):
            lines += [
                f"::{command} title={_property(one.subject)}, {one.quantity.value}::"
                f"{_data(words.details(one))}"
                for one in verdict.of(outcome)
            ]
    return lines


def _clean(text: str) -> str:
    """Without characters that XML 1.0 cannot hold."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _cell(text: str) -> str:
    return _clean(text).replace("|", "\\|")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
