# SPDX-License-Identifier: Apache-2.0
"""The part of ``docs/reference`` that is made from the code, by ``python -m takt.reference``.

The set-up and the site write it; it is not tracked. Models are named, not imported: a set-up that
built no more than measuring needs writes the pages whose models it can load.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel

from takt import plugins
from takt.errors import Failure
from takt.pages.markdown import GENERATED
from takt.reference import command_line
from takt.reference.keys import tables
from takt.reference.schema import schema

ROOT = Path(__file__).resolve().parents[4]
REFERENCE = "docs/reference"
# What people write: what it is called, and its model.
WRITTEN: dict[str, tuple[str, str]] = {
    "application": ("Takt application", "takt.schedule.application.model:Application"),
    "experiment": ("Takt experiment", "takt.measure.experiment.model:Experiment"),
    "timing": ("Takt timing", "takt.schedule.timing.model:TimingFile"),
    "limits": ("Takt limits", "takt.judge.limits:Limits"),
}
# What programs read: the document or its repeated part, by page.
DOCUMENTS: dict[str, tuple[str, str]] = {
    "run": ("run.json", "takt.measure.results.model:Run"),
    "doctor": ("findings of takt doctor --json", "takt.doctor.finding:Finding"),
    "tune": ("takt tune --json", "takt.tune.outcome:Outcome"),
    "analyse": ("takt analyse --json", "takt.schedule.analysis.model:Analysis"),
    "simulate": ("takt simulate --json", "takt.schedule.simulation.model:SimulationResult"),
    "compare-executors": (
        "takt compare-executors --json",
        "takt.schedule.executors.model:Comparison",
    ),
    "execute": ("takt execute --json", "takt.schedule.execution.model:ExecutionDocument"),
    "record": ("takt record --json", "takt.schedule.record.document:RecordDocument"),
    "spin": ("takt spin --json", "takt.schedule.spin.document:SpinDocument"),
    "import": ("takt import --json", "takt.schedule.importing.document:ImportDocument"),
    "model": ("takt model --json", "takt.schedule.model.document:Modelled"),
    "metrics": ("takt metrics --json", "takt.schedule.metrics.model:MetricsDocument"),
    "explain": ("takt explain --json", "takt.schedule.explain.model:Explanation"),
    "compare": ("takt compare --json", "takt.measure.statistics.compare_document:CompareDocument"),
    "gate": ("takt gate --json", "takt.judge.model:GateDocument"),
    "baseline": ("baselines of takt gate", "takt.judge.baseline:Baseline"),
    "trace": ("takt trace --json", "takt.schedule.trace.summary:TraceSummary"),
    "top": ("executors of takt top --once --json", "takt.schedule.top.model:Executor"),
    "bench": ("takt bench --json", "takt.bench.model:Bench"),
    "overheads": ("takt bench overheads --json", "takt.bench.overheads:Document"),
}


def files() -> dict[str, Callable[[], str]]:
    """Every generated file, by its path from the root of the clone, and what makes its text."""
    pages: dict[str, Callable[[], str]] = {
        f"{REFERENCE}/command-line.md": command_line.page,
    }
    for name, (title, model) in WRITTEN.items():
        pages[f"{REFERENCE}/{name}.schema.json"] = partial(_schema, title, model)
        pages[f"{REFERENCE}/{name}-keys.md"] = partial(
            _keys, f"Keys of the {name} file", model, written_by_people=True
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


def write() -> list[str]:
    """Writes every page that can be made here; returns the paths of the others.

    A page can't be made where takt_core was not built, or only as far as a check or measuring
    needs it.
    """
    complete = find_spec("takt_core") and find_spec("takt_core._applications")
    left = []
    for name, text in files().items():
        file = ROOT / name
        try:
            said = text()
        except (ImportError, Failure):
            if complete:
                raise
            left.append(name)
            continue
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, encoding="utf-8")
    return left


def model_of(name: str) -> type[BaseModel]:
    """The model "package.module:Class"."""
    model: type[BaseModel] = pkgutil.resolve_name(name)
    return model


def _schema(title: str, model: str) -> str:
    return schema(title, model_of(model))


def _keys(title: str, model: str | type[BaseModel], *, written_by_people: bool) -> str:
    loaded = model_of(model) if isinstance(model, str) else model
    lines = [GENERATED, f"# {title}", "", *tables(loaded, written_by_people=written_by_people)]
    return "\n".join(lines).rstrip() + "\n"
