# SPDX-License-Identifier: Apache-2.0
"""How help is written: arguments called as in the reference, paragraphs as wide as the terminal.

Typer puts required arguments into braces, names a flag's type as if it took a value, and keeps the
line ends of docstrings. Of a wrong choice it tells as the library does that it checks with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from takt.cli import interrupt

_BRACES = re.compile(r"\{(.+)\}")
_TWICE = re.compile(r"(…\]?)\.\.\.")  # "TRACE…" says by itself that there may be several
_PLAIN = {
    "Input should be": "must be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "a valid integer": "a whole number",
    "a valid number": "a number",
}
_LINE_END = re.compile(r"(?<!\n)\n(?!\n|Example: )")  # neither of a paragraph nor of an example


if TYPE_CHECKING:
    _Base = TyperCommand
else:
    _Base = object


class _Plain(_Base):
    """What commands and groups of them have in common."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command's name, as in the reference: ``[OPTIONS] DIR``."""
        return _unbraced(super().collect_usage_pieces(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuses a wrong choice in plain words."""
        with _plain_words():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Begins what an interrupt is to end in order; the root does nothing itself."""
        if ctx.parent is not None:
            interrupt.is_raised()
        return super().invoke(ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """``--help``, which is a flag, too."""
        return _flag(super().get_help_option(ctx))


class Command(_Plain, TyperCommand):
    """A command."""


class Group(_Plain, TyperGroup):
    """A command with others below it."""


@contextmanager
def _plain_words() -> Iterator[None]:
    try:
        yield
    except BadParameter as error:
        message = error.message.removeprefix("Value error, ").partition(", unable to parse")[0]
        for library, plain in _PLAIN.items():
            message = message.replace(library, plain, 1)
        error.message = message
        raise


def _unbraced(pieces: list[str]) -> list[str]:
    return [_TWICE.sub(r"\1", _BRACES.sub(r"\1", piece)) for piece in pieces]


def _flag(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


def readable(command: Any) -> Any:
    """The same command, its arguments in capitals and its flags without a value; also below it."""
    command.help = _LINE_END.sub(" ", cleandoc(command.help or ""))
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.metavar = parameter.metavar or parameter.name.upper()
        elif parameter.is_flag:
            _flag(parameter)
    for below in getattr(command, "commands", {}).values():
        readable(below)
    return command
