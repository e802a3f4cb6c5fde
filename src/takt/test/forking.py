# SPDX-License-Identifier: Apache-2.0
"""The tool in processes of their own, forked from one that has imported it already.

A call is what ``python -m takt`` is (arguments, folder, environment, the three standard files, exit
code, death by a signal), without the half second of CPU time that the imports take each time.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

FILES = 3  # standard input, output, error
MOST_BYTES = 1 << 17
# What Python reads once, when it starts: another value takes a process of its own.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC", "OPENBLAS", "OMP_")
# Imported by functions of the tool; what is imported at the top of its modules comes with them.
USED = ("typer.main", "typer.rich_utils", "rich.progress", "rich.table", "pyarrow.parquet")


class Zygote:
    """Where calls are forked from; one at a time."""

    def __init__(self) -> None:
        self._busy = threading.Lock()
        self._start = at_start(os.environ)
        self._process: subprocess.Popen[bytes] | None = None

    def call(
        self, arguments: list[str], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str] | None:
        """The ended process; none where only one of its own would do."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            if not self._process:
                self._begin()
            if at_start(environment) != self._start:
                return None
            return self._call(arguments, folder, environment, timeout)
        except BaseException:
            self.end()  # it may be in the middle of an answer
            raise
        finally:
            self._busy.release()

    def end(self) -> None:
        """Ends it, until the next call."""
        if self._process:
            self._here.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _begin(self) -> None:
        self._here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            command = [sys.executable, str(Path(__file__)), str(there.fileno())]
            others = {name: os.environ[name] for name in os.environ.keys() - at_start(os.environ)}
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                env=others | self._start,
            )

    def _call(
        self, arguments: list[str], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        asked = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
            "cpus": sorted(os.sched_getaffinity(0)),
        }
        with (
            Path(os.devnull).open("rb") as nothing,
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        ):
            files = [nothing.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._here, [json.dumps(asked).encode()], files)
            code = self._code(int(self._here.recv(MOST_BYTES)), timeout)
            printed = [(file.seek(0), file.read())[1] for file in (out, err)]
        return subprocess.CompletedProcess(arguments, code, *printed)

    def _code(self, process: int, timeout: float) -> int:
        """How it ended; it does not outlive an interruption."""
        self._here.settimeout(timeout)
        try:
            return int(self._here.recv(MOST_BYTES))
        except BaseException as error:
            os.kill(process, signal.SIGKILL)
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired("takt", timeout) from None
            raise
        finally:
            self._here.settimeout(None)


def at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a process reads when it starts."""
    return {name: text for name, text in environment.items() if name.startswith(AT_START)}


def serve(asked: socket.socket) -> None:
    """Forks a process for each request, says which, and how it ended."""
    import_tool()
    while True:
        request, files, _, _ = socket.recv_fds(asked, MOST_BYTES, FILES)
        if not request:
            return
        child = os.fork()
        if not child:
            asked.close()
            become(json.loads(request), files)
        for file in files:
            os.close(file)
        asked.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        asked.send(str(os.waitstatus_to_exitcode(status)).encode())


def import_tool() -> None:
    """Every module of the tool, and what they import later."""
    import takt

    for module in pkgutil.walk_packages(takt.__path__, "takt."):
        if module.name != "takt.__main__":
            import_module(module.name)
    for name in USED:
        import_module(name)
    gc.freeze()  # nothing of it is looked at again, and so copied, in a forked process
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork")


def become(request: dict[str, Any], files: list[int]) -> None:
    """The tool, as if it had been started so."""
    from takt.cli.main import main

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.sched_setaffinity(0, request["cpus"])
    sys.argv = ["takt", *request["arguments"]]
    code: object = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - as Python itself tells it
        sys.excepthook(*sys.exc_info())
    leave(0 if code is None else code if isinstance(code, int) else 1)


def leave(code: int) -> None:
    """As Python ends, but for taking apart what so many modules made."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError):  # closed
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as given:
        serve(given)
