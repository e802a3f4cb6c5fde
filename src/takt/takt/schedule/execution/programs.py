# SPDX-License-Identifier: Apache-2.0
"""Records which other programs had the cores of an application while it was executed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from takt.documents.writing import failure
from takt.processes.switches import Switches
from takt.schedule.trace.programs import append

_EXECUTORS = "takt."  # how the names of the threads begin that execute jobs


class OtherPrograms:
    """From now on, until it is closed."""

    def __init__(self, cpus: Collection[int], runner: str) -> None:
        """``runner`` is how the names of its processes begin: no thread so called is another's."""
        self._runner = runner
        self._own: set[int] = set()
        self._switches = Switches(cpus, self._is_own)

    def look(self, processes: Collection[int]) -> None:
        """Takes what happened since the last look; ``processes`` are those of the application."""
        self._own.update(processes)
        self._switches.look()

    def end(self) -> None:
        """The last look, when the application has ended."""
        self._switches.end()

    def close(self) -> None:
        """Stops recording."""
        self._switches.close()

    def append(self, trace: Path) -> None:
        """Writes them behind the events of the trace; raises Failure."""
        try:
            append(trace, self._switches)
        except OSError as error:
            error.filename = str(trace)  # a write does not name its file
            raise failure(error, "free space there, or choose another folder: --out") from None

    def _is_own(self, process: int, name: str) -> bool:
        """Whether a thread executes jobs; threads of the middleware do not."""
        if name.startswith(self._runner):
            return True
        return process in self._own and name.startswith(_EXECUTORS)
