# SPDX-License-Identifier: Apache-2.0
"""What an application or one of its processes may say about its executor."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

Policy = Annotated[
    str,
    Field(
        examples=["fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"],
        description="fp, rm, dm, edf, np-fp, np-edf, p-rm or cw-edf",
    ),
]
#: rclcpp's own, which analysis and simulation know; also approaches of ``takt execute``.
StockExecutor = Literal["rclcpp_single_threaded", "rclcpp_events"]
STOCK_EXECUTORS: tuple[str, ...] = get_args(StockExecutor)
Executor = Literal["takt", StockExecutor]
Cpu = Annotated[int, Field(ge=0, strict=True)]
Priority = Annotated[int, Field(ge=1, le=98, strict=True)]
