# SPDX-License-Identifier: Apache-2.0
"""Writes the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt import __version__
from takt.documents.writing import write_text
from takt.pages import page, text
from takt.schedule.metrics.against import against
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Trace
from takt.schedule.trace.show import remarks
from takt.schedule.trace.summary import Summing, TraceSummary
from takt.schedule.view.figures import Chain, chain, observed, rates, topics, why_no_data
from takt.schedule.view.gather import Gathered, Gathering, Latencies
from takt.schedule.view.graph import graph
from takt.schedule.view.packed import packed

_PACKAGE = "takt.schedule.view"


def write_view(
    path: Path,
    out: Path,
    application: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> TraceSummary:
    """Writes ``out``; raises TaktError for what is no trace and no folder of takt record.

    ``application``: the file with the deadlines and chains that count. ``progress`` is called with
    the events that were read so far.
    """
    trace = against(files.read(path), application)
    chains = _declared(trace)
    gathering, summing = Gathering(trace, len(chains)), Summing(trace)
    recorded = [[trace.recorded(name) for name in one.callbacks] for one in chains]
    replayed = files.replay(trace, [gathering, summing], progress, recorded)
    gathered, summary = gathering.result(), summing.result(replayed.not_nested)
    if chains:
        gathered_chains = [
            chain(
                one.name,
                list(one.callbacks),
                one.max_latency / 1e6 or None,
                ns,
                why_no_data(trace.names, gathered, list(one.callbacks)),
            )
            for one, ns in zip(chains, gathered.chains, strict=True)
        ]
    else:
        gathered_chains = _observed(trace, gathered)
    write_text(out, _page(trace, summary, gathered, gathered_chains))
    return summary


def _declared(trace: Trace) -> list[Any]:
    flat = files.description(trace.names)
    return [] if flat is None else list(files.declared(flat, trace).chains)


def _observed(trace: Trace, gathered: Gathered) -> list[Chain]:
    """The chains that data went through, followed in a second pass."""
    found = observed(trace.names, gathered)
    if not found:
        return []
    again = Latencies(len(found))
    recorded = [[trace.recorded(name) for name in callbacks] for callbacks in found.values()]
    files.replay(trace, [again], chains=recorded)
    return [
        chain(name, callbacks, None, ns, why_no_data(trace.names, gathered, callbacks))
        for (name, callbacks), ns in zip(found.items(), again.result(), strict=True)
    ]


def _page(trace: Trace, summary: TraceSummary, gathered: Gathered, chains: list[Chain]) -> str:
    about, data = packed(trace, gathered)
    tasks = [one for one in summary.tasks if one.jobs or one.unfinished or one.skipped]
    shown = topics(trace, gathered)
    charts = [{"edges": one.edges, "counts": one.counts, "limit": one.limit} for one in chains]
    seconds = summary.duration_ms / 1000
    return (
        page.environment(_PACKAGE)
        .get_template("view.html.j2")
        .render(
            name=trace.path.name,
            summary=summary,
            seconds=seconds,
            tasks=tasks,
            rates={trace.names.task(number): hz for number, hz in rates(gathered).items()},
            jobs=sum(one.jobs for one in tasks),
            misses=sum(one.misses for one in tasks),
            topics=shown,
            graph=graph(tasks, shown),
            chains=chains,
            remarks=remarks(summary),
            text=text,
            version=__version__,
            style=page.asset("page.css") + page.asset("view.css", _PACKAGE),
            about={**about, "chains": charts},
            data=data,
            script=page.scripts(
                *((name, _PACKAGE) for name in ("rows.js", "draw.js", "timeline.js", "chains.js"))
            ),
        )
    )
