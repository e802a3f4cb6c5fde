# SPDX-License-Identifier: Apache-2.0
"""The published JSON Schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.schema import FILES, schema_text

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("file", FILES)
def test_a_published_schema_is_that_of_its_model(file: str) -> None:
    assert (ROOT / file).read_text(encoding="utf-8") == schema_text(file), (
        "write it anew: python -m takt.schema"
    )
