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


class Scheduling(str, Enum):
    """What Linux can do with the measuring threads."""

    other = "other"
    fifo = "fifo"
    rr = "rr"


_DEFAULT_STACKS = {Kind.wakeup: "raw", Kind.ethercat: "ethercat"}
Text = Optional[str]  # noqa: UP045 - typer reads it on Python 3.10


def measure(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="wakeup: a bare sleep; timer-oneshot and timer-cyclic: a stack's timers; "
            "pingpong: a round trip; pubsub: one way; ethercat: a master's cycle."
        ),
    ],
    stack: Annotated[
        Text,
        typer.Option(
            help='raw, rcl, ros1, cyclonedds, …; of each role: "rcl,cyclonedds". '
            "(default: raw for wakeup, ethercat for ethercat, else rcl)"
        ),
    ] = None,
    transport: Annotated[
        Text, typer.Option(help="Way between the roles. (default: the stack's first)")
    ] = None,
    executor: Annotated[
        Text,
        typer.Option(
            help="For the stack rclcpp: single_threaded, multi_threaded, events, events_cbg or "
            "takt. (default: single_threaded)"
        ),
    ] = None,
    payload: Annotated[Text, typer.Option(help="Such as 32KB. (default: 500B)")] = None,
    content: Annotated[Text, typer.Option(help="bytes or string. (default: bytes)")] = None,
    rate: Annotated[Text, typer.Option(help="Such as 1kHz. (default: 1kHz)")] = None,
    period: Annotated[Text, typer.Option(help="Such as 1ms; instead of a rate.")] = None,
    timeout: Annotated[
        Text, typer.Option(help='For timer-oneshot: "1ms", or several: "800us,1ms". (default: 1ms)')
    ] = None,
    wait: Annotated[Text, typer.Option(help="For timer-oneshot: idle or busy. (default: idle)")] = (
        None
    ),
    late: Annotated[
        Text,
        typer.Option(
            help="For pingpong: after a late reply, at_once or next_cycle. (default: at_once)"
        ),
    ] = None,
    duration: Annotated[Text, typer.Option(help="Of each repetition. (default: 5s)")] = None,
    samples: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=2, help="Of each repetition, instead of a duration."),
    ] = None,
    start_delay: Annotated[
        Text, typer.Option(help="Before the first sample, such as 3s. (default: none)")
    ] = None,
    scheduling: Annotated[
        Scheduling, typer.Option(help="Of the measuring threads, by the kernel.")
    ] = Scheduling.other,
    priority: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=98, help="For fifo and rr. (default: 80)"),
    ] = None,
    dds_priority: Annotated[
        Text,
        typer.Option(
            help="Of the threads that a DDS starts: 75; 70-80: 80 where messages pass, 70 "
            "elsewhere. (default: as --priority)"
        ),
    ] = None,
    allocator: Annotated[
        Text,
        typer.Option(
            help="For the stack rcl, of its memory and the messages: heap or tlsf. (default: heap)"
        ),
    ] = None,
    cpu: Annotated[
        Text, typer.Option(help='Pin to this CPU; "0,1": one for each role. (default: none)')
    ] = None,
    threads: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="For wakeup of cyclictest: how many at once. (default: 1)"),
    ] = None,
    distance: Annotated[
        Text,
        typer.Option(help="From the period of one of them to that of the next, such as 500us."),
    ] = None,
    subscribers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="For pubsub. (default: 1)"),
    ] = None,
    talkers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="For pubsub: pairs of other nodes that talk at the same time."),
    ] = None,
    talker_rate: Annotated[
        Text, typer.Option(help="Of each of these pairs. (default: 100Hz)")
    ] = None,
    load: Annotated[
        Text,
        typer.Option(
            help="Meanwhile: none, cpu (every CPU computes); by stress-ng: fft, stress, "
            '"stress 2". (default: none)'
        ),
    ] = None,
    host: Annotated[
        Text,
        typer.Option(
            help='Of each role: "here,namespace" puts pong or subscribers behind a link, '
            '"here,NAME" on the worker of that name. (default: here)'
        ),
    ] = None,
    scheduler: Annotated[
        Text, typer.Option(help="A Dask scheduler, tls://HOST:8786, whose workers are hosts.")
    ] = None,
    link: Annotated[Text, typer.Option(help="Of that link. (default: 100Mbps)")] = None,
    queue: Annotated[
        Text,
        typer.Option(
            help="Of the messages on it: shared, or own, which leaves first. (default: shared)"
        ),
    ] = None,
    traffic: Annotated[
        Text, typer.Option(help="On that link meanwhile, each way: such as 40Mbps. (default: none)")
    ] = None,
    delay: Annotated[
        Text, typer.Option(help="Of each frame on that link, each way. (default: 0s)")
    ] = None,
    jitter: Annotated[Text, typer.Option(help="Of this delay, up and down. (default: 0s)")] = None,
    loss: Annotated[
        Text, typer.Option(help="Of the frames on that link, such as 0.1%. (default: 0%)")
    ] = None,
    interface: Annotated[
        Text,
        typer.Option(
            help="For ethercat: where real slaves are, such as eth1. (default: a simulated segment)"
        ),
    ] = None,
    slaves: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1, max=128, help="For ethercat. (default: 16 simulated; any number of real ones)"
        ),
    ] = None,
    fault: Annotated[
        Text,
        typer.Option(
            help="For a simulated segment, from the middle cycle on: slave_lost, wrong_counter, "
            "silent. (default: none)"
        ),
    ] = None,
    reliability: Annotated[
        Text, typer.Option(help="reliable or best_effort. (default: reliable)")
    ] = None,
    durability: Annotated[
        Text,
        typer.Option(help="Of the QoS: volatile or transient_local. (default: volatile)"),
    ] = None,
    history: Annotated[
        Text, typer.Option(help="Of the QoS: keep_last or keep_all. (default: keep_last)")
    ] = None,
    depth: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Of the history keep_last. (default: 10)"),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="How often.")] = 3,
    deadline: Annotated[
        Text,
        typer.Option(
            help="Later responses are counted, from the planned start. (default: the period; of a "
            "one-shot timer its timeout)"
        ),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Results folder. (default: results/KIND-TIME)", show_default=False),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Also draw each histogram, as PNG and SVG.")
    ] = False,
    dry_run: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Measure one thing, a few times.

    The same as an experiment file with one measurement. Timers and pubsub print what the suites of
    Sticha 2014 print; beside the samples lies a histogram that gnuplot plots.

    Exit code: 0 measured, 1 failed or stopped, 2 wrong use.

    Example: takt measure timer-oneshot --timeout 1ms --samples 1000 --scheduling rr --priority 80
    """
    from takt.cli import session as shared
    from takt.errors import TaktError
    from takt.measure.experiment.file import Source, check
    from takt.measure.run import session as sessions

    if scheduling is Scheduling.other and priority:
        raise TaktError(
            "other has no priority",
            where="--priority",
            remedy="add --scheduling fifo, or leave the priority out",
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
        "cpu": cpu,
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
        shared.measure(session, as_json=as_json, plot=plot)
