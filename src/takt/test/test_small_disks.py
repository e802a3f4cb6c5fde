# SPDX-License-Identifier: Apache-2.0
"""Every command that writes, on disks of 1 to 64 MB: it is done, or it says which disk is full.

What was whole before stays whole, whichever it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Takt
from executed import skip_without_rclcpp
from forking import Zygote
from synthetic_runs import Point, write_run
from test_writing import DOCKING, EXAMPLES, fill

from takt.errors import Failure
from takt.network import stacks
from takt.schedule.execution import APPROACHES

MiB = 1 << 20
# Of so much, so little is free: for nothing, for a beginning, for more of it, for all of it.
DISKS = {"1m": 0, "4m": 96 << 10, "16m": 2 * MiB, "64m": 64 * MiB}
LIMIT_S = 1200.0  # of a virtual machine on a busy one
# Within a process: no address that another test adds or takes away keeps the ends from each other.
PINGPONG = "measure pingpong --transport process --period 200us --duration 2s"
COMMANDS = {
    "measure": f"{PINGPONG} --out DISK/new",
    "run": f"run {EXAMPLES}/../experiments/quick.yaml --out DISK/new",
    "resume": "run --resume DISK/run",
    **{
        approach: f"execute {DOCKING} --approach {approach} --duration 2s --out DISK/traces"
        for approach in APPROACHES
    },
    "simulate": f"simulate {DOCKING} --duration 200s --trace DISK/traces/new",
    "campaign": f"campaign {EXAMPLES}/parameters.json --do analyse,simulate --repeat 20 "
    "--out DISK/new",
    "executing": f"campaign {EXAMPLES}/parameters.json --do execute --repeat 1 --executions 1 "
    "--duration 1s --approaches takt --out DISK/new",
    "generate": f"generate {EXAMPLES}/whole_space.json --repeat 200 --out DISK/new",
    "code": f"generate {EXAMPLES}/parameters.json --repeat 2 --emit-code DISK/code --out DISK/new",
    "report": "report DISK/run",
    "explain": "explain TRACE --html DISK/traces/new.html",
    "parquet": "trace TRACE --parquet DISK/new",
    "perfetto": "trace TRACE --perfetto DISK/traces/new",
    "history": "history DISK/run --store DISK/history.sqlite --plot",
    "reproduce": "reproduce krukiewicz2021 --scale 0.001 --out DISK/new",
    "tune": "tune --review DISK/traces/review.txt",
    "check": "check --out DISK/new",
    "lab": "lab --quick --out DISK/new",
    "image": "lab image --out DISK/new",
}
# What takes minutes where there is room, with the disks that have none for it.
LONG = {
    **dict.fromkeys(["check", "image", "run", "executing", "reproduce"], ("1m", "4m")),
    "lab": ("1m",),
}
VERDICTS = {*APPROACHES, "simulate", "check", "executing"}  # 1: a deadline was missed
FOR_REAL = {*APPROACHES, "measure", "run", "resume", "executing", "check"}


@pytest.fixture
def tool(tmp_path: Path, zygote: Zygote) -> Takt:
    """With the stacks that are installed."""
    return Takt(tmp_path, zygote)


def called(tool: Takt, command: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    if command not in LONG:
        return tool(*words)
    process = tool.start(*words)
    out, err = process.communicate(timeout=LIMIT_S)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def forget(place: Path) -> None:
    """Removes the recordings that had no room at `place`: they are kept in memory for a resume."""
    for owner in Path("/dev/shm").glob("takt-*/owner.json"):
        if Path(json.loads(owner.read_text())["run"]).is_relative_to(place):
            shutil.rmtree(owner.parent)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Path:
    """What commands read that is not on the small disk."""
    folder = tmp_path_factory.mktemp("trace")
    file = folder / "small.takttrace"
    Takt(folder, zygote)("simulate", DOCKING, "--duration", "20s", "--trace", file)
    assert file.exists()
    return file


@pytest.mark.thorough
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("command", "size"),
    [(command, size) for command in COMMANDS for size in LONG.get(command, DISKS)],
)
def test_a_small_disk_is_named_and_keeps_what_it_has(
    command: str,
    size: str,
    trace: Path,
    tool: Takt,
    disk: Callable[[str], Path],
    request: pytest.FixtureRequest,
) -> None:
    if command in FOR_REAL:
        try:
            stacks.program("app_runner")
        except Failure:
            pytest.skip("app_runner is not installed")
    skip_without_rclcpp(command)
    place = disk(size)
    request.addfinalizer(lambda: forget(place))
    (place / "traces").mkdir()
    for name in ("docking.takt.takttrace", "docking.baseline1.takttrace", "new", "new.html"):
        (place / "traces" / name).write_text("before")
    (place / "traces" / "review.txt").write_text("before")
    write_run(
        place / "run",
        [Point("rcl", "pingpong", "shm", "fifo", 60.0, priority=80)],
        repetitions=1,
        count=50,
    )
    whole = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    fill(place, DISKS[size])
    words = COMMANDS[command].replace("DISK", str(place)).replace("TRACE", str(trace)).split()
    done = called(tool, command, words)
    printed = f"{done.returncode}: {done.stderr[-1500:]}"
    assert done.returncode != 2, printed  # it was understood
    assert "Traceback" not in done.stderr, printed
    assert "bug in Takt" not in done.stderr, printed
    full = done.returncode != 0 and "no space left" in done.stderr.lower()
    if full:
        assert done.returncode == 1, printed
        assert f"the disk at {place}" in done.stderr, printed
    else:
        assert done.returncode == 0 or command in VERDICTS, printed
    for file, content in whole.items():
        assert file.exists(), f"{file} is gone; {printed}"
        if full and file.parent != place / "run":  # a run that goes on writes there
            assert file.read_bytes() == content, f"{file} has changed; {printed}"
    print(f"{command} {size}, {DISKS[size] >> 10} KiB free: {done.returncode}", flush=True)
    print("   ", " ".join(done.stderr.split())[-230:], os.linesep)
