# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the files that users write, for editors; ``python -m takt.schema``."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from takt.measure.experiment.model import Experiment
from takt.schedule.application.model import Application

FILES: dict[str, tuple[str, type[BaseModel]]] = {
    "docs/reference/application.schema.json": ("Takt application", Application),
    "docs/reference/experiment.schema.json": ("Takt experiment", Experiment),
}


def schema_text(file: str) -> str:
    """One of FILES as it is published, made from its model."""
    title, model = FILES[file]
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(),
        "title": title,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    for name in FILES:
        (root / name).write_text(schema_text(name), encoding="utf-8")
