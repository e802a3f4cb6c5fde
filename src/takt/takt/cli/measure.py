# SPDX-License-Identifier: Apache-2.0
"""``takt measure``."""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from takt.cli.options import AsJson, PlanOnly


class Kind(str, Enum):
    """What can be measured."""

    wakeup = "wakeup"
    timer_oneshot = "timer-oneshot"
    timer_cyclic = "timer-cyclic"
    pingpong = "pingpong"
    pubsub = "pubsub"
    ethercat = "ethercat"
    supply = "supply"


class Scheduling(str, Enum):
    """What Linux can do with the measuring threads."""

    other = "other"
    fifo = "fifo"
    rr = "rr"


_DEFAULT_STACKS = {Kind.wakeup: "raw", Kind.ethercat: "ethercat", Kind.supply: "raw"}
Text = Optional[str]  # noqa: UP045 - typer reads it on Python 3.10


def _text(says: str) -> Any:
    return Annotated[Text, typer.Option(help=says)]


def _count(says: str, least: int = 1, most: int | None = None) -> Any:
    return Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=least, max=most, help=says),
    ]


# Options without a default of their own, in the order of the help. A name that is not taken from
# them by name below is that of an experiment file's key.
_OPTIONS = {
    "stack": _text(
        'Communication stack: raw, rcl, ros1, cyclonedds, …; one for each role: "rcl,cyclonedds". '
        "(default: raw for wakeup and supply, ethercat for ethercat, else rcl)"
    ),
    "transport": _text("Transport between the roles. (default: the stack's first)"),
    "executor": _text(
        "Executor (stack rclcpp): single_threaded, multi_threaded, events, events_cbg or takt. "
        "(default: single_threaded)"
    ),
    "payload": _text("Payload size, such as 32KB. (default: 500B)"),
    "content": _text("Message content: bytes or string. (default: bytes)"),
    "rate": _text("Rate, such as 1kHz. (default: 1kHz)"),
    "period": _text(
        "Period, such as 1ms; alternative to --rate. (default of supply: 200ms; each window is "
        "half of it long)"
    ),
    "timeout": _text('Timeout (timer-oneshot): 1ms, or several: "800us,1ms". (default: 1ms)'),
    "wait": _text("Waiting method (timer-oneshot): idle or busy. (default: idle)"),
    "late": _text(
        "Next ping after a late reply (pingpong): at_once or next_cycle. (default: at_once)"
    ),
    "duration": _text("Duration of each repetition. (default: 5s)"),
    "samples": _count("Number of samples of each repetition; alternative to --duration.", 2),
    "start_delay": _text("Wait before the first sample, such as 3s. (default: none)"),
    "scheduling": Annotated[
        Optional[Scheduling],  # noqa: UP045
        typer.Option(
            help="Scheduling policy of the measuring threads: SCHED_OTHER, SCHED_FIFO or SCHED_RR."
            " (default: other; supply: fifo)"
        ),
    ],
    "priority": _count("Real-time priority for fifo and rr. (default: 80)", 1, 98),
    "dds_priority": _text(
        "Priority of DDS threads: one value, or a range: with 70-80, threads on the message path "
        "get 80, others 70. (default: as --priority)"
    ),
    "allocator": _text(
        "Allocator of the client library and the messages (stack rcl): heap or tlsf. (default: "
        "heap)"
    ),
    "cpu": _text(
        'Pin to this CPU; one CPU for each role: "0,1"; of supply, the cores to watch. (default: '
        "none; supply: all)"
    ),
    "threads": _count("Number of threads (wakeup with cyclictest). (default: 1)"),
    "distance": _text("Difference between the periods of two consecutive threads, such as 500us."),
    "subscribers": _count("Number of subscribers (pubsub). (default: 1)"),
    "talkers": _count(
        "Number of additional publisher-subscriber pairs that talk meanwhile (pubsub)."
    ),
    "talker_rate": _text("Rate of each additional pair. (default: 100Hz)"),
    "load": _text(
        "Background load: none, idle (the cell is disturbed if other programs run), cpu (every CPU"
        ' computes); with stress-ng: fft, stress, "stress 2". (default: none)'
    ),
    "host": _text(
        'Host of each role: "here,namespace" puts pong or subscribers behind a link, "here,NAME" '
        "on the worker NAME. (default: here)"
    ),
    "scheduler": _text(
        "Address of a Dask scheduler whose workers serve as hosts: tls://HOST:8786."
    ),
    "link": _text("Bandwidth of the link. (default: 100Mbps)"),
    "queue": _text(
        "Transmit queue of the messages on the link: shared, own with the highest priority, or "
        "limited: the traffic has at most half of the bandwidth. (default: shared)"
    ),
    "traffic": _text(
        "Background traffic on the link in each direction, such as 40Mbps. (default: none)"
    ),
    "delay": _text("Delay of each frame on the link in each direction. (default: 0s)"),
    "jitter": _text("Maximum deviation from the delay, in both directions. (default: 0s)"),
    "loss": _text("Share of frames lost on the link, such as 0.1%. (default: 0%)"),
    "interface": _text(
        "Network interface of the real slaves (ethercat), such as eth1. (default: a simulated "
        "segment)"
    ),
    "slaves": _count(
        "Number of slaves (ethercat). (default: 16 simulated; any number of real ones)", 1, 128
    ),
    "fault": _text(
        "Fault injected into a simulated segment from the middle cycle on: slave_lost, "
        "wrong_counter, silent. (default: none)"
    ),
    "reliability": _text("Reliability of the QoS: reliable or best_effort. (default: reliable)"),
    "durability": _text("Durability of the QoS: volatile or transient_local. (default: volatile)"),
    "history": _text("History of the QoS: keep_last or keep_all. (default: keep_last)"),
    "depth": _count("Depth of the history keep_last. (default: 10)"),
}


def measure(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="wakeup: a plain sleep; timer-oneshot, timer-cyclic: timers of a stack; pingpong: "
            "round trip; pubsub: one way; ethercat: cycle of a master; supply: time "
            "that cores provide."
        ),
    ],
    *,
    repetitions: Annotated[int, typer.Option(min=1, help="Number of repetitions.")] = 3,
    deadline: Annotated[
        Text,
        typer.Option(
            help="Deadline, counted from the planned start; later responses count as missed. "
            "(default: the period; of a one-shot timer its timeout)"
        ),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/KIND-TIME)",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw each histogram as PNG and SVG.")
    ] = False,
    dry_run: PlanOnly = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Measure one thing, a few times.

    Equivalent to an experiment file with one measurement. Timers and pubsub print the same figures
    as the suites of Sticha 2014; a histogram for gnuplot is written next to the samples. supply
    finds how much of its time each core really provides: during half of each period a thread reads
    the clock without a pause, and a gap in what it reads is time that something else had.
    supply.yaml in the results folder is for takt analyse --supply.

    Exit code: 0 measured, 1 failed or stopped, 2 wrong use.

    Example: takt measure timer-oneshot --timeout 1ms --samples 1000 --scheduling rr --priority 80
    """
    from takt.cli import session as shared
    from takt.errors import TaktError
    from takt.measure.experiment.file import Source, check
    from takt.measure.run import session as sessions

    watches = kind is Kind.supply
    stack, scheduler, priority = (options.pop(one) for one in ("stack", "scheduler", "priority"))
    scheduling = options.pop("scheduling") or (Scheduling.fifo if watches else Scheduling.other)
    if scheduling is Scheduling.other and priority:
        raise TaktError(
            "scheduling policy other has no priority",
            where="--priority",
            fix="add --scheduling fifo, or omit the priority",
        )
    at = "" if scheduling is Scheduling.other else f" {priority or 80}"
    timeout = options["timeout"]
    options["timeout"] = [one.strip() for one in timeout.split(",")] if timeout else None
    if watches:
        options["cpu"] = _cores(options["cpu"])
    measurement = {
        "kind": kind.value,
        "stack": stack or _DEFAULT_STACKS.get(kind, "rcl"),
        "scheduling": f"{scheduling.value}{at}",
    } | {key: value for key, value in options.items() if value is not None}
    source = Source()
    experiment = check(
        {
            "name": kind.value,
            "repetitions": repetitions,
            "measurements": [measurement],
        }
        | ({"deadline": deadline} if deadline else {}),
        source,
    )
    with shared.workers(scheduler) as workers:
        plan = sessions.make_plan(experiment, source, workers=workers)
        if dry_run:
            shared.show_plan(plan, as_json=as_json)
            return
        session = sessions.start(experiment, plan, out, workers)
        shared.run_and_show(session, as_json=as_json, plot=plot)


def _cores(text: str | None) -> list[str]:
    """Those to watch, one after the other; by default all that this process may use."""
    if text is not None:
        return [one.strip() for one in text.split(",")]
    from takt.measure.experiment.plan import this_machine

    return [str(cpu) for cpu in sorted(this_machine().cpus)]


def _signature() -> inspect.Signature:
    """What typer reads of the command: the table's options behind the kind."""
    kind, *others = inspect.signature(measure, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(name, keyword, default=None, annotation=hint)
        for name, hint in _OPTIONS.items()
    ]
    return inspect.Signature([kind, *options, *others[:-1]])


# typing.get_type_hints, which typer asks as well, reads the annotations.
measure.__signature__ = _signature()  # type: ignore[attr-defined]
measure.__annotations__ = {
    one.name: one.annotation
    for one in measure.__signature__.parameters.values()  # type: ignore[attr-defined]
}
