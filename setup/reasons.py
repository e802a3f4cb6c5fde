# SPDX-License-Identifier: Apache-2.0
"""Why a step failed, out of what it printed: the errors, which seldom stand at its end."""

from __future__ import annotations

import re

MOST = 12  # the first ones; the others mostly follow from them
END = 25  # lines, where none says that it is an error
WIDTH = 300  # templates have names of any length
# As compilers say it, with file and line before it, linkers, and CMake.
ERROR = re.compile(r"\berror: |\bundefined reference to |\bld: cannot find |^CMake Error")
IN_TWO_LINES = re.compile(r"^(CMake Error.*:)\n+ +", re.MULTILINE)  # the place, then what is wrong


def reasons(printed: str) -> str:
    """The first errors, each once; where there are none, the last lines."""
    lines = [line.rstrip() for line in IN_TWO_LINES.sub(r"\1 ", printed).splitlines()]
    errors = list(dict.fromkeys(line for line in lines if ERROR.search(line)))
    shown = errors[:MOST] if errors else lines[-END:]
    rest = [f"({len(errors) - MOST} more)"] if len(errors) > MOST else []
    cut = [line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in shown]
    return "\n".join([*cut, *rest]) or "(it printed nothing)"
