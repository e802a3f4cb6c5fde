# SPDX-License-Identifier: Apache-2.0
"""A small application, executed by Takt's executor inside a guest; its trace is read outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from takt.lab.cells import environment
from takt.lab.jobs import MEMORY, Job
from takt.lab.judged import callbacks
from takt.lab.model import Latency
from takt.lab.modes import Mode
from takt.network import stacks, transport
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.execution.execute import SUFFIX
from takt.schedule.execution.recording import RUNNER
from takt.schedule.metrics import measure
from takt.statistics.judgement import Outcome

FILE = Path(__file__).with_name("lab.app.yaml")
_DESCRIPTION, _PROFILE = "lab/application.json", "lab/application.xml"
_ROOM_S = 90  # of the guest's time: nodes start slowly under load


def job(load: str, seconds: int) -> Job:
    """Executes it for so many seconds from its first release; raises Failure without app_runner."""
    command = [str(stacks.program(RUNNER)), f"/{_DESCRIPTION}", "--approach", "takt"]
    command += ["--duration-ns", str(seconds * 10**9), "--seed", "1"]
    command += ["--trace", f"{MEMORY}/{_trace(load)}"]
    around = environment(Path("/") / _PROFILE)
    return Job(_name(load), load, (tuple(command),), seconds + _ROOM_S, True, around)


def texts() -> dict[str, str]:
    """The files that it needs in the guest."""
    described = flat(read_application(FILE))
    nodes = len({one.get("node") or one["name"] for one in described["callbacks"]})
    payload = max((one.get("bytes", 0) for one in described.get("topics", [])), default=0)
    return {
        _DESCRIPTION: json.dumps(described, separators=(",", ":")),
        _PROFILE: transport.profile("shm", payload, nodes + 1),
    }


def measured(out: Path, load: str, mode: Mode) -> Iterator[Latency]:
    """The response times of each callback; a row that fails where there is no trace."""
    trace = out / _trace(load)
    if not trace.is_file():
        log = out / f"{_name(load)}.log"
        words = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        reason = f"it wrote no trace: {words.strip()[-300:] or 'no message'}"
        yield Latency(what=_name(""), load=load, count=0, outcome=Outcome.fails, reasons=[reason])
        return
    metrics = {one.callback: one for one in measure(trace).callbacks}
    for name, (outcome, reasons) in callbacks(trace, mode).items():
        one = metrics.get(name)
        found = one.response_us if one else None
        yield Latency(
            what=f"{_name('')}{name}",
            load=load,
            count=found.count if found else 0,
            min_us=found.min if found else None,
            avg_us=found.mean if found else None,
            p50_us=found.median if found else None,
            p99_us=found.p99 if found else None,
            max_us=found.max if found else None,
            outcome=outcome,
            reasons=reasons,
        )


def _name(load: str) -> str:
    return f"application-{load}"


def _trace(load: str) -> str:
    return f"{_name(load)}{SUFFIX}"
