# SPDX-License-Identifier: Apache-2.0
"""How every command ends: whatever was raised becomes words, and an exit code that says which kind.

0 done, 1 a verdict against or a failure, 2 wrong use, 70 a fault of Takt itself (EX_SOFTWARE of
sysexits.h), 130 interrupted before there was anything to keep, 141 nobody read standard output any
more (as shells say it of SIGINT and SIGPIPE).
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from takt.cli import interrupt
from takt.cli.output import STANDARD_OUTPUT, naming_standard_output
from takt.cli.shortage import shortage
from takt.errors import Failure, TaktError

FAULT = 70
NO_READER = 141


@contextlib.contextmanager
def ending(arguments: Sequence[str]) -> Iterator[None]:
    """Ends the process with an exit code if what is in it raises anything."""
    try:
        with _open_streams():
            yield
    except TaktError as error:
        _print(error)
        sys.exit(error.exit_code)
    except OSError as error:
        if lacking := shortage(error):
            _print(lacking)
            sys.exit(lacking.exit_code)
        if error.errno is None:
            _print_fault(error, arguments)
            sys.exit(FAULT)
        from takt.documents.writing import failure

        if error.filename == STANDARD_OUTPUT:  # no file on any disk
            failed: TaktError = Failure(error.strerror or str(error), where=STANDARD_OUTPUT)
        else:
            failed = failure(error)
        _print(failed)
        sys.exit(failed.exit_code)
    except KeyboardInterrupt:
        sys.exit(interrupt.CODE)
    except Exception as error:  # noqa: BLE001 - the last one that could say anything about it
        if interrupt.caused(error):
            sys.exit(interrupt.CODE)
        if lacking := shortage(error):
            _print(lacking)
            sys.exit(lacking.exit_code)
        _print_fault(error, arguments)
        sys.exit(FAULT)
    finally:
        _close_unread_errors()


@contextlib.contextmanager
def _open_streams() -> Iterator[None]:
    """Everything that was said reaches standard output, or the process says that it does not."""
    for stream in (sys.stdout, sys.stderr):
        # The name of a file may be no UTF-8.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            with naming_standard_output():
                sys.stdout.flush()
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # click and rich end with 1 at it
            _close(sys.stdout)
            sys.exit(NO_READER)
        raise
    except BrokenPipeError:
        _close(sys.stdout)
        sys.exit(NO_READER)
    except OSError as error:
        if error.filename == STANDARD_OUTPUT:
            error.filename = _file_of_output() or STANDARD_OUTPUT
            _close(sys.stdout)
        raise


def _file_of_output() -> str | None:
    """The file that standard output goes to, if it is one: its disk is the one that is full."""
    with contextlib.suppress(OSError):
        file = Path(f"/proc/self/fd/{sys.stdout.fileno()}").readlink()
        return str(file) if file.is_file() else None
    return None


def _close_unread_errors() -> None:
    """Where nobody reads standard error, Python would end with 120 instead of the exit code."""
    try:
        sys.stderr.flush()
    except OSError:
        _close(sys.stderr)


def _close(stream: IO[str]) -> None:
    """So that Python does not complain once more at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


def _print(error: TaktError) -> None:
    from takt.cli.output import print_error

    with contextlib.suppress(BrokenPipeError):
        print_error(error)


def _print_fault(error: Exception, arguments: Sequence[str]) -> None:
    log = None
    with contextlib.suppress(OSError):
        descriptor, log = tempfile.mkstemp(prefix="takt-fault-", suffix=".log", text=True)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"takt {' '.join(arguments)}\n\n")
            file.writelines(traceback.format_exception(error))
    what = f"bug in Takt: {type(error).__name__}: {error}".replace("\n", " ")
    fix = f"report it and attach {log}" if log else "report it; writing its log failed"
    _print(TaktError(what, fix=f"{fix}; all files written so far are complete"))
