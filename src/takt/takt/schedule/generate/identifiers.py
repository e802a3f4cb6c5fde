# SPDX-License-Identifier: Apache-2.0
"""Names of C++ for what an application names: each stands for one thing."""

from __future__ import annotations

import re
from collections.abc import Callable

#: What the templates name themselves, as far as names of an application could be the same.
OWN = {"on_signal", "message_of", "real_time", "end_process", "cpu_set_t", "sched_getaffinity"}
OWN |= {"sched_setaffinity", "run_node_processes"}
#: Words of the language: the name of a callback has an underscore.
WORDS = {"static_cast", "dynamic_cast", "const_cast", "reinterpret_cast", "static_assert"}
WORDS |= {"thread_local", "co_await", "co_return", "co_yield"}
WORDS |= {"char8_t", "char16_t", "char32_t", "wchar_t", "and_eq", "or_eq", "xor_eq", "not_eq"}


class Identifiers:
    """Those of one source file."""

    def __init__(self) -> None:
        self._taken = OWN | WORDS

    def of(self, name: str, spellings: Callable[[str], set[str]]) -> str:
        """An identifier like the name, with a number where another one is like it.

        ``spellings``: all that the source makes of it.
        """
        like = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        like = like if like[:1].isalpha() else f"n{like}"
        found, number = like, 1
        while spellings(found) & self._taken:
            number += 1
            found = f"{like}_{number}"
        self._taken |= spellings(found)
        return found
