# SPDX-License-Identifier: Apache-2.0
"""Generated applications as files: an app.yaml each, and a manifest that says which is which."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from takt.documents.reading import read_json
from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.generate.blocks import Generated, block, blocks
from takt.schedule.generate.space import Space

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"


def generate(space: Space, repeat: int, seed: int) -> Iterator[Generated]:
    """`repeat` applications of each combination."""
    for combination in range(len(space.combinations)):
        for number, size in blocks(repeat):
            yield from block(space, seed, combination, number, size)


def new_folder(folder: Path) -> Path:
    """Makes a folder; raises TaktError when something is in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TaktError(
            "this folder exists and is not empty",
            where=str(folder),
            fix="choose a new folder with --out",
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(
    folder: Path, applications: Iterator[Generated], parameters: Path, repeat: int, seed: int
) -> dict[str, Any]:
    """Writes all applications and their manifest, which it returns."""
    entries = []
    for one in applications:
        file = f"{one.name}.app.yaml"
        remark = f"takt generate {parameters.name} --repeat {repeat} --seed {seed}"
        text = app_yaml(one.document, remark)
        write_text(folder / file, text)
        entries.append(
            {
                "file": file,
                "combination": one.combination,
                "repetition": one.repetition,
                "utilization": one.utilization,
                "parameters": one.parameters.document(),
            }
        )
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "source": read_json(parameters),
        "repeat": repeat,
        "seed": seed,
        "applications": entries,
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(folder / MANIFEST, text + "\n")
    return manifest
