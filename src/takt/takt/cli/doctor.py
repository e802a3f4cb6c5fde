# SPDX-License-Identifier: Apache-2.0
"""``takt doctor``."""

from __future__ import annotations

import typer

from takt.cli.options import AsJson


def doctor(
    as_json: AsJson = False,
) -> None:
    """Find what prevents real time on this machine, and print how to fix it.

    Checks kernel, privileges, power saving, isolation, memory, clocks and load; changes nothing.
    Exit code: 0 for no problem found, 1 for at least one problem.

    Example: takt doctor
    """
    from rich.text import Text

    from takt import doctor as machine
    from takt.cli.output import print_json, stdout
    from takt.doctor.finding import Severity
    from takt.doctor.show import count, print_prose, show, tuned_by

    system = machine.System()
    findings = machine.findings(system)
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "findings": [finding.model_dump(mode="json") for finding in findings],
                "fingerprint": machine.fingerprint(system),
            }
        )
    else:
        console = stdout()
        show(console, findings)
        console.print(f"\n{count(findings)}.")
        if hint := tuned_by(findings):
            print_prose(console, Text(hint), indent=0)
    if any(finding.severity is Severity.problem for finding in findings):
        raise typer.Exit(1)
