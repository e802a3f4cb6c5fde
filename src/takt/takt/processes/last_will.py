# SPDX-License-Identifier: Apache-2.0
"""What is to be done where a run is killed: a command in its scratch folder; standard library only.

It is written before that is changed which the command takes back, and removed afterwards. Who finds
the run dead executes it: its undertaker, the next run, ``takt clean``.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

FILE = "last_will.json"
LIMIT_S = 60.0


@contextlib.contextmanager
def of(folder: Path | None, command: Sequence[str]) -> Iterator[None]:
    """Stands there meanwhile; without a folder nobody would find it."""
    if folder is None:
        yield
        return
    file = folder / FILE
    fresh = file.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as stream:
        json.dump({"command": list(command), "path": os.environ.get("PYTHONPATH", "")}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)
    yield
    file.unlink(missing_ok=True)  # not where it could not be taken back: somebody tries again


def left_in(folder: Path, *, execute_it: bool) -> bool:
    """Whether something is written there; executes it, and removes it where that went well."""
    file = folder / FILE
    try:
        will = json.loads(file.read_text(encoding="utf-8"))
        command, path = [str(one) for one in will["command"]], str(will["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if execute_it:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": path},
                timeout=LIMIT_S,
                check=False,
                start_new_session=True,
            )
            if done.returncode == 0:
                file.unlink(missing_ok=True)
    return True
