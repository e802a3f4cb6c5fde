# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the experiment file, for editors; ``python -m takt.experiment.schema``."""

from __future__ import annotations

import json
from pathlib import Path

from takt.experiment.model import Experiment

SCHEMA_FILE = Path("docs/reference/experiment.schema.json")


def schema_text() -> str:
    """The schema as it is published, made from the model."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Experiment.model_json_schema(),
        "title": "Takt experiment",
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[4]
    (root / SCHEMA_FILE).write_text(schema_text(), encoding="utf-8")
