# SPDX-License-Identifier: Apache-2.0
"""The part of ``docs/reference`` that is made from the code, by ``python -m takt.reference``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from takt import plugins
from takt.bench.model import Bench
from takt.bench.overheads import Document as Overheads
from takt.doctor.finding import Finding
from takt.judge.baseline import Baseline
from takt.judge.limits import Limits
from takt.judge.model import GateDocument
from takt.measure.experiment.model import Experiment
from takt.measure.results.model import Run
from takt.measure.statistics.compare_document import CompareDocument
from takt.pages.markdown import GENERATED
from takt.reference import command_line
from takt.reference.keys import tables
from takt.reference.schema import schema
from takt.schedule.analysis.model import Analysis
from takt.schedule.application.model import Application
from takt.schedule.execution.model import ExecutionDocument
from takt.schedule.executors.model import Comparison
from takt.schedule.explain.model import Explanation
from takt.schedule.importing.document import ImportDocument
from takt.schedule.metrics.model import MetricsDocument
from takt.schedule.model.document import Modelled
from takt.schedule.record.document import RecordDocument
from takt.schedule.simulation.model import SimulationResult
from takt.schedule.spin.document import SpinDocument
from takt.schedule.timing.model import TimingFile
from takt.schedule.top.model import Executor
from takt.schedule.trace.summary import TraceSummary
from takt.tune.outcome import Outcome as TuneOutcome

ROOT = Path(__file__).resolve().parents[4]
REFERENCE = "docs/reference"
# What people write, and what it is called.
WRITTEN: dict[str, tuple[str, type[BaseModel]]] = {
    "application": ("Takt application", Application),
    "experiment": ("Takt experiment", Experiment),
    "timing": ("Takt timing", TimingFile),
    "limits": ("Takt limits", Limits),
}
# What programs read: the document or its repeated part, by page.
DOCUMENTS: dict[str, tuple[str, type[BaseModel]]] = {
    "run": ("run.json", Run),
    "doctor": ("findings of takt doctor --json", Finding),
    "tune": ("takt tune --json", TuneOutcome),
    "analyse": ("takt analyse --json", Analysis),
    "simulate": ("takt simulate --json", SimulationResult),
    "compare-executors": ("takt compare-executors --json", Comparison),
    "execute": ("takt execute --json", ExecutionDocument),
    "record": ("takt record --json", RecordDocument),
    "spin": ("takt spin --json", SpinDocument),
    "import": ("takt import --json", ImportDocument),
    "model": ("takt model --json", Modelled),
    "metrics": ("takt metrics --json", MetricsDocument),
    "explain": ("takt explain --json", Explanation),
    "compare": ("takt compare --json", CompareDocument),
    "gate": ("takt gate --json", GateDocument),
    "baseline": ("baselines of takt gate", Baseline),
    "trace": ("takt trace --json", TraceSummary),
    "top": ("executors of takt top --once --json", Executor),
    "bench": ("takt bench --json", Bench),
    "overheads": ("takt bench overheads --json", Overheads),
}


def files() -> dict[str, Callable[[], str]]:
    """Every generated file, by its path from the root of the clone, and what makes its text."""
    pages: dict[str, Callable[[], str]] = {
        f"{REFERENCE}/command-line.md": command_line.page,
    }
    for name, (title, model) in WRITTEN.items():
        pages[f"{REFERENCE}/{name}.schema.json"] = partial(schema, title, model)
        heading = f"Keys of the {name} file"
        pages[f"{REFERENCE}/{name}-keys.md"] = partial(
            _keys, heading, model, written_by_people=True
        )
    for name, (title, model) in DOCUMENTS.items():
        page = f"{REFERENCE}/documents/{name}.md"
        pages[page] = partial(_keys, title, model, written_by_people=False)
    for name, added in plugins.loaded(plugins.REFERENCE).items():
        command = name.rpartition("/")[2].replace("-", " ")
        title = f"takt {command} --json"
        pages[f"{REFERENCE}/{name}.md"] = (
            partial(_keys, title, added, written_by_people=False)
            if isinstance(added, type)
            else added
        )
    return pages


def _keys(title: str, model: type[BaseModel], *, written_by_people: bool) -> str:
    lines = [GENERATED, f"# {title}", "", *tables(model, written_by_people=written_by_people)]
    return "\n".join(lines).rstrip() + "\n"
