# SPDX-License-Identifier: Apache-2.0
"""What became of each place, for a terminal and for ``--json``."""

from __future__ import annotations

import errno
import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Result = Literal[
    "planned",
    "changed",
    "refused",
    "kept",  # by the kernel, which lets nobody change it
    "unread",
    "restored",
    "unchanged",
    "left",
    "ended",
    "rebooted",
    "damaged",  # an entry of the journal that is none
]
# What a person has to know of, and a script, too: exit code 1.
AGAINST: tuple[Result, ...] = ("refused", "left", "damaged")

_REMEDIES = {
    errno.EACCES: "use sudo; in a container, tune its host",
    errno.EPERM: "use sudo; in a container, tune its host",
    errno.EROFS: "it is mounted read-only, as in a container: tune its host",
    errno.ENOMEM: "end programs that need memory first",
    errno.ESRCH: "it has ended meanwhile; nothing to do",
    errno.EBUSY: "a child control group needs its value; skip the setting with --without",
}
_OTHERWISE = "skip the setting with --without"


class PlaceOutcome(BaseModel):
    """One place: what it held, what it should hold, and what came of it."""

    model_config = ConfigDict(extra="forbid")

    setting: str = Field(description="Name of the setting, as for `--without`.")
    where: str = Field(description="File, thread, device or interrupt.")
    before: str | None = Field(default=None, description="Previous value, in plain words.")
    wanted: str | None = Field(default=None, description="Recommended value.")
    result: Result = Field(description="Result.")
    reason: str | None = Field(default=None, description="Reason, and how to fix it.")


SCHEMA_VERSION = 2  # 1: the key `reason` had another name


class Outcome(BaseModel):
    """The document of ``takt tune --json``."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int
    mode: Literal["dry-run", "apply", "revert"]
    privileged: bool = Field(description="Whether this user may apply and record changes.")
    places: list[PlaceOutcome]
    recorded: int = Field(description="Number of recorded changes to revert.")

    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not any(one.result in AGAINST for one in self.places)


def refusal(error: OSError) -> str:
    """The machine's own word, its number, and a fix."""
    number = error.errno or 0
    name = errno.errorcode.get(number, str(number))
    fix = _REMEDIES.get(number, _OTHERWISE)
    return f"{os.strerror(number)} ({name}); {fix}"
