# SPDX-License-Identifier: Apache-2.0
"""All kinds of places, as a journal has them."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import Field

from takt.machine.interrupt import InterruptAffinity
from takt.machine.kernel_thread import ThreadScheduling
from takt.machine.own_group import OwnGroup
from takt.machine.place import Controller, KernelFile, OwnFile
from takt.machine.swap_area import SwapArea

AnyPlace = Annotated[
    Union[KernelFile, InterruptAffinity, Controller, ThreadScheduling, SwapArea, OwnFile, OwnGroup],  # noqa: UP007 - pydantic on Python 3.10
    Field(discriminator="kind"),
]
