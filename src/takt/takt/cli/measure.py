# SPDX-License-Identifier: Apache-2.0
"""``takt measure``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer


class Kind(str, Enum):
    """What can be measured."""

    wakeup = "wakeup"
    pingpong = "pingpong"
    pubsub = "pubsub"


class Policy(str, Enum):
    """The scheduling policies of Linux that a probe can take."""

    other = "other"
    fifo = "fifo"
    rr = "rr"


Text = Optional[str]  # noqa: UP045 - typer reads it on Python 3.10


def measure(
    kind: Annotated[Kind, typer.Argument(help="wakeup: a bare timer; pingpong; pubsub.")],
    stack: Annotated[
        Text, typer.Option(help="raw, rcl, … (default: raw for wakeup, else rcl)")
    ] = None,
    transport: Annotated[
        Text, typer.Option(help="Way between the roles. (default: the stack's first)")
    ] = None,
    payload: Annotated[Text, typer.Option(help="Such as 32KB. (default: 500B)")] = None,
    rate: Annotated[Text, typer.Option(help="Such as 1kHz. (default: 1kHz)")] = None,
    period: Annotated[Text, typer.Option(help="Such as 1ms; instead of a rate.")] = None,
    duration: Annotated[str, typer.Option(help="Of each repetition.")] = "5s",
    policy: Annotated[Policy, typer.Option(help="Scheduling policy.")] = Policy.other,
    priority: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=98, help="For fifo and rr. (default: 80)"),
    ] = None,
    cpu: Annotated[
        Text, typer.Option(help='Pin to this CPU; "0,1": one for each role. (default: none)')
    ] = None,
    subscribers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="For pubsub. (default: 1)"),
    ] = None,
    reliability: Annotated[
        Text, typer.Option(help="reliable or best_effort. (default: reliable)")
    ] = None,
    depth: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="History of the QoS. (default: 10)"),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="How often.")] = 3,
    deadline: Annotated[str, typer.Option(help="Later responses are counted.")] = "10ms",
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Results folder. (default: results/KIND-TIME)", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and its time; measure nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on standard output.")
    ] = False,
) -> None:
    """Measure one thing, a few times.

    The same as an experiment file with one measurement.

    Exit code: 0 measured, 1 failed or stopped, 2 wrong use.

    Example: takt measure wakeup --policy fifo --priority 80 --cpu 1
    """
    from takt.cli import session as shared
    from takt.errors import TaktError
    from takt.experiment.load import Source, check
    from takt.run import session as sessions

    if policy is Policy.other and priority:
        raise TaktError(
            "the policy other has no priority",
            where="--priority",
            remedy="add --policy fifo, or leave the priority out",
        )
    scheduling = "other" if policy is Policy.other else f"{policy.value} {priority or 80}"
    axes: dict[str, Any] = {
        "transport": transport,
        "payload": payload,
        "rate": rate,
        "period": period,
        "cpu": cpu,
        "subscribers": subscribers,
        "reliability": reliability,
        "depth": depth,
    }
    measurement = {
        "kind": kind.value,
        "stack": stack or ("raw" if kind is Kind.wakeup else "rcl"),
        "scheduling": scheduling,
    } | {key: value for key, value in axes.items() if value is not None}
    source = Source()
    experiment = check(
        {
            "name": kind.value,
            "repetitions": repetitions,
            "duration": duration,
            "deadline": deadline,
            "measurements": [measurement],
        },
        source,
    )
    plan = sessions.make_plan(experiment, source)
    if dry_run:
        shared.show_plan(plan, as_json=as_json)
        return
    shared.measure(sessions.start(experiment, plan, out), as_json=as_json)
