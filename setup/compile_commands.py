# SPDX-License-Identifier: Apache-2.0
"""How a build compiles each source, also those that CMake compiles together as one file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# A precompiled header as CMake has it included: another compiler's, and hiding what was forgotten.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S+cmake_pch\.hxx")
INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


class Entry(NamedTuple):
    """A source, the folder where the compiler is called, how, and the object file."""

    source: Path
    folder: Path
    command: str
    output: str

    @property
    def target(self) -> str:
        """The folder of the program or library that the object is a part of."""
        return self.output.partition(".dir/")[0]

    def of(self, source: Path) -> Entry:
        """The same for another source."""
        output = f"{self.target}.dir{source}.o"
        command = self.command.removesuffix(str(self.source)) + str(source)
        return Entry(
            source, self.folder, command.replace(f" -o {self.output} ", f" -o {output} "), output
        )

    def as_json(self) -> dict[str, str]:
        """As in a database of them."""
        return {"directory": str(self.folder), "command": self.command, "file": str(self.source)}


def entries(build: Path) -> Iterator[Entry]:
    """How a build folder compiles each source, but for precompiled headers; raises OSError."""
    database = build / "compile_commands.json"
    for one in json.loads(database.read_text(encoding="utf-8")):
        command = PRECOMPILED.sub("", one["command"])
        output = re.search(r" -o (\S+)", command)
        entry = Entry(
            Path(one["file"]), Path(one["directory"]), command, output[1] if output else ""
        )
        if entry.source.parent.name != "Unity":
            yield entry
            continue
        text = entry.source.read_text(encoding="utf-8")
        yield from (entry.of(Path(file)) for file in INCLUDED.findall(text))
