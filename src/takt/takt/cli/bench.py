# SPDX-License-Identifier: Apache-2.0
"""``takt bench``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from rich.status import Status

DEFAULT_ROUNDS = 7


def _show(status: Status, bench: str, text: str) -> None:
    status.update(f"{bench}: {text}")


def bench(
    name: str = typer.Argument(
        ...,
        help="Benchmark: record, record-ros (needs ROS 2), roundtrip, wakeup, preempt, switch, "
        "trace, watch, intra, dispatch, history, analysis, vendors (needs Cyclone DDS), rclcpp "
        "(needs ROS 2's rclcpp), or all; or overheads, which measures input for takt analyse and "
        "simulate, without a verdict.",
    ),
    rounds: int = typer.Option(
        DEFAULT_ROUNDS, min=1, help="Number of rounds; the result is the median over all rounds."
    ),
    as_json: AsJson = False,
) -> None:
    """Measure Takt's own costs, each against a baseline of the same run.

    Run it on an idle machine. Exit code: 0 where every bar holds, else 1.

    Example: takt bench wakeup --rounds 7
    Example: takt bench overheads --json > overheads.json
    """
    from takt.bench import BENCHES, OF_STACK
    from takt.bench.disturbed import Disturbed
    from takt.bench.overheads import overheads
    from takt.bench.show import show, show_overheads
    from takt.cli.output import print_json, stderr, stdout
    from takt.doctor import System
    from takt.errors import TaktError
    from takt.measure.check.plan import choose_core
    from takt.network.stacks import find
    from takt.processes.rivals import Rivals

    here = find()
    names = [
        one
        for one in BENCHES
        if name == one or (name == "all" and OF_STACK.get(one, "raw") in here)
    ] or [name]
    if names[0] not in BENCHES and name != "overheads":
        raise TaktError(
            f"unknown benchmark {name!r}", fix=f"one of {', '.join(BENCHES)}, overheads, or all"
        )
    cpu = choose_core(System()).cpu
    if name == "overheads":
        with stderr().status("") as status:
            rivals, disturbed = Rivals(), Disturbed()
            measured = overheads(rounds, cpu, partial(_show, status, name), disturbed)
        rival = [f"disturbance: {one}" for one in rivals.reported([cpu])]
        for one in [*disturbed.remarks(), *rival]:
            stderr().print(one, style="yellow", markup=False, soft_wrap=True)
        if as_json:
            print_json(measured.model_dump(mode="json"))
        else:
            show_overheads(stdout(), measured)
        return
    holds = True
    documents = []
    with stderr().status("") as status:
        for each in names:
            rivals, disturbed = Rivals(), Disturbed()
            with disturbed.watched():
                result = BENCHES[each](rounds, cpu, partial(_show, status, each))
            result.notes += disturbed.remarks()
            result.notes += [f"disturbance: {one}" for one in rivals.reported([cpu])]
            holds = holds and all(bar.holds for bar in result.bars)
            documents.append(result)
            if not as_json:
                show(stdout(), result)
    if as_json:
        merged = documents[0].model_dump(mode="json")
        if name == "all":
            merged["bench"] = "all"
            for key in ("bars", "tables", "notes"):
                merged[key] = [
                    each for one in documents for each in one.model_dump(mode="json")[key]
                ]
        print_json(merged)
    if not holds:
        raise typer.Exit(1)
