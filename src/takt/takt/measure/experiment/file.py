# SPDX-License-Identifier: Apache-2.0
"""Reads an experiment file, or checks an experiment that was made by options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from pydantic_core import ErrorDetails

from takt.documents import yaml_file
from takt.documents.yaml_file import Form, Location, Source
from takt.measure.experiment.model import Experiment, Measurement

__all__ = ["Location", "Source", "check", "read_experiment"]


def _hint(faults: list[ErrorDetails]) -> str | None:
    if any(fault["loc"][-1:] == ("kind",) for fault in faults):
        kinds = get_args(Measurement.model_fields["kind"].annotation)
        return f"kind must be one of {', '.join(kinds)}"
    return None


FORM = Form(
    "an experiment",
    Experiment,
    keys="name and measurements",
    example="experiments/quick.yaml",
    reference="docs/reference/experiment-keys.md",
    hint=_hint,
)


def read_experiment(file: Path) -> tuple[Experiment, Source]:
    """Reads and checks a file; raises TaktError with all of its faults."""
    return yaml_file.read(file, FORM)


def check(document: Any, source: Source) -> Experiment:
    """Checks plain data against the model; raises TaktError with all of its faults."""
    return yaml_file.check(document, source, FORM)
