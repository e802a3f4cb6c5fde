# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the files that users write, for editors."""

from __future__ import annotations

import json

from pydantic import BaseModel


def schema(title: str, model: type[BaseModel]) -> str:
    """The JSON Schema of a model as it is published."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(),
        "title": title,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
