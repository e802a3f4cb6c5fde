# SPDX-License-Identifier: Apache-2.0
"""``takt lab`` that is stopped: finished kernels are kept, and the others measured later."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from takt.errors import Failure
from takt.lab import compare, guest, jobs
from takt.lab.compare import Asked
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode
from takt.measure.results import store

ASKED = Asked(Mode.icount, 3, ros=False, limit_s=60.0)
THREAD = {"cycles": 3, "min": 1, "avg": 2.0, "max": 3, "histogram": {"1": 1, "2": 1, "3": 1}}


class Guests:
    """Made-up guests: each leaves what cyclictest prints, and no sample of a probe."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.kernels = [
            Kernel(name, f"6.1-{name}", folder / "vmlinuz", folder, real_time=False)
            for name in ("stock", "stock-full")
        ]
        self.booted: list[str] = []
        self.ends: dict[str, BaseException] = {}
        patch.setattr(compare.initramfs, "build", lambda *_: b"")
        patch.setattr(compare, "at_once", lambda _: 1)
        patch.setattr(guest, "run", self._run)

    def _run(self, boot: Any, *_: Any) -> None:
        self.booted.append(boot.kernel.name)
        boot.console.write_text("")
        if boot.kernel.name in self.ends:
            raise self.ends[boot.kernel.name]
        out = boot.shares[0].folder
        for load in (jobs.IDLE, jobs.LOADED):
            (out / f"cyclictest-{load}.json").write_text(json.dumps({"thread": {"0": THREAD}}))


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guests:
    return Guests(tmp_path, monkeypatch)


def measure(guests: Guests, folder: Path, asked: Asked = ASKED) -> Any:
    return compare.compare(guests.kernels, asked, folder, lambda _: None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Failure("the guest panicked", where="console"), "the guest panicked"),
        (KeyboardInterrupt(), "the comparison was stopped"),
    ],
)
def test_finished_kernels_are_kept_and_the_same_command_measures_the_others(
    guests: Guests, tmp_path: Path, error: BaseException, said: str
) -> None:
    folder = tmp_path / "results"
    guests.ends = {"stock-full": error}
    with pytest.raises(Failure, match=said):
        measure(guests, folder)
    first = store.read(folder / "stock")

    guests.ends = {}
    with pytest.raises(Failure, match="other options"):
        measure(guests, folder, replace(ASKED, seed=2))
    found = measure(guests, folder)
    assert guests.booted == ["stock", "stock-full", "stock-full"]
    assert store.read(folder / "stock") == first
    assert [one.kernel for one in found.kernels] == ["stock", "stock-full"]
    assert [one.loaded_max_us for one in found.kernels] == [3.0, 3.0]

    moved = tmp_path / "moved"
    shutil.move(folder, moved)
    again = measure(guests, moved)
    assert len(guests.booted) == 3  # nothing is left to do
    assert again.kernels[0].results == str(moved / "stock")
    assert again.kernels[0].latencies == found.kernels[0].latencies


def test_how_to_go_on_is_said(guests: Guests, tmp_path: Path) -> None:
    folder = tmp_path / "my results"
    guests.ends = {"stock-full": KeyboardInterrupt()}
    with pytest.raises(Failure) as stopped:
        measure(guests, folder)
    assert stopped.value.fix == (
        f"to go on (1 of 2 kernels are measured): the same command with --out '{folder}'"
    )


def test_a_damaged_result_is_said(guests: Guests, tmp_path: Path) -> None:
    measure(guests, tmp_path / "results")
    (tmp_path / "results" / "stock" / compare.FOUND).write_text("{")
    with pytest.raises(Failure, match="is damaged") as failed:
        measure(guests, tmp_path / "results")
    assert failed.value.fix is not None
    assert failed.value.fix.startswith(f"remove {tmp_path / 'results' / 'stock'}")
    shutil.rmtree(tmp_path / "results" / "stock")
    measure(guests, tmp_path / "results")
    assert guests.booted == ["stock", "stock-full", "stock"]
