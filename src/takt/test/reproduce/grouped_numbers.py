# SPDX-License-Identifier: Apache-2.0
"""Reads the numbers that sentences group by a narrow space."""

from __future__ import annotations

import re

from takt.pages.text import GROUP_SPACE


def first_number(text: str) -> int:
    """``36 888`` of "about 36 888 samples: 40 times as many"."""
    found = re.search(rf"\d[\d{GROUP_SPACE}]*", text)
    assert found, text
    return int(found[0].replace(GROUP_SPACE, ""))
