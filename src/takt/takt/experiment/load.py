# SPDX-License-Identifier: Apache-2.0
"""Reads an experiment file; every error names the file, the line, the key and what is allowed."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from takt.errors import TaktError
from takt.experiment.model import Experiment, Measurement, Strict

Location = tuple[int | str, ...]
REFERENCE = "docs/reference/experiment.schema.json"


class Source:
    """Where the parts of an experiment stand; for one made by options, their names."""

    def __init__(self, file: Path | None = None, tree: Any = None) -> None:
        self.file = file
        self._tree = tree

    def where(self, location: Location) -> str:
        """``file:line`` of a key, or of the nearest one around it; ``--key`` without a file."""
        if self.file is None:
            return f"--{_option(location)}"
        node, line = self._tree, 0
        for part in location:
            try:
                position = node.lc.key(part) if isinstance(part, str) else node.lc.item(part)
                node, line = node[part], position[0]
            except (AttributeError, KeyError, IndexError, TypeError):
                break  # the key is missing or its value is no container: what is around it counts
        return f"{self.file}:{line + 1}"


def load(file: Path) -> tuple[Experiment, Source]:
    """Reads and checks a file; raises TaktError with all of its faults."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        tree = YAML(typ="rt").load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TaktError(
            "there is no such experiment file",
            where=str(file),
            remedy="give the path of a YAML file; experiments/quick.yaml is a small one",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise TaktError(f"the file cannot be read: {error}", where=str(file)) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        problem = (error.problem or str(error)).split("\n")[0]
        raise TaktError(f"not valid YAML: {problem}", where=f"{file}{line}") from None
    except YAMLError as error:
        raise TaktError(f"not valid YAML: {error}", where=str(file)) from None
    source = Source(file, tree)
    return check(_plain(tree), source), source


def check(document: Any, source: Source) -> Experiment:
    """Checks plain data against the model; raises TaktError with all of its faults."""
    if not isinstance(document, dict):
        raise TaktError(
            "an experiment is a mapping with name and measurements",
            where=source.where(()),
            remedy=f"see experiments/quick.yaml and {REFERENCE}",
        )
    try:
        return Experiment.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first, *others = [(source.where(fault["loc"]), _explain(fault, source)) for fault in faults]
        lines = [first[1], *(f"\n{where}: {what}" for where, what in others)]
        raise TaktError("".join(lines), where=first[0], remedy=_remedy(faults, source)) from None


def _explain(fault: ErrorDetails, source: Source) -> str:
    location = fault["loc"]
    key = _option(location) if source.file is None else _path(location)
    if fault["type"] == "extra_forbidden":
        allowed = sorted(_model_at(location).model_fields)
        close = difflib.get_close_matches(str(location[-1]), allowed, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"unknown key {key}{hint} (allowed: {', '.join(allowed)})"
    if fault["type"] == "missing":
        return f"the key {key} is missing"
    if fault["type"] in {"model_type", "dict_type"}:
        return f"{key}: {fault['input']!r} is not a mapping of keys to values"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "value_error":
        return f"{key}: {message}" if key else message
    return f"{key}: {fault['input']!r}: {message[0].lower()}{message[1:]}"


def _remedy(faults: list[ErrorDetails], source: Source) -> str | None:
    if source.file is None:
        return None
    kinds = get_args(Measurement.model_fields["kind"].annotation)
    if any(fault["loc"][-1:] == ("kind",) for fault in faults):
        return f"kind is one of {', '.join(kinds)}"
    return f"correct the file; {REFERENCE} describes every key"


def _model_at(location: Location) -> type[Strict]:
    return Measurement if location[:1] == ("measurements",) and len(location) > 2 else Experiment


def _option(location: Location) -> str:
    """The option that stands for a key, for an experiment made by options."""
    keys = [part for part in location if isinstance(part, str)]
    return keys[-1].replace("_", "-") if keys else "help"


def _path(location: Location) -> str:
    """``measurements[0].payload``; positions in an axis of one value are left out by pydantic."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _plain(node: Any) -> Any:
    """ruamel's containers and scalars as Python's own (its strings and numbers are subclasses)."""
    if isinstance(node, dict):
        return {_plain(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node
