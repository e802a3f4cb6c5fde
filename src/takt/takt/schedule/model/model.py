# SPDX-License-Identifier: Apache-2.0
"""Reads a trace and writes the app.yaml of what it saw."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt.documents.writing import failure, replacing
from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.metrics.series import Series
from takt.schedule.model import from_ros2, from_trace
from takt.schedule.model.build import Builder
from takt.schedule.model.document import Modelled
from takt.schedule.model.observed import Observed
from takt.schedule.ros2.babeltrace import is_ctf
from takt.schedule.ros2.recordings import is_recorded
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, by_number

SUFFIX = ".app.yaml"
MOST_CHAINS = 32  # of a file


def model(
    trace: Path,
    out: Path,
    margin: float = 0.0,
    progress: Callable[[str], None] = lambda _: None,
) -> Modelled:
    """Writes ``out`` and tells what is in it; raises TaktError for a trace that cannot be read.

    ``margin``: what is added to the longest execution, as a share of it.
    """
    trace = files.only_trace(trace)
    ctf = trace.is_dir()
    observed = _observed_by_ros2(trace) if ctf else from_trace.observed(trace)
    builder = Builder(observed, margin)
    document = builder.flat(_name(out), progress)
    if not ctf or is_recorded(trace):  # which messages were used, LTTng's trace does not say
        _latencies(trace, observed, builder, document)
    _keep_observed(document, builder)
    general = [*observed.notes, *builder.notes.pop("", []), *_undeclared(document)]
    modelled = Modelled(
        application=str(out),
        trace=str(trace),
        source=observed.source,
        duration_ms=observed.duration / 1e6,
        policy=document.get("policy", from_trace.ROBOT),
        callbacks=builder.callbacks,
        chains=builder.chains,
        topics=builder.topics,
        notes=general,
    )
    _write(trace, out, app_yaml(document, _remark(modelled), builder.notes))
    return modelled


def _write(trace: Path, out: Path, text: str) -> None:
    """What cannot be read again is not written: a damaged trace tells of impossible times."""
    try:
        with replacing(out) as temporary:
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
            read_application(temporary)
    except OSError as error:
        raise failure(error) from None
    except TaktError as error:
        raise TaktError(
            f"cannot build an application from this trace: {error.what}",
            where=str(trace),
            fix="the trace is damaged; takt trace shows how much of it is readable",
        ) from None


def _observed_by_ros2(folder: Path) -> Observed:
    if not is_recorded(folder) and not is_ctf(folder):
        raise TaktError(
            "this folder contains no recording and no trace: no *.taktrecord, no *.takttrace, no "
            "metadata",
            where=str(folder),
            fix="give a trace of Takt or the folder of its execution, a folder of takt record, or "
            "one of ros2 trace",
        )
    return from_ros2.observed(folder)


def default_out(trace: Path) -> Path:
    """Beside the shell's user, not beside the trace: ``NAME.app.yaml``."""
    name = re.split(r"\.takttrace|\.app\.", trace.name)[0]
    return Path(f"{name or trace.name}{SUFFIX}")


def _name(out: Path) -> str:
    name = out.name.removesuffix(".yaml").removesuffix(".app")
    return re.sub(r"^(?=[0-9])|[^A-Za-z0-9_]", "_", name)[:100] or "application"


class _Arrivals:
    """The sink that gathers the latencies of chains; those of the start-up are counted apart."""

    def __init__(self, chains: int, began: int) -> None:
        self.of = [Series() for _ in range(chains)]
        self.early = [Series() for _ in range(chains)]
        self._began = began

    def take(self, step: Step) -> None:
        """Gathers."""
        arrivals = step.arrivals
        columns = (arrivals[name] for name in ("age", "first", "release"))
        for chain, (age, first, release) in by_number(arrivals["chain"], *columns):
            self.of[chain].extend(age[first & (release >= self._began)])
            self.early[chain].extend(age[first & (release < self._began)])


def _latencies(trace: Path, observed: Observed, builder: Builder, document: dict[str, Any]) -> None:
    """What was seen of the chains; their data can be followed only when they are known."""
    if not builder.chains:
        return
    recorded = {one.name: one.recorded for one in observed.callbacks}
    recorded |= {name: name for name in (observed.robot.drivers if observed.robot else {})}
    arrivals = _Arrivals(len(builder.chains), observed.began)
    chains = [[recorded[name] for name in chain.callbacks] for chain in builder.chains]
    joins = [[recorded[one] for one in join] for join in files.joins_of(document["callbacks"])]
    files.replay(files.read(trace), [arrivals], chains=chains, joins=joins)
    for chain, series, start_up in zip(builder.chains, arrivals.of, arrivals.early, strict=True):
        ages, early = series.all(), start_up.all()
        chain.arrivals = len(ages)
        if not len(ages):
            builder.notes[chain.chain] = ["no data was observed to reach its end"]
            continue
        chain.longest_us = int(ages.max()) / 1000
        note = f"latency: the longest of {len(ages)} observed was {chain.longest_us / 1000:.6g} ms"
        limit = "set max_latency to your limit"
        if chain.max_latency_us is not None:
            limit = "max_latency is as described"
        builder.notes[chain.chain] = [f"{note}; {limit}"]
        if len(early):
            text = f"{len(early)} released before each process had called a timer, the longest"
            builder.notes[chain.chain].append(
                f"start-up: {text} {int(early.max()) / 1e6:.6g} ms, left out"
            )


def _keep_observed(document: dict[str, Any], builder: Builder) -> None:
    """Of all paths those that data went through; all of them where that is not known.

    Those of the description stay: one through which no data went fails its limit.
    """
    followed = [one for one in builder.chains if one.arrivals or one.described]
    kept = (followed or builder.chains)[:MOST_CHAINS]
    if len(kept) < len(builder.chains):
        text = f"chains: {len(builder.chains) - len(kept)} more paths, most without observed data"
        builder.notes.setdefault("", []).append(text)
    names = {one.chain for one in kept}
    document["chains"] = [one for one in document["chains"] if one["name"] in names]
    builder.chains = kept


def _undeclared(document: dict[str, Any]) -> list[str]:
    """What no trace tells, in words that say what would."""
    notes = []
    if any("bytes" not in one for one in document["topics"]):
        notes.append("message sizes: not in a trace; needed with overheads (writes: {scan: 512kB})")
    if any("depth" not in one for one in document["topics"]):
        notes.append("queue depth: not in a trace of Takt; assumed 1 (topics: {scan: {depth: 5}})")
    if not any("suspension" in one or "segments" in one for one in document["callbacks"]):
        notes.append(
            "waiting inside callbacks: none declared; a waiting callback blocks callbacks "
            "of lower priority (suspension)"
        )
    return notes


def _remark(modelled: Modelled) -> str:
    jobs = sum(one.jobs for one in modelled.callbacks)
    lines = [
        f"takt model: {jobs} jobs observed in {modelled.duration_ms / 1000:.6g} s of",
        f"{modelled.source}.",
        "Execution times are observed: a longer run, other input or another machine may show",
        "longer ones. What is proved with them holds as long as they do.",
        *(f"note: {note}" for note in modelled.notes),
    ]
    return "\n".join(lines)
