# SPDX-License-Identifier: Apache-2.0
"""Want of memory, /proc, a worker or a Python package is a failure with a fix, no fault."""

from __future__ import annotations

import concurrent.futures
import errno
import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from takt.cli.ending import ending


def no_memory() -> None:
    bytearray(1 << 62)


def no_memory_for_the_system() -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


def no_room_for_a_library() -> None:
    raise ImportError("libarrow.so: failed to map segment from shared object")


def no_proc() -> None:
    Path("/proc/nothing-here/stat").read_text()


def no_file_in_proc() -> None:
    Path("/proc/new").write_text("")


def no_fork() -> None:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def no_thread() -> None:
    raise RuntimeError("can't start new thread")


def no_worker_of_dask() -> None:
    try:
        try:
            no_fork()
        finally:  # as Dask's own end of a process that has not begun
            raise AssertionError("Status.init")
    except AssertionError as error:
        raise RuntimeError("Nanny failed to start.") from error


def no_port_of_dask() -> None:
    raise RuntimeError("Scheduler failed to start.") from ValueError("of our own")


def no_process() -> None:
    psutil.Process(2**22 + 1)


def no_worker() -> None:
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        pool.submit(signal.raise_signal, signal.SIGKILL).result()


def no_module_of_the_core() -> None:
    raise ModuleNotFoundError("No module named 'takt_core'", name="takt_core")


def no_package() -> None:
    importlib.import_module("package_that_nobody_has.part")


@pytest.mark.parametrize(
    ("act", "printed"),
    [
        (no_memory, "out of memory"),
        (no_memory_for_the_system, "out of memory"),
        (no_room_for_a_library, "out of memory"),
        (no_proc, "/proc/nothing-here/stat: No such file"),
        (no_file_in_proc, "/proc/new: No such file or directory fix: choose a writable path"),
        (no_fork, "the limit on processes and threads is reached"),
        (no_thread, "the limit on processes and threads is reached"),
        (no_worker_of_dask, "the limit on processes and threads is reached"),
        (no_process, "/proc: cannot inspect a process"),
        (no_worker, "a worker process of this command has died"),
        (no_module_of_the_core, "takt_core is built without its Python module"),
        (no_package, "the Python package package_that_nobody_has is not installed"),
    ],
)
def test_it_is_a_failure_that_says_what_to_do(
    act: Callable[[], None], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, ending(["doctor"]):
        act()
    said = capsys.readouterr().err
    assert ended.value.code == 1, said
    assert printed in " ".join(said.split())
    assert "fix:" in said
    assert "bug in Takt" not in said


def of_our_own() -> None:
    raise KeyError("of our own")


@pytest.mark.parametrize("act", [of_our_own, no_port_of_dask])
def test_what_is_none_of_these_stays_a_fault(
    act: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, ending(["doctor"]):
        act()
    assert ended.value.code == 70
    capsys.readouterr()


def test_a_module_of_its_own_that_is_not_there_is_a_fault(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended, ending(["doctor"]):
        importlib.import_module("takt.nothing_here")
    assert ended.value.code == 70
    capsys.readouterr()
