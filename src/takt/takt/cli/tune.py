# SPDX-License-Identifier: Apache-2.0
"""``takt tune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from takt.machine.writable import WritableSystem
    from takt.tune.outcome import Outcome, PlaceOutcome


def tune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the changes without applying them. (default)")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply the changes; record the previous values first.")
    ] = False,
    revert: Annotated[
        bool, typer.Option("--revert", help="Restore all recorded previous values.")
    ] = False,
    without: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(metavar="SETTING", help="Do not change this setting; may be repeated."),
    ] = None,
    review: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Write recommended boot parameters and kernel configuration to a file for review; "
            "change nothing.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Apply real-time settings to this machine, and revert them.

    Covers all settings that doctor checks and that a running system can change: scheduling of
    kernel threads, interrupts, real-time throttling, power saving, memory, buffers, limits. Before
    a change, the previous value is recorded in /var/lib/takt/tune.json; --revert restores it byte
    for byte, even after a crash. Unreadable settings are left unchanged. A reboot resets everything
    except the limits file.

    Exit code: 0 done, 1 the machine or this user's rights refuse a change, 2 wrong use.

    Example: takt tune --apply --without swap
    """
    from takt.errors import TaktError

    if dry_run + apply + revert > 1:
        raise TaktError(
            "--dry-run, --apply and --revert exclude each other", fix="give only one of them"
        )
    if without and revert:
        raise TaktError("--revert restores all settings", fix="omit --without")

    from takt.machine.writable import WritableSystem

    machine = WritableSystem()
    if review is not None:
        _review(machine, review)
        if not (dry_run or apply or revert or as_json):
            return
    outcome = _revert(machine) if revert else _apply(machine, without or [], dry_run=not apply)
    if as_json:
        from takt.cli.output import print_json

        print_json(outcome.model_dump(mode="json"))
    else:
        _show(outcome, without or [])
    refused = not outcome.privileged and (outcome.mode != "revert" or outcome.recorded)
    if refused and (outcome.places or outcome.recorded):
        _advise_unprivileged(outcome.mode)
        raise typer.Exit(1)
    if not outcome.holds():
        raise typer.Exit(1)


def _review(machine: WritableSystem, file: Path) -> None:
    from takt.cli.output import stderr
    from takt.documents.writing import write_text
    from takt.tune import review

    write_text(file, review.text(machine))
    stderr().print(f"to review: {file}", markup=False, soft_wrap=True)


def _apply(machine: WritableSystem, without: list[str], *, dry_run: bool) -> Outcome:
    from takt.errors import Failure
    from takt.tune.apply import apply as change
    from takt.tune.apply import outcome, outcome_unread
    from takt.tune.changes import find_changes
    from takt.tune.journal import may_record

    if not dry_run and may_record(machine):
        try:
            return _outcome(machine, "apply", change(machine, without))
        except KeyboardInterrupt:
            fix = "revert the changes: sudo ./takt tune --revert"
            raise Failure("stopped half-way", fix=fix) from None
    found = find_changes(machine, without)
    places = [outcome(one, "planned") for one in found.changes]
    return _outcome(machine, "dry-run", [*places, *map(outcome_unread, found.unread)])


def _revert(machine: WritableSystem) -> Outcome:
    from takt.tune.journal import may_record
    from takt.tune.revert import revert

    return _outcome(machine, "revert", revert(machine) if may_record(machine) else [])


def _outcome(machine: WritableSystem, mode: str, places: Sequence[PlaceOutcome]) -> Outcome:
    from takt.tune import journal
    from takt.tune.outcome import SCHEMA_VERSION, Outcome

    recorded = journal.load(machine)
    return Outcome.model_validate(
        {
            "schema_version": SCHEMA_VERSION,
            "mode": mode,
            "privileged": journal.may_record(machine),
            "places": places,
            "recorded": len(recorded.entries) if recorded else 0,
        }
    )


def _show(outcome: Outcome, without: Sequence[str]) -> None:
    from takt.cli.output import stdout
    from takt.tune.show import count, show

    console = stdout()
    if outcome.places:
        show(console, outcome.places, why=outcome.mode != "revert")
        console.print(f"\n{count(outcome.places)}.")
    elif outcome.mode != "revert":
        console.print(nothing_left(without), soft_wrap=True)
    elif not outcome.recorded:
        console.print("No recorded changes; nothing to revert.")
    if outcome.recorded and outcome.mode != "revert":
        line = (
            f"{outcome.recorded} settings are changed and recorded; to revert: takt tune --revert"
        )
        console.print(line, soft_wrap=True)


def nothing_left(without: Sequence[str]) -> str:
    """Where no place is to be changed; what was left out was not looked at."""
    if not without:
        return "Nothing to change: all settings have their recommended values."
    left = ", ".join(without)
    return f"Nothing else to change; skipped: {left}."


def _advise_unprivileged(mode: str) -> None:
    from takt.cli.output import stderr

    asked = "--revert" if mode == "revert" else "--apply"
    line = f"Nothing was changed: permission denied. Run: sudo ./takt tune {asked}"
    stderr().print(line, soft_wrap=True)
