# SPDX-License-Identifier: Apache-2.0
"""Reads a YAML file against a model; every error names file and line, the key and what is allowed.

What people write (experiments, applications) is read here and nowhere else, so that their mistakes
are all answered alike.
"""

from __future__ import annotations

import difflib
import reprlib
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from takt.documents import fault_words, reading
from takt.errors import TaktError, shortened, together

Location = tuple[int | str, ...]
Model = TypeVar("Model", bound=BaseModel)
MOST_WRITTEN = 80
MOST_KEYS = 8  # of a mapping that is not there; more say nothing
# Keys that only one kind of file has at its top, and what that is.
_ONLY = {
    "nodes": "an application file: takt analyse, simulate and execute read it",
    "measurements": "an experiment: takt run reads it",
    "parameters": "a file of parameters: takt generate and campaign read it",
}
_KEY = "[key]"  # pydantic's last part of the location of a key that is wrong itself


class KeyFaults(ValueError):
    """Several faults of one mapping, for a validator to raise: of each, its key and a message."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(text for _, text in faults))
        self.faults = faults


class Source:
    """Where the parts of a document stand; for one made by options, their names."""

    def __init__(self, file: Path | None = None, tree: Any = None) -> None:
        self.file = file
        self._tree = tree

    def where(self, location: Location) -> str:
        """``file:line`` of a key, or of the nearest one around it; ``--key`` without a file."""
        if self.file is None:
            option = _option(location)
            return f"--{option}" if option else "the options"
        node, line = self._tree, 0
        for part in location:
            try:
                position = node.lc.key(part) if isinstance(part, str) else node.lc.item(part)
                node, line = node[part], position[0]
            except (AttributeError, KeyError, IndexError, TypeError):
                break  # the key is missing or its value is no container: what is around it counts
        return f"{self.file}:{line + 1}"


@dataclass(frozen=True)
class Form(Generic[Model]):
    """A kind of file."""

    noun: str  # with its article: an experiment
    model: type[Model]
    keys: str  # what it must have: name and measurements
    example: str  # the path of a small one
    reference: str  # the path of the page with its keys
    hint: Callable[[list[ErrorDetails]], str | None] = lambda _: None  # a better fix


def read(file: Path, form: Form[Model]) -> tuple[Model, Source]:
    """Reads and checks a file; raises TaktError with all of its faults."""
    from takt.documents import yaml_tree

    noun = form.noun.split(" ", 1)[1]
    try:
        text = reading.read_text(file)
    except FileNotFoundError:
        raise TaktError(
            f"no such {noun.removesuffix(' file')} file",
            where=str(file),
            fix=f"give the path of a file; for an example, see {form.example}",
        ) from None
    if file.suffix == ".json":  # is YAML, too, but its faults are better told as JSON's
        reading.parse_json(text, str(file))
    tree = yaml_tree.parse(text, str(file))
    source = Source(file, tree)
    return check(_plain(tree), source, form), source


def check(document: Any, source: Source, form: Form[Model]) -> Model:
    """Checks plain data against the model; raises TaktError with all of its faults."""
    if not isinstance(document, dict):
        raise TaktError(
            f"{form.noun} must be a mapping with {form.keys}",
            where=source.where(()),
            fix=f"see {form.example} and {form.reference}",
        )
    try:
        return form.model.model_validate(document, context={"file": source.file})
    except ValidationError as error:
        faults = list(_each(error))
        fix = None
        if source.file is not None:
            _refuse_another_kind(document, source, form)
            general = f"correct the file; see {form.reference} for every key"
            fix = form.hint(faults) or general
        listed: set[str] = set()  # keys that are allowed are told once
        raise together(
            [
                TaktError(
                    _explain(fault, source, form.model, listed),
                    where=source.where(fault["loc"]),
                    fix=fix,
                )
                for fault in faults
            ]
        ) from None


def _refuse_another_kind(document: Mapping[Any, Any], source: Source, form: Form[Model]) -> None:
    """A file that is whole, but not what was asked for, is one fault, not one of each key."""
    for key, what in _ONLY.items():
        if key in document and key not in form.model.model_fields:
            fix = f"give {form.noun}; see {form.example}"
            raise TaktError(f"this is {what}", where=source.where((key,)), fix=fix)


def _each(error: ValidationError) -> Iterator[ErrorDetails]:
    """All faults, those of one mapping apart."""
    for fault in error.errors(include_url=False):
        raised = fault.get("ctx", {}).get("error")
        if not isinstance(raised, KeyFaults):
            yield fault
            continue
        for key, text in raised.faults:
            yield {**fault, "loc": (*fault["loc"], key), "msg": text}


def _explain(fault: ErrorDetails, source: Source, model: type[BaseModel], listed: set[str]) -> str:
    location = fault["loc"]
    key = _option(location) if source.file is None else _path(location)
    if fault["type"] == "extra_forbidden":
        allowed = sorted(_keys_at(model, location[:-1]))
        close = difflib.get_close_matches(str(location[-1]), allowed, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        every = f" (allowed: {', '.join(allowed)})"
        if every in listed:
            every = ""
        listed.add(every)
        return f"unknown key {key}{hint}{every}"
    if fault["type"] == "missing":
        return f"key {key} is missing"
    if fault["type"] in {"model_type", "dict_type"}:
        allowed = sorted(_keys_at(model, location))
        keys = f" with the keys {', '.join(allowed)}" if 0 < len(allowed) <= MOST_KEYS else ""
        if fault["input"] is None:
            return f"{key} is empty; it must be a mapping{keys}"
        return f"{key}: {_written(fault['input'])} is not a mapping{keys}"
    if source.file is None:  # the option's name stands before the message already
        key = ""
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] != "value_error":
        own = fault_words.words(fault)
        message = f" {own}" if own else f": {message[0].lower()}{message[1:]}"
        message = f"{_written(fault['input'])}{message}"
    return f"{key}: {message}" if key else message


def _keys_at(model: type[BaseModel], location: Location) -> set[str]:
    """The keys that are allowed in the mapping at this location."""
    kind: Any = model
    for part in location:
        kind = _bare(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            known = kind.model_fields
            by_alias = (one for one in known.values() if one.alias == str(part))
            field = known.get(str(part)) or next(by_alias, None)
            extras = typing.get_type_hints(kind).get("__pydantic_extra__")
            kind = field.annotation if field else typing.get_args(_bare(extras))[-1]
        else:  # a list or a dictionary
            kind = typing.get_args(kind)[-1]
    kind = _bare(kind)
    fields = kind.model_fields if hasattr(kind, "model_fields") else {}
    return {field.alias or name for name, field in fields.items()}


def _bare(kind: Any) -> Any:
    """A type without its annotations and without None."""
    while True:
        origin = typing.get_origin(kind)
        if origin is typing.Annotated:
            kind = typing.get_args(kind)[0]
        elif origin in {typing.Union, types.UnionType}:
            kind = next(one for one in typing.get_args(kind) if one is not type(None))
        else:
            return kind


def _written(value: Any) -> str:
    """What stands in the file; it may be of any length."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return shortened(reprlib.repr(value), MOST_WRITTEN)


_OPTIONS = {"measurements": ""}  # where the names differ


def _option(location: Location) -> str:
    """The option that stands for a key, for a document made by options."""
    keys = [part for part in location if isinstance(part, str)]
    key = keys[-1] if keys else ""
    return _OPTIONS.get(key, key.replace("_", "-"))


def _path(location: Location) -> str:
    """``measurements[0].payload``; positions in an axis of one value are left out by pydantic."""
    text = ""
    for part in location:
        if part == _KEY:
            continue
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
