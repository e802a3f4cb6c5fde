# SPDX-License-Identifier: Apache-2.0
"""An image of ``takt lab image`` in QEMU: it boots, measures, says what is wrong, and ends."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import takt
from test_lab_image import EXPERIMENTS, TINY, free, put, same

from takt.errors import Failure
from takt.lab import guest, kernels, modes
from takt.lab.image import disk, experiments, make, runs, target
from takt.measure.results import store
from takt.measure.results.model import Status
from takt.processes.process import Process
from takt.processes.supervision import POLL_S

UEFI = Path("/usr/share/OVMF/OVMF_CODE.fd")
LIMIT_S = 900.0  # in an emulator, on a machine that does much else
PC = (*modes.machine(modes.Mode.functional, seed=1), "-m", "2048")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        not all(map(shutil.which, [*disk.TOOLS, guest.QEMU])), reason="./takt setup lab"
    ),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image as a user makes it, whose experiment takes a second."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "tiny.yaml").write_text(TINY)
    try:
        kernels.real_time(kernels.OF_A_PC)
    except Failure as failure:
        pytest.skip(str(failure))
    words = ["--experiment", str(folder / "tiny.yaml"), "--out", str(folder / "a.img")]
    assert takt(["lab", "image", *words]) == 0
    return folder / "a.img"


@pytest.fixture
def stick(image: Path, tmp_path: Path) -> Path:
    """A stick of one's own, with the image on it."""
    subprocess.run(["cp", "--sparse=always", image, tmp_path / "stick.img"], check=True)
    return tmp_path / "stick.img"


def booted(options: Sequence[str], folder: Path) -> str:
    """What a PC with these parts says on its serial line, until it is off."""
    log = folder / "serial.log"
    fixed = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    pc = Process([guest.QEMU, *fixed, *PC, *options, "-serial", f"file:{log}"])
    limit = time.monotonic() + LIMIT_S
    try:
        while pc.poll() is None and time.monotonic() < limit:
            assert not guest.PANIC.search(guest.console_text(log)), guest.console_text(log)[-6000:]
            time.sleep(5 * POLL_S)
        code = pc.poll()
    finally:
        pc.end()
    said = guest.console_text(log)
    assert code == 0, said[-3000:]
    return said


def drive(stick: Path) -> list[str]:
    return ["-drive", f"file={stick},format=raw,if=virtio"]


def test_it_has_the_same_bytes_twice(image: Path, tmp_path: Path) -> None:
    words = ["--experiment", str(image.with_name("tiny.yaml")), "--out", str(tmp_path / "b.img")]
    assert takt(["lab", "image", *words]) == 0
    assert same(tmp_path / "b.img", image)


def test_it_boots_measures_and_its_run_is_an_ordinary_one(
    stick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = free(stick)
    with stick.open("r+b") as file:
        file.truncate(stick.stat().st_size + (1 << 30))  # a stick is larger than the image
    said = booted(drive(stick), tmp_path)
    assert guest.DONE in said
    assert free(stick) - before > 1000 << 20
    assert takt(["lab", "runs", str(stick), "--out", str(tmp_path / "home"), "--json"]) == 0
    (name,) = json.loads(capsys.readouterr().out)["new"]
    run = store.read(Path(name))
    assert run.status is Status.complete
    assert [(cell.count, cell.stack) for cell in run.cells] == [(100, "raw")]
    assert run.machine["preemption"] == "PREEMPT_RT"
    assert takt(["report", name]) == 0
    assert (Path(name) / "report.html").is_file()


@pytest.mark.skipif(not UEFI.is_file(), reason="OVMF is not installed")
def test_from_a_stick_with_uefi_an_unknown_experiment_is_reported(
    stick: Path, image: Path, tmp_path: Path
) -> None:
    menu = tmp_path / "grub.cfg"
    menu.write_bytes(make.menu(["nothing"]))
    volume = f"{stick}@@{disk.OFFSET}"
    subprocess.run(["mdel", "-i", volume, "::/boot/grub/grub.cfg"], check=True, timeout=60)
    put(stick, menu, "boot/grub/grub.cfg")
    firmware = ["-drive", f"if=pflash,format=raw,readonly=on,file={UEFI}"]
    usb = ["-drive", f"file={stick},format=raw,if=none,id=stick", "-device", "qemu-xhci"]
    usb += ["-device", "usb-storage,drive=stick,removable=on"]
    said = booted([*firmware, *usb], tmp_path)
    assert target.FAILED in said
    assert f"{target.EXPERIMENT}=nothing: there is no such experiment" in said
    names = experiments.chosen(image.with_name("tiny.yaml"), EXPERIMENTS)
    assert f"there are: {' '.join(sorted(names))}" in said
    assert "there is no such experiment" in runs.said(stick)


def test_a_full_stick_is_reported(stick: Path, image: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    with full.open("wb") as file:
        file.truncate(free(stick) - (20 << 10))
    put(stick, full, "full")
    kernel = kernels.real_time(kernels.OF_A_PC)
    disk.copied(stick, make.ROOT, tmp_path)
    line = f"console=ttyS0 loglevel=4 no_timer_check {target.EXPERIMENT}=tiny"
    options = ["-kernel", str(kernel.image), "-initrd", str(tmp_path / Path(make.ROOT).name)]
    said = booted([*drive(stick), *options, "-append", line], tmp_path)
    assert target.FAILED in said
    assert "no space left" in said
