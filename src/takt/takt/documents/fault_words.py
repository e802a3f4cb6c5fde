# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a value, in the words of who wrote it.

pydantic, which checks it, names types of Python and regular expressions. Its types of errors
(https://docs.pydantic.dev/latest/errors/validation_errors) are turned into sentences here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

from pydantic_core import ErrorDetails

from takt.errors import shortened

Words = Callable[[Any, dict[str, Any]], str]  # of a value, and of what pydantic says of its fault


def _choice(value: Any, said: dict[str, Any]) -> str:
    near = difflib.get_close_matches(str(value).lower(), _quoted(said["expected"]), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"must be {said['expected']}{hint}"


def _quoted(text: str) -> list[str]:
    return re.findall("'([^']*)'", text)


def _least(value: Any, said: dict[str, Any]) -> str:
    if not value:
        return "must not be empty"
    return f"needs at least {said['min_length']} entries"


def _most(_value: Any, said: dict[str, Any]) -> str:
    return f"has more than {said['max_length']} entries"


_OF_64 = "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_LETTERS = "a name has at most 64 letters from A to Z, digits, '_', '.' and '-'"
_NAMES = {
    "[A-Za-z_][A-Za-z0-9_]*": "a name has letters from A to Z, digits and _, and no digit first",
    "[A-Za-z_][A-Za-z0-9_-]*": "a name has letters from A to Z, digits, _ and -, and begins with"
    " a letter",
    "[A-Za-z_/~][A-Za-z0-9_/]*": "a topic has letters from A to Z, digits, _ and /, and no digit"
    " first",
    _OF_64: _LETTERS,
    f"{_OF_64}(,{_OF_64})?": f"{_LETTERS}; two names have a comma between them",
}


def _pattern(_value: Any, said: dict[str, Any]) -> str:
    pattern = said["pattern"].removeprefix("^").removesuffix("$")
    return f"is not allowed: {_NAMES.get(pattern, f'it must match {pattern}')}"


_WORDS: dict[str, Words] = {
    "greater_than": lambda _, said: f"must be greater than {said['gt']:g}",
    "greater_than_equal": lambda _, said: f"must be at least {said['ge']:g}",
    "less_than": lambda _, said: f"must be less than {said['lt']:g}",
    "less_than_equal": lambda _, said: f"must be at most {said['le']:g}",
    "literal_error": _choice,
    "too_short": _least,
    "too_long": _most,
    "string_pattern_mismatch": _pattern,
}
_KINDS = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
}


def words(fault: ErrorDetails) -> str | None:
    """``must be at most 98``; None where pydantic's own words serve."""
    said = fault.get("ctx", {})
    if own := _WORDS.get(fault["type"]):
        return own(fault["input"], said)
    kind, _, rest = fault["type"].partition("_")
    if kind in _KINDS and rest in {"type", "parsing", "from_float"}:
        return f"must be {_KINDS[kind]}{_how(kind, fault['input'])}"
    return None


def _how(kind: str, value: Any) -> str:
    """An example of how to write it."""
    if kind == "string" and isinstance(value, (bool, int, float)):
        return f': write "{_yaml(value)}"'
    if kind in {"list", "tuple"} and isinstance(value, (bool, int, float, str)):
        return f", such as [{_yaml(value)}]"
    return ""


def _yaml(value: object) -> str:
    return shortened(str(value).lower() if isinstance(value, bool) else str(value), 80)
