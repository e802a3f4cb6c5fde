# SPDX-License-Identifier: Apache-2.0
"""What guests leave of each job that has ended, in the results folder until its run is whole.

A command that was stopped continues there: it boots again, and measures only what is missing.
``takt lab`` leaves nothing of single jobs: its guests mount no folder for them before the first.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from takt.documents.writing import write_text
from takt.errors import Failure
from takt.measure.results import store
from takt.processes import scratch

LEFT = "guest"  # a folder with what a guest has left, until its run is written
ASKED = "guest.json"  # what was asked for: only the same goes on


def begin(own: Path, asked: Any, **more: Any) -> bool:
    """Whether something is left to be measured in the folder ``own`` of what ``asked`` says.

    ``asked``: a dataclass. Raises Failure where the folder is of something else.
    """
    file, left = own / ASKED, own / LEFT
    text = json.dumps({**more, **asdict(asked)}, indent=1, sort_keys=True, default=str) + "\n"
    if file.exists():
        if file.read_text(encoding="utf-8") != text:
            fix = "choose another folder: --out, or give the same options"
            raise Failure("the folder is of a run with other options", where=str(file), fix=fix)
        if (own / scratch.DOCUMENT).exists() and not left.exists():
            return False
        (own / scratch.DOCUMENT).unlink(missing_ok=True)  # its page was perhaps not written
    store.create(own)
    left.mkdir(exist_ok=True)
    write_text(file, text)
    return True
