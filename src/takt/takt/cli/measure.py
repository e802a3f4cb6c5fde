# SPDX-License-Identifier: Apache-2.0
"""``takt measure``."""

from __future__ import annotations

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


def measure(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="wakeup: a plain sleep; timer-oneshot, timer-cyclic: timers of a stack; pingpong: "
            "round trip; pubsub: one way; ethercat: cycle of a master; supply: time "
            "that cores provide."
        ),
    ],
    stack: Annotated[
        Text,
        typer.Option(
            help="Communication stack: raw, rcl, ros1, cyclonedds, …; one for each role: "
            '"rcl,cyclonedds". (default: raw for wakeup and supply, ethercat for ethercat, else '
            "rcl)"
        ),
    ] = None,
    transport: Annotated[
        Text, typer.Option(help="Transport between the roles. (default: the stack's first)")
    ] = None,
    executor: Annotated[
        Text,
        typer.Option(
            help="Executor (stack rclcpp): single_threaded, multi_threaded, events, events_cbg or "
            "takt. (default: single_threaded)"
        ),
    ] = None,
    payload: Annotated[
        Text, typer.Option(help="Payload size, such as 32KB. (default: 500B)")
    ] = None,
    content: Annotated[
        Text, typer.Option(help="Message content: bytes or string. (default: bytes)")
    ] = None,
    rate: Annotated[Text, typer.Option(help="Rate, such as 1kHz. (default: 1kHz)")] = None,
    period: Annotated[
        Text,
        typer.Option(
            help="Period, such as 1ms; alternative to --rate. (default of supply: 200ms; each "
            "window is half of it long)"
        ),
    ] = None,
    timeout: Annotated[
        Text,
        typer.Option(help='Timeout (timer-oneshot): 1ms, or several: "800us,1ms". (default: 1ms)'),
    ] = None,
    wait: Annotated[
        Text, typer.Option(help="Waiting method (timer-oneshot): idle or busy. (default: idle)")
    ] = None,
    late: Annotated[
        Text,
        typer.Option(
            help="Next ping after a late reply (pingpong): at_once or next_cycle. "
            "(default: at_once)"
        ),
    ] = None,
    duration: Annotated[
        Text, typer.Option(help="Duration of each repetition. (default: 5s)")
    ] = None,
    samples: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=2, help="Number of samples of each repetition; alternative to --duration."
        ),
    ] = None,
    start_delay: Annotated[
        Text, typer.Option(help="Wait before the first sample, such as 3s. (default: none)")
    ] = None,
    scheduling: Annotated[
        Optional[Scheduling],  # noqa: UP045
        typer.Option(
            help="Scheduling policy of the measuring threads: SCHED_OTHER, SCHED_FIFO or SCHED_RR. "
            "(default: other; supply: fifo)"
        ),
    ] = None,
    priority: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=98, help="Real-time priority for fifo and rr. (default: 80)"),
    ] = None,
    dds_priority: Annotated[
        Text,
        typer.Option(
            help="Priority of DDS threads: one value, or a range: with 70-80, threads on the "
            "message path get 80, others 70. (default: as --priority)"
        ),
    ] = None,
    allocator: Annotated[
        Text,
        typer.Option(
            help="Allocator of the client library and the messages (stack rcl): heap or tlsf. "
            "(default: heap)"
        ),
    ] = None,
    cpu: Annotated[
        Text,
        typer.Option(
            help='Pin to this CPU; one CPU for each role: "0,1"; of supply, the cores to watch. '
            "(default: none; supply: all)"
        ),
    ] = None,
    threads: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Number of threads (wakeup with cyclictest). (default: 1)"),
    ] = None,
    distance: Annotated[
        Text,
        typer.Option(
            help="Difference between the periods of two consecutive threads, such as 500us."
        ),
    ] = None,
    subscribers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Number of subscribers (pubsub). (default: 1)"),
    ] = None,
    talkers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1,
            help="Number of additional publisher-subscriber pairs that talk meanwhile (pubsub).",
        ),
    ] = None,
    talker_rate: Annotated[
        Text, typer.Option(help="Rate of each additional pair. (default: 100Hz)")
    ] = None,
    load: Annotated[
        Text,
        typer.Option(
            help="Background load: none, idle (the cell is disturbed if other programs run), cpu "
            '(every CPU computes); with stress-ng: fft, stress, "stress 2". (default: none)'
        ),
    ] = None,
    host: Annotated[
        Text,
        typer.Option(
            help='Host of each role: "here,namespace" puts pong or subscribers behind a link, '
            '"here,NAME" on the worker NAME. (default: here)'
        ),
    ] = None,
    scheduler: Annotated[
        Text,
        typer.Option(
            help="Address of a Dask scheduler whose workers serve as hosts: tls://HOST:8786."
        ),
    ] = None,
    link: Annotated[Text, typer.Option(help="Bandwidth of the link. (default: 100Mbps)")] = None,
    queue: Annotated[
        Text,
        typer.Option(
            help="Transmit queue of the messages on the link: shared, own with the highest "
            "priority, or limited: the traffic has at most half of the bandwidth. (default: shared)"
        ),
    ] = None,
    traffic: Annotated[
        Text,
        typer.Option(
            help="Background traffic on the link in each direction, such as 40Mbps. (default: none)"
        ),
    ] = None,
    delay: Annotated[
        Text, typer.Option(help="Delay of each frame on the link in each direction. (default: 0s)")
    ] = None,
    jitter: Annotated[
        Text,
        typer.Option(help="Maximum deviation from the delay, in both directions. (default: 0s)"),
    ] = None,
    loss: Annotated[
        Text, typer.Option(help="Share of frames lost on the link, such as 0.1%. (default: 0%)")
    ] = None,
    interface: Annotated[
        Text,
        typer.Option(
            help="Network interface of the real slaves (ethercat), such as eth1. (default: a "
            "simulated segment)"
        ),
    ] = None,
    slaves: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1,
            max=128,
            help="Number of slaves (ethercat). (default: 16 simulated; any number of real ones)",
        ),
    ] = None,
    fault: Annotated[
        Text,
        typer.Option(
            help="Fault injected into a simulated segment from the middle cycle on: slave_lost, "
            "wrong_counter, silent. (default: none)"
        ),
    ] = None,
    reliability: Annotated[
        Text,
        typer.Option(help="Reliability of the QoS: reliable or best_effort. (default: reliable)"),
    ] = None,
    durability: Annotated[
        Text,
        typer.Option(
            help="Durability of the QoS: volatile or transient_local. (default: volatile)"
        ),
    ] = None,
    history: Annotated[
        Text, typer.Option(help="History of the QoS: keep_last or keep_all. (default: keep_last)")
    ] = None,
    depth: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Depth of the history keep_last. (default: 10)"),
    ] = None,
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
    scheduling = scheduling or (Scheduling.fifo if watches else Scheduling.other)
    if scheduling is Scheduling.other and priority:
        raise TaktError(
            "scheduling policy other has no priority",
            where="--priority",
            fix="add --scheduling fifo, or omit the priority",
        )
    at = "" if scheduling is Scheduling.other else f" {priority or 80}"
    axes: dict[str, Any] = {
        "transport": transport,
        "executor": executor,
        "payload": payload,
        "content": content,
        "rate": rate,
        "period": period,
        "timeout": [one.strip() for one in timeout.split(",")] if timeout else None,
        "wait": wait,
        "late": late,
        "samples": samples,
        "duration": duration,
        "start_delay": start_delay,
        "dds_priority": dds_priority,
        "allocator": allocator,
        "cpu": _cores(cpu) if watches else cpu,
        "threads": threads,
        "distance": distance,
        "subscribers": subscribers,
        "load": load,
        "host": host,
        "link": link,
        "queue": queue,
        "traffic": traffic,
        "delay": delay,
        "jitter": jitter,
        "loss": loss,
        "talkers": talkers,
        "talker_rate": talker_rate,
        "reliability": reliability,
        "durability": durability,
        "history": history,
        "depth": depth,
        "interface": interface,
        "slaves": slaves,
        "fault": fault,
    }
    measurement = {
        "kind": kind.value,
        "stack": stack or _DEFAULT_STACKS.get(kind, "rcl"),
        "scheduling": f"{scheduling.value}{at}",
    } | {key: value for key, value in axes.items() if value is not None}
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
