# SPDX-License-Identifier: Apache-2.0
"""The parameter file: one set of parameters, or values to choose them from."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any, Optional, TypeVar, get_type_hints

from pydantic import Field, create_model

from takt.documents import yaml_file
from takt.documents.quantities import Strict
from takt.documents.reading import read_text
from takt.documents.yaml_file import Form, Source
from takt.errors import TaktError
from takt.schedule.generate.parameters import RESTRICTED, Parameters, violations
from takt.schedule.generate.processes import REFUSED, contradictions

Value = TypeVar("Value")
CHECKED = {*RESTRICTED, "processes", *REFUSED}  # what excludes each other
Options = Annotated[list[Value], Field(min_length=1)]


def _options(name: str, value: Any) -> Any:
    """A list of values of a parameter; required where the parameter is."""
    parameter = Parameters.model_fields[name]
    if parameter.is_required():
        return (Options[value], ...)
    alias = parameter.validation_alias
    return (Optional[Options[value]], Field(None, validation_alias=alias))  # noqa: UP045


class _ParametersFile(Strict):
    parameters: Parameters


_values_of: Any = {
    name: _options(name, value)
    for name, value in get_type_hints(Parameters, include_extras=True).items()
    if name in Parameters.model_fields
}
# Values to choose from, a list a key; those of some keys in all combinations.
Ranges = create_model(
    "Ranges", __base__=Strict, force_all_combinations=(list[str], ...), **_values_of
)


class _RangesFile(Strict):
    parameters: Ranges


class Space:
    """What a file asks for: combinations, each with the values that are drawn anew every time."""

    def __init__(self, combinations: list[dict[str, Any]], drawn: dict[str, list[Any]]) -> None:
        self.combinations = combinations  # at least one
        self.drawn = drawn  # keys with several values that need not all be combined

    def parameters(self, combination: int, choice: dict[str, Any]) -> Parameters:
        """One point: a combination, and a value of each key that is drawn."""
        # The values are validated already: validating them again would read ns as ms.
        return Parameters.model_construct(**self.combinations[combination], **choice)


def read_space(path: Path) -> Space:
    """Reads a parameter or range file; raises TaktError for what cannot be asked for."""
    reference, example = "docs/how-to/generate-applications.md", "examples/parameters.json"
    if '"force_all_combinations"' not in _text(path):
        form = Form("a parameter set", _ParametersFile, "parameters", example, reference)
        document, source = yaml_file.read(path, form)
        return _restricted(Space([_values(document.parameters)], {}), source)
    ranges = Form("a parameter range", _RangesFile, "parameters", example, reference)
    found, source = yaml_file.read(path, ranges)
    options = _values(found.parameters)
    forced = options.pop("force_all_combinations")
    forced = [key.replace("-", "_") for key in forced]
    for index, key in enumerate(forced):
        if key not in options:
            raise TaktError(
                f"{key} has no values to combine",
                where=source.where(("parameters", "force_all_combinations", index)),
                fix=f"give a list of values, or some of {', '.join(options)}",
            )
    fixed = {key: values[0] for key, values in options.items() if key not in forced}
    drawn = {
        key: values for key, values in options.items() if key not in forced and len(values) > 1
    }
    combinations = [
        {key: value for key, value in fixed.items() if key not in drawn}
        | dict(zip(forced, values, strict=True))
        for values in itertools.product(*(options[key] for key in forced))
    ]
    return _restricted(Space(combinations, drawn), source)


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, TaktError):
        return ""  # said by the reader


def _values(model: Any) -> dict[str, Any]:
    return {name: value for name in type(model).model_fields
            if (value := getattr(model, name)) is not None}  # fmt: skip


def _restricted(space: Space, source: Source) -> Space:
    """Checks every point that may come up."""
    drawn = {key: values for key, values in space.drawn.items() if key in CHECKED}
    points = itertools.product(*drawn.values())
    for choice in [dict(zip(drawn, point, strict=True)) for point in points]:
        for combination in range(len(space.combinations)):
            parameters = space.parameters(combination, choice)
            for key, what, fix in (*violations(parameters), *contradictions(parameters)):
                places = [("parameters", key), ("parameters", key.replace("_", "-"))]
                lines = [source.where(place) for place in places]
                raise TaktError(what, where=max(lines, key=_line), fix=fix)
    return space


def _line(where: str) -> int:
    return int(where.rpartition(":")[2])
