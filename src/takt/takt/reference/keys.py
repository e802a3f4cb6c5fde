# SPDX-License-Identifier: Apache-2.0
"""Models as tables of their keys: of the files that people write, and of the documents of Takt.

What a key means is the description of its field, or else the comment beside or above it.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import tokenize
from collections.abc import Iterator
from io import StringIO
from typing import Any, get_type_hints

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from takt.pages.markdown import prose, table

Schema = dict[str, Any]
_DEFAULT = re.compile(r"(?:^|; )default: (.*)$")


def tables(root: type[BaseModel], *, written_by_people: bool) -> Iterator[str]:
    """A section for the model and for each one that it refers to, in the order of reference."""
    mode: JsonSchemaMode = "validation" if written_by_people else "serialization"
    whole = root.model_json_schema(mode=mode)
    parts: dict[str, Schema] = {root.__name__: whole, **whole.get("$defs", {})}
    models = {model.__name__: model for model in _models(root)}
    for name in _reachable(root.__name__, parts):
        part, model = parts[name], models.get(name)
        yield from (f"## {name}", "", _prose(part.get("description", "")), "")
        if model is not None:
            head = ("key", "value", "meaning", *(("default",) if written_by_people else ()))
            yield from table(head, _keys(part, model, with_defaults=written_by_people))
        else:
            yield f"One of {_value(part)}."
        yield ""
        others = part.get("additionalProperties")
        if isinstance(others, dict):
            yield from (f"Any other key is a name, with {_value(others)}.", "")


def undescribed(root: type[BaseModel]) -> Iterator[str]:
    """Keys that nobody explains, as ``Model.key``."""
    for model in _models(root):
        comments = _comments(model)
        for key, field in model.model_fields.items():
            if not (field.description or comments.get(key)):
                yield f"{model.__name__}.{key}"


def _keys(
    part: Schema, model: type[BaseModel], *, with_defaults: bool
) -> Iterator[tuple[str, ...]]:
    comments = _comments(model)
    for key, value in part["properties"].items():
        said = value.get("description") or comments.get(key, "")
        default = _DEFAULT.search(said)
        may = _value(value)
        cells: tuple[str, ...] = (
            f"`{key}`",
            may.replace(" or `null`", "") if with_defaults else may,  # people leave it out
            _prose(said[: default.start()] if default else said),
        )
        if with_defaults:
            cells = (*cells, default[1] if default else _default(model, key))
        yield cells


def _default(model: type[BaseModel], key: str) -> str:
    """What a key is where it is left out, as people would write it."""
    if key in model.model_fields and model.model_fields[key].is_required():
        return "required"
    given = model.model_construct().model_dump(mode="json", include={key}).get(key)
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    return f"`{json.dumps(given)}`".replace('"', "") if given not in (None, "", [], {}) else "none"


def _value(schema: Schema) -> str:
    """What may stand there, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", maxsplit=1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return _choice(schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type"))
    return _OF_KIND.get(kind, _plain)(schema)


def _list(schema: Schema) -> str:
    of = _value(schema.get("items", {}))
    return f"list of {_MANY.get(of, of)}"


def _mapping(schema: Schema) -> str:
    patterns = schema.get("patternProperties") or {"": schema.get("additionalProperties")}
    of = next(iter(patterns.values()))
    return f"names, each with {_value(of)}" if isinstance(of, dict) and of else "keys and values"


def _text(schema: Schema) -> str:
    examples = ", ".join(f"`{one}`" for one in schema.get("examples", []))
    return ("such as " if "pattern" in schema else "") + examples if examples else "text"


def _plain(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above = "" if low is None else f", from {low}" if high is None else f", {low} to {high}"
    return _KINDS.get(str(schema.get("type")), "anything") + above


_OF_KIND = {"array": _list, "object": _mapping, "string": _text}
_KINDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "`true`, `false`",
    "null": "`null`",
}
_MANY = {"whole number": "whole numbers", "number": "numbers", "text": "texts"}


def _choice(choices: list[Schema]) -> str:
    lists = [one.get("items") for one in choices if one.get("type") == "array"]
    rest = [one for one in choices if one.get("type") != "array"]
    if any(one in lists for one in rest):  # an axis
        return f"{_choice(rest)}; or a list"
    return " or ".join(dict.fromkeys(_value(one) for one in choices))


def _reachable(root: str, parts: dict[str, Schema]) -> Iterator[str]:
    """The parts as they are met, each once."""
    waiting, visited = [root], {root}
    while waiting:
        name = waiting.pop(0)
        yield name
        met = [one for one in _references({**parts[name], "$defs": {}}) if one not in visited]
        for one in dict.fromkeys(met):
            visited.add(one)
            waiting.append(one)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rsplit("/", maxsplit=1)[-1]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _models(root: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and all that its fields mention, at any depth."""
    visited: set[type[BaseModel]] = set()
    waiting: list[Any] = [root]
    while waiting:
        one = waiting.pop()
        if inspect.isclass(one) and issubclass(one, BaseModel):
            if one not in visited:
                visited.add(one)
                yield one
                waiting += get_type_hints(one).values()
        else:
            waiting += getattr(one, "__args__", ())


def _comments(model: type[BaseModel]) -> dict[str, str]:
    """The comments beside the fields, or above them, of a model and its bases."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, BaseModel) and one is not BaseModel:
            found |= _comments_in(textwrap.dedent(inspect.getsource(one)))
    return found


def _comments_in(source: str) -> dict[str, str]:
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    comments = {
        token.start[0]: (token.string[1:].strip(), token.line.lstrip().startswith("#"))
        for token in tokens
        if token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type"))
    }
    found = {}
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        beside = comments.get(node.end_lineno or node.lineno)
        above: list[str] = []
        line = node.lineno - 1
        while line in comments and comments[line][1]:
            above.insert(0, comments[line][0])
            line -= 1
        found[node.target.id] = beside[0] if beside else " ".join(above)
    return found


def _prose(text: str) -> str:
    return re.sub(r"\bNone\b", "null", prose(text))
