# SPDX-License-Identifier: Apache-2.0
"""What an application or one of its processes may say about its executor."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

#: Of Takt's core, in its order (parse_policy.cpp); a test compares them.
CorePolicy = Literal["fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"]
POLICIES: tuple[str, ...] = get_args(CorePolicy)
IDLING = ("p-rm", "cw-edf")  # may leave a core idle while jobs wait
CONSTRAINED = ("dm", *IDLING)  # they refuse deadlines above the period
# A string: the core refuses an unknown one, with the name that was meant.
Policy = Annotated[
    str,
    Field(examples=list(POLICIES), description=f"{', '.join(POLICIES[:-1])} or {POLICIES[-1]}"),
]
#: rclcpp's own, which analysis and simulation know; also approaches of ``takt execute``.
OneThread = Literal["rclcpp_single_threaded", "rclcpp_events"]
ONE_THREAD: tuple[str, ...] = get_args(OneThread)
SeveralThreads = Literal["rclcpp_multi_threaded", "rclcpp_events_cbg"]  # one for each core
SEVERAL_THREADS: tuple[str, ...] = get_args(SeveralThreads)
StockExecutor = Literal[OneThread, SeveralThreads]
STOCK_EXECUTORS: tuple[str, ...] = get_args(StockExecutor)
Executor = Literal["takt", StockExecutor]
Cpu = Annotated[int, Field(ge=0, strict=True)]
Priority = Annotated[int, Field(ge=1, le=98, strict=True)]
