# SPDX-License-Identifier: Apache-2.0
"""Wrong use of ``takt gate``: what is wrong, where, and what to do."""

from __future__ import annotations

from takt.errors import TaktError


def wrong(what: str, where: object, fix: str) -> TaktError:
    """The error to raise: exit code 2."""
    return TaktError(what, where=str(where), fix=fix)
