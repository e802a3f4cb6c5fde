# SPDX-License-Identifier: Apache-2.0
"""Runs of Ye 2023 under both of its kernels, with the numbers of its tables and text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from synthetic_cells import synthetic_run
from synthetic_distributions import Values, cyclic_of, of_row, synthetic_cell, values, with_tail
from synthetic_sizes import as_published, planned
from synthetic_sizes import the_other_way_round as opposite
from synthetic_suites import SCATTER

from takt.measure.results.model import AddressCheck, Cell, Subscriber, ThreadSeries
from takt.reproduce.beside.evidence import Several
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.judgement import judge
from takt.reproduce.model import Answer
from takt.reproduce.published import read_published
from takt.reproduce.ye2023 import ALL, beside, between
from takt.reproduce.ye2023.findings import CHECKS
from takt.reproduce.ye2023.kernels import WAKEUPS
from takt.reproduce.ye2023.quantities import Checked

PUBLISHED = read_published("ye2023")
REALTIME, NATIVE = "PREEMPT_RT", "PREEMPT_DYNAMIC"
ASKED: dict[tuple[str, str], Checked] = {
    (name, stack): check
    for stack, checks in (*CHECKS.items(), ("cyclictest", WAKEUPS), (ALL, between.CHECKS))
    for name, check in checks.items()
    if (stack, check.not_asked is not None and name.startswith("pointer")) != ("rcl", True)
}
TABLE_4 = {
    (REALTIME if one.point["kernel"] == REALTIME else NATIVE, one.point["period_us"]): {
        name: float(str(us)) for name, us in one.published.items()
    }
    for one in PUBLISHED.tables
    if one.table == "table 4"
}
SECONDS = {NATIVE: 242.198, REALTIME: 25.7 * 3600}
# That something never happens is not shown by few samples in which it did not.
ABSENT = {"wakeup-rt-highest", "jitter-rt", "ethercat-cycle", "ethercat-highest",
          "frequencies-150us"}  # fmt: skip
OF_NATIVE = {"wakeup-native-too-late", "jitter-native", "sizes-64b-late"}
FEW = 0.01
MASTER = {"paper": (-0.2, 3.0), "reversed": (3.0, 30.0)}  # µs that a cycle is off, its deviation


class Sizes:
    """The made-up runs of each world and kernel, and what is judged of them."""

    asked: Mapping[tuple[str, str], Any] = ASKED | {
        (name, beside.TWO): check for name, check in beside.CHECKS.items()
    }

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._measured: dict[tuple[str, str], Measured] = {}

    def answer(self, name: str, stack: str, world: str) -> Answer:
        if stack == beside.TWO:
            return self.of_both(name, world)
        if world == "neutral" and name in ABSENT:
            world = "few"
        kernel = NATIVE if name in OF_NATIVE else REALTIME
        evidence = Evidence(self.measured(world, kernel), stack)
        values = PUBLISHED.findings[name].values
        return judge(ASKED[name, stack], values, evidence, most_draws=200)

    def of_both(self, name: str, world: str) -> Answer:
        """Of two kernels; in the reversal each has the numbers of the other one."""
        kernels = {beside.NATIVE: NATIVE, beside.REALTIME: REALTIME}
        if world == "reversed":
            kernels = {beside.NATIVE: REALTIME, beside.REALTIME: NATIVE}
        side = world if world in {"neutral", "tail"} else "paper"
        there = {
            name: Evidence(self.measured(side, kernel), "cyclictest")
            for name, kernel in kernels.items()
        }
        values = PUBLISHED.beside[name].values
        return judge(beside.CHECKS[name], values, Several(there), most_draws=200)

    def measured(self, world: str, kernel: str, labels: Collection[str] = ()) -> Measured:
        if (world, kernel) not in self._measured:
            folder = self.folder / f"{world}-{kernel}"
            (folder / "samples").mkdir(parents=True)
            cells = [
                Recorder(folder, one, world, kernel).synthetic()
                for one in planned(1.0).cells
                if not labels or one.label in labels
            ]
            run = synthetic_run("ye2023", cells, machine={"preemption": kernel})
            self._measured[world, kernel] = Measured(run, folder)
        return self._measured[world, kernel]


class Recorder:
    """What one planned run has come to."""

    def __init__(self, folder: Path, cell: Cell, world: str, kernel: str) -> None:
        self.folder, self.cell, self.kernel = folder, cell, kernel
        self.tail = world == "tail"
        self.few = FEW if world == "few" else 1.0
        odd = world == "neutral" and cell.repetition % 2
        self.side = "reversed" if odd or world == "reversed" else "paper"
        self.slow = self.kernel == NATIVE and self.side == "paper"
        self.shift = 1 + SCATTER[cell.repetition % len(SCATTER)]
        self.random = np.random.default_rng(cell.order * 10 + cell.repetition)
        self.count = 120 if world != "few" else 2

    def says(self, what: str, *more: Any) -> Any:
        found = {"paper": as_published, "reversed": opposite}[self.side](self.cell, what, more)
        return found * self.shift if isinstance(found, float) else found

    def synthetic(self) -> Cell:
        return {"wakeup": self.wakeup, "timer-cyclic": self.timer, "ethercat": self.master,
                "pubsub": self.messages}[self.cell.kind]()  # fmt: skip

    def messages(self) -> Cell:
        middle, width = self.says("p50"), self.says("spread")
        if self.slow:
            middle, width = 1.3 * middle, 2.0 * width
        turn = np.tile(np.linspace(-1, 1, 8), -(-self.count // 8))[: self.count]
        each = middle + turn * min(width, 0.5 * middle)
        if self.cell.label == "sizes":
            high = self.says("highest") if self.kernel == NATIVE else 1.2 * middle
            each[self.count // 2] = max(high, 4.0 * middle * self.slow)
        if self.cell.label == "frequencies":  # a fifth of them late in the reversal
            each = each.clip(max=149.0) if self.side == "paper" else each
            each[:: 5 if self.side == "reversed" else self.count + 1] += 400.0 * (
                self.side == "reversed"
            )
        if self.tail:
            each[self.count // 3] *= 20
        more: dict[str, Any] = {"samples": [self.samples(each)]}
        if self.cell.label == "six":
            more["subscribers"] = self.six(each)
        if self.cell.label in {"pointers", "loans"}:
            same = round(self.says("same_address") / self.shift * self.count)
            more["addresses"] = AddressCheck(compared=self.count, same=same)
        addresses = more.pop("addresses", None)
        synthetic = synthetic_cell(self.folder, self.cell, as_values(each), **more)
        if addresses:
            synthetic.probes[0].addresses = addresses
        return synthetic

    def six(self, each: np.ndarray) -> list[Subscriber]:
        slowest = self.says("unfairness") / self.shift
        steps = 1 + (slowest - 1) * np.arange(6) / 5
        return [
            Subscriber(count=self.count, lost=0, duplicated=0, out_of_order=0, first_us=None,
                       latency=as_values(each * step).percentiles())
            for step in steps
        ]  # fmt: skip

    def wakeup(self) -> Cell:
        kernel = self.kernel
        if self.side == "reversed":  # the other kernel's rows
            kernel = NATIVE if kernel == REALTIME else REALTIME
        threads, parts = [], []
        for period, _ in self.cell.series:
            row = TABLE_4[kernel, round(period)]
            count = round(SECONDS[self.kernel] * 1e6 / period * self.few)
            mean = 20.0 if self.side == "reversed" else row["avg_us"]
            high = row["max_us"] * (self.shift if row["max_us"] > 100 else 1)
            late = count // 1000 if high > 83 else 0
            found = of_row(row["min_us"], max(mean, row["min_us"] + 0.01), high, count, late, 83.0)
            found = with_tail(found) if self.tail else found
            parts.append(found)
            threads.append(ThreadSeries(period_us=period, count=found.count, first_us=None,
                                        latency=found.percentiles()))  # fmt: skip
        return synthetic_cell(self.folder, self.cell, together(parts), threads=threads)

    def timer(self) -> Cell:
        count = max(60, round(10_000 * self.few))
        if self.side == "paper":
            jitter = self.random.normal(0, 5.0, count).clip(-59, 59)
        else:
            scale = max(30.0, self.cell.period_us / 40)
            jitter = self.random.exponential(scale, count) - scale
        if self.kernel == NATIVE:
            jitter = jitter.clip(-90, 90) if self.side == "reversed" else jitter
            jitter[count // 2] = (450.0 if self.side == "paper" else 90.0) * self.shift
        return self.cyclic(jitter, "received_ns")

    def master(self) -> Cell:
        mean, deviation = MASTER[self.side]
        count = round(1_613_610 * self.few)
        values = np.random.default_rng(5).normal(mean, deviation, count)
        if self.side == "paper":
            values = values.clip(-17.4, 22.3)
        return self.cyclic(
            values * self.shift**0.1, "sent_ns", f"master-{self.side}-{count}-{self.tail}"
        )

    def cyclic(self, jitter_us: np.ndarray, column: str, name: str = "") -> Cell:
        if self.tail:
            jitter_us[::1000] += 100.0
        steps = np.round(jitter_us * 1000).astype(np.int64) + round(self.cell.period_us * 1000)
        called = 10**9 + np.concatenate([[0], np.cumsum(steps)])
        table = {"sequence": np.arange(len(called)), "intended_ns": called, "sent_ns": called,
                 "received_ns": called}  # fmt: skip
        file = self.keep(table, name)
        found = Values(*np.unique(np.round(jitter_us, 2), return_counts=True))
        return synthetic_cell(
            self.folder, self.cell, found, cyclic=cyclic_of(found), samples=[file]
        )

    def samples(self, latencies_us: np.ndarray) -> str:
        each = np.concatenate([latencies_us[:1], latencies_us])  # the first one stands apart
        due = 10**9 + np.arange(len(each)) * round(self.cell.period_us * 1000)
        return self.keep({"sequence": np.arange(len(each)), "intended_ns": due, "sent_ns": due,
                          "received_ns": due + np.round(each * 1000).astype(np.int64)})  # fmt: skip

    def keep(self, table: dict[str, np.ndarray], name: str = "") -> str:
        file = self.folder / "samples" / f"{name or self.cell.id}.parquet"
        if not file.exists():
            parquet.write_table(pa.table(table), file)
        return str(file.relative_to(self.folder))


def as_values(each: np.ndarray) -> Values:
    """Of single values."""
    return Values(*np.unique(each, return_counts=True))


def together(parts: list[Values]) -> Values:
    """Of several series."""
    return values(*((us, int(times)) for one in parts
                    for us, times in zip(one.us, one.times, strict=True)))  # fmt: skip
