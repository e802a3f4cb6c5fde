# SPDX-License-Identifier: Apache-2.0
"""Takt's executor for rclcpp nodes against rclcpp's own, with the same unmodified nodes.

Everything of a process is at one SCHED_FIFO priority on one core. What is a ratio is against the
best of the others: the highest median of the ratios to each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from takt.bench import pairs, programs
from takt.bench.model import Bar, Bench, Table, interleaved, median, median_ratio
from takt.network import stacks, transport
from takt.network.domain import own_domain
from takt.network.rmw import RCLCPP
from takt.processes.scratch import temporary

PROGRAM = "bench_rclcpp"
PAIR = "pair"  # not a mode of the program: two processes of the probe
TAKT = "takt"
PEERS = ("single_threaded", "multi_threaded", "events", "events_cbg")
CALLBACKS = (1, 10, 50, 200)
DURATION_MS = 500  # fifty releases of each timer
ROUND_TRIPS_MS = 300  # a closed loop, which leaves nothing to others
BURNS_MS = 3000
NODES = 51

TIMERS, BY_POINTER, BY_MIDDLEWARE, ROUND_TRIP = 0.75, 0.9, 1.0, 0.9
BETWEEN_PROCESSES = 1.02  # where the middleware takes nearly all of the time
WAKEUP, LOST_CALLS = 1.5, 0.01  # of 300 calls one or two may fall on the window's edges
START_MS, ADDED_MS, CHURN_MS, SHUTDOWN_MS = 5.0, 2.0, 5.0, 2.0

Rounds = dict[str, list[dict[str, float]]]


@dataclass(frozen=True)
class Case:
    """One measurement that every executor does."""

    title: str
    mode: str
    options: Mapping[str, object]
    figures: tuple[str, ...]
    bar: str | None = None  # which of the figures is a ratio with a limit
    limit: float = 0.0


_CALLBACKS = ("cpu_us_per_callback", "p50_us", "p99_us", "executed_share")
_TRIPS = ("p50_us", "p99_us")
_LIFE = ("start_ms", "added_ms", "added_max_ms", "churn_ms", "churn_cpu_ms", "shutdown_ms")
BETWEEN = Case(
    f"round trip of {pairs.PAYLOAD} B between two processes over UDP",
    PAIR,
    {},
    _TRIPS,
    "p50_us",
    BETWEEN_PROCESSES,
)
BURNS = Case(
    "timer of 100 Hz while another callback burns 20 ms of every 50 ms",
    "burns",
    {"duration_ms": BURNS_MS},
    ("p50_us", "p99_us", "calls_share"),
)
LIFE = Case(f"with {NODES} nodes", "life", {"nodes": NODES}, _LIFE)
LIFE_OF_ONE = Case("with one node", "life", {"nodes": 1}, _LIFE)


def cases() -> list[Case]:
    """What is compared."""
    of_timers = [
        Case(
            f"{callbacks} timer{'s' * (callbacks > 1)}, {'spread' if spread else 'aligned'}",
            "timers",
            {"callbacks": callbacks, "spread": spread, "duration_ms": DURATION_MS},
            _CALLBACKS,
            "cpu_us_per_callback",
            TIMERS,
        )
        for spread in (False, True)
        for callbacks in CALLBACKS
        if callbacks > 1 or not spread
    ]
    of_messages = [
        Case(
            f"{CALLBACKS[-1]} callbacks, half of them subscriptions, {how}",
            "messages",
            {"callbacks": CALLBACKS[-1], "intra_process": intra, "duration_ms": DURATION_MS},
            _CALLBACKS,
            "cpu_us_per_callback",
            limit,
        )
        for intra, how, limit in (
            (True, "by pointer", BY_POINTER),
            (False, "through the middleware", BY_MIDDLEWARE),
        )
    ]
    round_trip = Case(
        "round trip of 500 B by pointer",
        "pingpong",
        {"payload": 500, "duration_ms": ROUND_TRIPS_MS},
        _TRIPS,
        "p50_us",
        ROUND_TRIP,
    )
    return [*of_timers, *of_messages, round_trip, BETWEEN, BURNS, LIFE, LIFE_OF_ONE]


def rclcpp(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """Costs, lateness, round trips, preemption, and what comes and goes."""
    peers = [name for name in PEERS if name in executors()]
    compared = cases()
    bare = Case("bare wake-up", "wakeup", {"duration_ms": BURNS_MS}, _TRIPS)
    with own_domain() as domain:
        variants: dict[str, Callable[[], dict[str, float]]] = {
            _name(case, executor): partial(_measure, case, executor, cpu, domain)
            for case in compared
            for executor in (*peers, TAKT)
        }
        variants[bare.title] = partial(_measure, bare, TAKT, cpu, domain)
        measured = interleaved(variants, rounds, seed=1, progress=progress)
    bars = [_against_best(case, case.bar, peers, measured) for case in compared if case.bar]
    bars += [*_under_burns(measured, bare), *_of_life(measured, peers)]
    tables = [_table(case, peers, measured) for case in compared]
    absent = [name for name in PEERS if name not in peers]
    return Bench(
        bench="rclcpp",
        rounds=rounds,
        bars=bars,
        tables=tables,
        notes=[f"this rclcpp has no executor {name}: not compared" for name in absent],
    )


def executors() -> Sequence[str]:
    """The executors that this rclcpp has; raises Failure where there is none."""
    program = stacks.program(PROGRAM, stacks.HOW_TO_GET_RCLCPP)
    names: list[str] = programs.document([program, "executors"])["executors"]
    return names


def _name(case: Case, executor: str) -> str:
    return f"{case.title}, {executor}"


def _measure(case: Case, executor: str, cpu: int, domain: int) -> dict[str, float]:
    if case.mode == PAIR:
        return _between(executor, cpu, domain)
    answer = programs.figures(
        PROGRAM, case.mode, executor=executor, cpu=cpu, domain=domain, **case.options
    )
    return {figure: float(answer[figure]) for figure in case.figures}


def _between(executor: str, cpu: int, domain: int) -> dict[str, float]:
    with temporary() as folder:
        profile = folder / "profile.xml"
        profile.write_text(transport.profile("udp", pairs.PAYLOAD, 2), encoding="utf-8")
        around = transport.environment(transport.fast_dds(profile), domain, logs=folder)
        probe = stacks.find()[RCLCPP].probe
        return pairs.round_trip(probe, cpu, around, folder, executor=executor)


def best(figure: str, case: Case, peers: Sequence[str], measured: Rounds) -> tuple[str, float]:
    """The peer that Takt compares worst with, and the median of the ratios to it."""
    takt = measured[_name(case, TAKT)]
    ratios = {peer: median_ratio(takt, measured[_name(case, peer)], figure) for peer in peers}
    peer = max(ratios, key=ratios.__getitem__)
    return peer, ratios[peer]


def _against_best(case: Case, figure: str, peers: Sequence[str], measured: Rounds) -> Bar:
    peer, ratio = best(figure, case, peers, measured)
    what = "p50" if figure == "p50_us" else "CPU for each callback"
    return Bar(
        name=f"{case.title}: {what}, against the best of rclcpp's",
        value=ratio,
        limit=case.limit,
        unit="ratio",
        detail={
            "best": peer,
            **{name: median(measured[_name(case, name)], figure) for name in (*peers, TAKT)},
        },
    )


def _under_burns(measured: Rounds, bare: Case) -> list[Bar]:
    takt = measured[_name(BURNS, TAKT)]
    return [
        Bar(
            name=f"{BURNS.title}: p99, against a bare wake-up",
            value=median_ratio(takt, measured[bare.title], "p99_us"),
            limit=WAKEUP,
            unit="ratio",
            detail={
                "takt_us": median(takt, "p99_us"),
                "bare_us": median(measured[bare.title], "p99_us"),
            },
        ),
        Bar(
            name=f"{BURNS.title}: share of its calls that are lost",
            value=max(0.0, 1 - median(takt, "calls_share")),
            limit=LOST_CALLS,
            unit="ratio",
        ),
    ]


def _of_life(measured: Rounds, peers: Sequence[str]) -> list[Bar]:
    return [
        Bar(
            name=name,
            value=median(measured[_name(case, TAKT)], figure),
            limit=limit,
            unit="ms",
            detail={peer: median(measured[_name(case, peer)], figure) for peer in peers},
        )
        for name, case, figure, limit in (
            (f"spin() with {NODES} nodes to the first call", LIFE, "start_ms", START_MS),
            (f"node added to {NODES}, to its first call after 1 ms", LIFE, "added_ms", ADDED_MS),
            (
                f"subscription beside {NODES} nodes created, heard, destroyed",
                LIFE,
                "churn_ms",
                CHURN_MS,
            ),
            ("shutdown() to the return of spin()", LIFE_OF_ONE, "shutdown_ms", SHUTDOWN_MS),
        )
    ]


def _table(case: Case, peers: Sequence[str], measured: Rounds) -> Table:
    return Table(
        table="rclcpp",
        title=case.title,
        unit="by column",
        published={},
        measured={
            executor: {
                figure: median(measured[_name(case, executor)], figure) for figure in case.figures
            }
            for executor in (*peers, TAKT)
        },
        rounds={executor: measured[_name(case, executor)] for executor in (*peers, TAKT)},
    )
