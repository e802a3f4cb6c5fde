# SPDX-License-Identifier: Apache-2.0
"""An explanation for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from takt.explain.model import Explanation, Kind, Miss

SHOWN = 10  # misses on the terminal: those that were latest
_SMALL = 0.01  # of a response: what is told on the terminal at least


def show(console: Console, explanation: Explanation) -> None:
    """Prints causes by callback, and the misses that were latest."""
    head = f"{explanation.misses} of {explanation.executions} executions missed their deadline"
    console.print(head, markup=False)
    if not explanation.misses:
        return
    causes = list(explanation.by_cause)
    table = Table(box=None, pad_edge=False)
    table.add_column("callback", overflow="fold", min_width=12)
    for name in ("misses", *(cause.value for cause in causes)):
        table.add_column(name, justify="right")
    for one in explanation.callbacks:
        cells = [str(one.by_cause.get(cause, "")) for cause in causes]
        table.add_row(Text(one.callback), str(one.misses), *cells)
    console.print(table)
    latest = sorted(explanation.details, key=lambda miss: -miss.late_us)[:SHOWN]
    console.print(f"\nThe {len(latest)} latest:", markup=False)
    for miss in latest:
        _show(console, miss)


def sentence(miss: Miss) -> str:
    """What happened, in one line."""
    cause = label(miss.cause, miss.by)
    if miss.cause is Kind.executed:
        cause = "executed as declared: its deadline is too short"
    return (
        f"{miss.callback}[{miss.job}] ended {miss.late_us / 1000:.3f} ms late "
        f"(response {miss.end_us / 1000:.3f} ms): {cause}"
    )


def label(kind: Kind, by: str | None) -> str:
    """A share's name."""
    if by is None:
        return kind.value
    between = {Kind.preempted: " by ", Kind.not_scheduled: ", nor was "}.get(kind, " ")
    return f"{kind.value}{between}{by}"


def _show(console: Console, miss: Miss) -> None:
    console.print(sentence(miss), markup=False, soft_wrap=True)
    for share in miss.shares:
        if share.us < _SMALL * miss.end_us:
            continue
        text = f"  {share.us / 1000:9.3f} ms  {label(share.kind, share.by)}: {share.evidence}"
        console.print(text, markup=False, soft_wrap=True)
    for fault in miss.inputs:
        console.print(f"                data  {fault}", markup=False, soft_wrap=True)
