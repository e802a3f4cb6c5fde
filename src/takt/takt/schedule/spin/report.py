# SPDX-License-Identifier: Apache-2.0
"""What the preloaded library writes: a line for each thing that it did in a process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from takt.schedule.spin.document import KeptExecutor, SpunExecutor

NONE_YET = "none yet"


@dataclass
class RunningThread:
    """A thread that runs callbacks of a stock executor."""

    process: int
    thread: int
    executor: str  # its address in the process
    nodes: list[str]


@dataclass
class Report:
    """Everything that was written so far."""

    file: Path
    replaced: list[SpunExecutor] = field(default_factory=list)
    kept: list[KeptExecutor] = field(default_factory=list)
    running: dict[tuple[int, int], RunningThread] = field(default_factory=dict)
    ended: list[tuple[int, int]] = field(default_factory=list)  # of these, not taken yet
    processes: set[int] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    reads: int = 0  # how often an executor read the timing file
    unmatched: Counter[str] = field(default_factory=Counter)  # entries; in how many of these
    _at: int = 0

    def read(self) -> None:
        """Takes what has been written since the last time; whole lines only."""
        with self.file.open("rb") as stream:
            stream.seek(self._at)
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            kind, process, program, *fields = line.split("\t")
            self.processes.add(int(process))
            self._take(kind, int(process), program, fields)

    def _take(self, kind: str, process: int, program: str, fields: list[str]) -> None:
        if kind == "replaced":
            executor, threads, policy, cores, nodes = fields
            self.replaced.append(
                SpunExecutor(
                    process=process,
                    program=program,
                    executor=executor,
                    threads=int(threads),
                    nodes=_names(nodes),
                    policy=policy,
                    cores=[int(one) for one in cores.split()[1:]],
                )
            )
        elif kind == "kept":
            executor, why = fields
            # Its timing may turn out not to fit only when it begins.
            self.replaced = [
                one for one in self.replaced if (one.process, one.executor) != (process, executor)
            ]
            self.kept.append(
                KeptExecutor(process=process, program=program, executor=executor, why=why)
            )
        elif kind == "thread":
            _, thread, executor, nodes = fields
            one = RunningThread(process, int(thread), executor, _names(nodes))
            self.running[process, one.thread] = one
            self.nodes.update(one.nodes)
        elif kind == "ended":
            self.running.pop((process, int(fields[0])), None)
            self.ended.append((process, int(fields[0])))
        elif kind == "node":
            executor, node = fields
            self.nodes.add(node)
            for running in self.running.values():
                if (running.process, running.executor) == (process, executor):
                    running.nodes.append(node)
        elif kind == "read":
            self.reads += 1
        elif kind == "unmatched":
            self.unmatched[f"{fields[0]}: {fields[1]}"] += 1  # where, and what


def _names(text: str) -> list[str]:
    return [] if text == NONE_YET else text.split(", ")
