# SPDX-License-Identifier: Apache-2.0
"""The root of the command line.

A command is a module ``takt.cli.<name>`` with one typed function of the same name; its docstring is
its help; one that is a keyword of Python has an underscore behind it there. Where the module has
``PARTS``, each is a command below it, in the module ``<its name>_<part>``. Plug-ins add commands
(``takt.plugins``).
Only the module of the command that is called is imported, and these modules import everything heavy
inside their function, so that the tool starts at once.
"""

from __future__ import annotations

import importlib
import keyword
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from takt import __version__

if TYPE_CHECKING:
    import typer

# In the order in which a newcomer meets them.
COMMANDS = (
    "check",
    "doctor",
    "tune",
    "measure",
    "run",
    "report",
    "compare",
    "history",
    "analyse",
    "simulate",
    "compare-executors",
    "execute",
    "record",
    "spin",
    "model",
    "metrics",
    "gate",
    "explain",
    "generate",
    "import",
    "campaign",
    "scheduler",
    "worker",
    "trace",
    "view",
    "top",
    "bench",
    "clean",
    "setup",
)


def main(arguments: list[str] | None = None) -> None:
    """Run the tool and leave the process with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # not worth importing anything for
        sys.stdout.write(f"takt {__version__}\n")
        sys.exit(0)
    from takt.cli.ending import ending

    with ending(arguments):
        _application()(arguments, prog_name="takt")


def every() -> list[str]:
    """The names of all commands: the tool's own, then those of the plug-ins that load."""
    from takt import plugins

    return [*COMMANDS, *(one for one in plugins.loaded(plugins.COMMANDS) if one not in COMMANDS)]


def function(command: str) -> Callable[..., None] | None:
    """The function of a command or of one below it (``lab image``); None: there is no such command.

    Raises Failure if it is of a plug-in that does not load.
    """
    name, _, part = command.partition(" ")
    found: Callable[..., None]
    if name in COMMANDS:
        below = name.replace("-", "_") + "_" * keyword.iskeyword(name)
        found = getattr(importlib.import_module(f"takt.cli.{below}"), below)
    else:
        from takt import plugins

        plug_in = plugins.found(plugins.COMMANDS).get(name)
        if plug_in is None:
            return None
        found = plug_in.load()
    if part:
        found = getattr(importlib.import_module(f"{found.__module__}_{part}"), part)
    return found


def parts(function: Callable[..., None]) -> tuple[str, ...]:
    """The names of the commands below a command."""
    found: tuple[str, ...] = getattr(sys.modules[function.__module__], "PARTS", ())
    return found


def _application() -> Any:
    """Build the group of commands, each loaded when it is looked up."""
    import difflib

    import typer
    import typer.main

    from takt.cli.usage import Command, Group, readable

    class LazyCommands(Group):
        def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
            return every()

        def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
            own = function(cmd_name)
            if own is None:
                if near := difflib.get_close_matches(cmd_name, every(), n=1):
                    ctx.fail(f"No such command '{cmd_name}'. Did you mean '{near[0]}'?")
                return None
            single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            if parts(own):
                single.callback(cls=Group, invoke_without_command=True)(own)
            else:
                single.command(name=cmd_name, cls=Command)(own)
            for part in parts(own):
                single.command(name=part, cls=Command)(function(f"{cmd_name} {part}"))  # type: ignore[type-var]
            command = typer.main.get_command(single)
            command.name = cmd_name
            return readable(command)

    root = typer.Typer(
        cls=LazyCommands,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
    )

    @root.callback()
    def takt(
        version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    ) -> None:
        """Real-time ROS 2, measured, scheduled and proved.

        Start with: takt check
        """
        if version:
            sys.stdout.write(f"takt {__version__}\n")
            raise typer.Exit

    return readable(typer.main.get_command(root))
