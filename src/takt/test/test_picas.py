# SPDX-License-Identifier: Apache-2.0
"""Chains on several cores against the published test for them, and against runs.

H. Choi, Y. Xiang, H. Kim, "PiCAS: New design of priority-driven chain-aware scheduling for ROS2",
RTAS 2021: the response time of a chain's part on a core and theorem 1, from the equations; sets
with the parameters of its section VII-C. Each chain has an executor of its own, and a chain that
fits on no core has one on each.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.schedule.application.dump import app_yaml  # noqa: E402
from takt.schedule.application.file import read_application  # noqa: E402
from takt.schedule.application.flat import flat  # noqa: E402
from takt.schedule.generate.utilization import fixed_sum, uunifast  # noqa: E402
from takt.schedule.importing.imported import Given  # noqa: E402
from takt.schedule.importing.picas import read  # noqa: E402

CORES, CHAINS, CALLBACKS = 4, 9, 5
SETS = int(os.environ.get("TAKT_TEST_PICAS_SETS", "30"))  # of each utilization; by hand more
MS = 1_000_000
PLAYS = 2  # with other offsets


@dataclass
class Callback:
    """Its time is in hundredths of a ms, as in the published files."""

    chain: int
    place: int
    time: int
    core: int
    executor: int

    @property
    def priority(self) -> int:
        """The first chain comes first, and in a chain the last callback."""
        return (CHAINS - self.chain) * CALLBACKS + self.place


@dataclass
class Set:
    """Periods by chain in ms; executors in the order of their priorities, the first one first."""

    periods: list[int]
    callbacks: list[Callback]

    def chain(self, number: int) -> list[Callback]:
        return [one for one in self.callbacks if one.chain == number]

    def is_on_one_core(self, chain: int) -> bool:
        return len({one.core for one in self.chain(chain)}) == 1

    def is_with_whole_chains(self, chain: int) -> bool:
        """Whether all chains of its core are on this one core."""
        (core,) = {one.core for one in self.chain(chain)}
        return all(self.is_on_one_core(one.chain) for one in self.callbacks if one.core == core)

    @property
    def text(self) -> str:
        """As published."""
        rows = [
            f"{self.periods[one.chain] if one.place == 0 else 0} {one.time / 100:.2f} "
            f"{one.chain + 1} {one.place + 1} 1 {one.core + 1} {one.executor + 1} "
            f"{one.priority + 1}"
            for one in self.callbacks
        ]
        return "\n".join(rows) + "\n"


def draw(rng: np.random.Generator, load: float) -> Set:
    """Chains go to the core with the lowest load; where none has room, callback by callback."""
    shares = fixed_sum(1, CHAINS, load, 1.0, rng)[0]
    periods = sorted(int(one) for one in rng.integers(50, 1001, CHAINS))
    loads = [0.0] * CORES
    found = Set(periods, [])
    executors: dict[tuple[int, int], int] = {}
    for chain, (period, share) in enumerate(zip(periods, shares, strict=True)):
        parts = uunifast(1, CALLBACKS, float(share), rng)[0]
        times = [max(1, int(part * period * 100)) for part in parts]
        whole = sum(times) / (period * 100)
        together = min(loads) + whole <= 1
        home = loads.index(min(loads))
        for place, time in enumerate(times):
            core = home if together else loads.index(min(loads))
            loads[core] += time / (period * 100)
            executor = executors.setdefault((chain, core), len(executors))
            found.callbacks.append(Callback(chain, place, time, core, executor))
    return found


def published(of: Set, chain: int) -> float:
    """The latency of a chain in hundredths of a ms; infinite above what matters."""
    own = of.chain(chain)
    period = of.periods[chain] * 100
    total = 0.0
    for core in {one.core for one in own}:
        segment = [one for one in own if one.core == core]
        total += segment_response(of, segment, of.is_on_one_core(chain), 2 * period)
    return total if total <= period else total + period


def segment_response(of: Set, segment: list[Callback], whole: bool, limit: int) -> float:
    last = min(segment, key=lambda one: one.priority)
    base = sum(one.time for one in segment)
    others = [
        one
        for one in of.callbacks
        if one is not last
        and one.core == last.core
        and (one.executor < last.executor or (one.executor == last.executor and not whole))
        and (one.executor < last.executor or one.priority > last.priority)
        and not (whole and one.chain == last.chain)
    ]
    time = base
    while time <= limit:
        total = base
        for one in others:
            timer = of.chain(one.chain)[0]
            if timer.priority >= last.priority or timer.core != last.core:
                period = of.periods[one.chain] * 100
                if of.is_on_one_core(one.chain):
                    period = max(period, sum(each.time for each in of.chain(one.chain)))
                total += math.ceil(time / period) * one.time
            else:
                total += one.time
        if total <= time:
            return time
        time = total
    return math.inf


@dataclass
class Chain:
    """One chain on one core; times in ms."""

    separate: bool  # without parts of chains across cores on its core
    period: float
    published: float
    bound: float  # infinite: none
    longest: float  # in any play


def played(application: dict[str, Any], rng: np.random.Generator) -> list[float]:
    """The longest latency of each chain, all released together and at random offsets; ms."""
    longest = [0.0] * len(application["chains"])
    for play in range(PLAYS + 1):
        callbacks = [
            one | {"offset": int(rng.integers(0, one["period"]))}
            if play and "period" in one
            else one
            for one in application["callbacks"]
        ]
        text = json.dumps(application | {"callbacks": callbacks})
        (result,) = takt_core.simulate_many([text], duration_ns=10_000 * MS)
        for place, chain in enumerate(result["chains"]):
            if chain["latency"]:
                longest[place] = max(longest[place], chain["latency"]["max_us"] / 1000)
    return longest


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> list[Chain]:
    file = tmp_path_factory.mktemp("picas") / "set.app.yaml"
    rng = np.random.default_rng(31)
    found = []
    for load in (2.5, 3.0, 3.5):
        for _ in range(SETS):
            one = draw(rng, load)
            (imported,) = read(Path("sets.txt"), one.text, Given())
            file.write_text(
                app_yaml({"name": "picas"} | imported.document, "imported"), encoding="utf-8"
            )
            application = flat(read_application(file))
            report = takt_core.analyse(json.dumps(application), sensitivity=False, proposals=False)
            bounds = report["scenarios"][0]["chains"]
            longest = played(application, rng)
            found += [
                Chain(
                    one.is_with_whole_chains(chain),
                    one.periods[chain],
                    published(one, chain) / 100,
                    (bounds[chain]["latency_us"] or math.inf) / 1000,
                    longest[chain],
                )
                for chain in range(CHAINS)
                if one.is_on_one_core(chain)
            ]
    return found


def test_no_chain_that_the_published_test_accepts_is_refused(chains: list[Chain]) -> None:
    separate = [one for one in chains if one.separate]
    accepted = [one for one in separate if one.published <= one.period]
    print(f"{len(accepted)} of {len(separate)} chains on cores of their own are accepted by PiCAS")
    assert len(accepted) > len(separate) / 2
    assert [one for one in accepted if one.bound > one.period] == []


def test_no_run_is_above_a_bound_where_the_published_test_is_wrong(chains: list[Chain]) -> None:
    """Parts of a chain across cores come in bursts, of which the published test does not know."""
    others = [one for one in chains if not one.separate and one.published <= one.period]
    wrong = [one for one in others if one.longest > one.published]
    refused = [one for one in others if one.bound > one.period]
    print(f"{len(others)} others, {len(refused)} refused; {len(wrong)} take longer than by PiCAS")
    assert wrong
    assert [one for one in chains if one.longest > one.bound] == []


def test_bounds_on_one_core_are_near_the_longest_run(chains: list[Chain]) -> None:
    ratios = [one.bound / one.longest for one in chains if one.separate and one.bound < math.inf]
    print(f"{len(ratios)} chains: mean {np.mean(ratios):.3f}, the most {max(ratios):.3f}")
    assert len(ratios) > len(chains) / 3
    assert max(ratios) <= 1.3
