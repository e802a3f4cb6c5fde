# SPDX-License-Identifier: Apache-2.0
"""What is to be done where a run is killed: one of a list, named in its scratch folder.

It is written before that is changed which it takes back, and removed afterwards. Who finds the run
dead does it: its undertaker, the next run, ``takt clean``. The file only names what is on the list
here: whoever writes one makes nobody execute anything else.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from takt.documents import own

FILE = "last_will.txt"
LIMIT_S = 60.0
REVERT = "tune --revert"
_WORDS = {REVERT: ("tune", "--revert")}  # of the tool's command line


@contextlib.contextmanager
def of(folder: Path | None, will: str) -> Iterator[None]:
    """Stands there meanwhile; without a folder nobody would find it."""
    if folder is None:
        yield
        return
    with own.opened(folder) as place:
        place.write(FILE, f"{will}\n")
        yield
        place.remove(FILE)  # not where it could not be taken back: somebody tries again


def left_in(folder: Path, *, execute_it: bool) -> bool:
    """Whether something is written there; does it, and removes it where that went well.

    The folder is one that is taken for Takt's own; raises Refused where the file is not.
    """
    try:
        with own.opened(folder) as place:
            text = place.text(FILE)
            words = _WORDS.get(text.removesuffix("\n"))
            if words is None:
                raise own.Refused(folder / FILE, "it names no action of Takt")
            if execute_it and _do(words):
                place.remove(FILE)
    except FileNotFoundError:
        return False
    return True


def _do(words: tuple[str, ...]) -> bool:
    """Whether this very Takt did it."""
    path = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [sys.executable, "-m", "takt", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",  # Python looks for modules where it is started
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            timeout=LIMIT_S,
            check=False,
            start_new_session=True,
        )
        return done.returncode == 0
    return False
