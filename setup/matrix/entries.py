# SPDX-License-Identifier: Apache-2.0
"""The matrix as it is written: ``setup/matrix.yaml``, each system and how it is tried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

FILE = Path(__file__).resolve().parents[1] / "matrix.yaml"
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Sentence = Annotated[str, Field(pattern=r"^\S[^\n|]*$")]  # a cell of a table


class Strict(BaseModel):
    """What people write: an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ByCompiler(Strict):
    """What users build, compiled by another compiler; the named tests of the core are run."""

    kind: Literal["compiler"]
    family: Literal["gcc", "clang"]
    version: int
    tests: list[Name] = Field(min_length=1)


class Excluded(Strict):
    """Tests that say nothing on an emulated machine, by CTest's regular expression."""

    tests: str
    reason: Sentence


class ByEmulator(Strict):
    """takt_core, built for another architecture; its unit tests in QEMU's user mode."""

    kind: Literal["emulator"]
    architecture: Literal["aarch64"]
    excluded: list[Excluded] = []


class ByChroot(Strict):
    """A distribution in a folder: the first start with a check, then stages of the tests."""

    kind: Literal["chroot"]
    of: Literal["debian", "ubuntu"] = "debian"
    suite: Name
    stages: list[Name] = []


class ByPython(Strict):
    """The locked packages, every module of the tool and tests under another Python."""

    kind: Literal["python"]
    version: Annotated[str, Field(pattern=r"^3\.\d+$")]
    tests: list[str] = Field(min_length=1)


class ByWheels(Strict):
    """A check on the wheels of a ROS 2, then stages of the tests."""

    kind: Literal["wheels"]
    distribution: Name
    stages: list[Name] = []


class ByInstallation(Strict):
    """The wheels dressed as an installation: a plain colcon build, and its ros2 verb."""

    kind: Literal["installation"]


class ByRelease(Strict):
    """A package for users, made and installed elsewhere by the tests of the marker release."""

    kind: Literal["release"]
    tests: list[str] = Field(min_length=1)


How = Annotated[
    ByCompiler | ByEmulator | ByChroot | ByPython | ByWheels | ByInstallation | ByRelease,
    Field(discriminator="kind"),
]


class Entry(Strict):
    """A system: how it is tried, or why it is not."""

    name: Name
    system: Sentence
    how: How | None = None
    not_tried: Sentence | None = None

    @model_validator(mode="after")
    def _either(self) -> Entry:
        if (self.how is None) == (self.not_tried is None):
            raise ValueError(f"{self.name}: give either how it is tried or why it is not_tried")
        return self


class Matrix(Strict):
    """All of them, in the order of the page."""

    entries: list[Entry] = Field(min_length=1)

    @model_validator(mode="after")
    def _named_once(self) -> Matrix:
        names = [one.name for one in self.entries]
        if twice := {one for one in names if names.count(one) > 1}:
            raise ValueError(f"twice: {', '.join(sorted(twice))}")
        return self


class MatrixError(Exception):
    """The file is not one."""


def read(file: Path = FILE) -> list[Entry]:
    """The entries; raises MatrixError."""
    try:
        content = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
        return Matrix.model_validate({"entries": content}).entries
    except (OSError, YAMLError, ValidationError) as error:
        raise MatrixError(f"{file}: {error}") from None
