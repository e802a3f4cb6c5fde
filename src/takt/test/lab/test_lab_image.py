# SPDX-License-Identifier: Apache-2.0
"""``takt lab image``: what lies on a stick, that it is the same twice, and how it comes home."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from takt.errors import Failure, TaktError
from takt.lab.image import content, disk, experiments, grow, make, python, runs, target
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.shipped import every_experiment

EXPERIMENTS = every_experiment()
GiB = 1 << 30
TINY = """name: tiny
description: A very small experiment
repetitions: 1
duration: 1s
measurements:
  - {kind: wakeup, stack: raw, rate: 100Hz, scheduling: fifo 80}
"""
makes_disks = pytest.mark.skipif(
    not all(map(shutil.which, disk.TOOLS)) or not (disk.GRUB / "i386-pc").is_dir(),
    reason="mtools and GRUB are not installed: ./takt setup lab",
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disks no larger than such a file system has to be."""
    monkeypatch.setattr(disk, "ROOM", 560 << 20)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """A stick with one experiment and no kernel."""
    return written(tmp_path / "stick.img", tmp_path)


def written(file: Path, folder: Path) -> Path:
    staging = folder / f"staging-{file.name}"
    staging.mkdir()
    tree = {"experiments/tiny.yaml": TINY.encode(), "boot/grub/grub.cfg": make.menu(["tiny"])}
    disk.write(file, tree, staging)
    assert list(staging.iterdir()) == []
    return file


def put(stick: Path, source: Path, name: str) -> None:
    image = f"{stick}@@{disk.OFFSET}"
    subprocess.run(["mcopy", "-s", "-i", image, source, f"::/{name}"], check=True, timeout=150)


def same(one: Path, other: Path) -> bool:
    return subprocess.run(["cmp", "--silent", one, other], timeout=300).returncode == 0


# the disk


@makes_disks
def test_the_same_content_is_the_same_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (written(tmp_path / name, tmp_path) for name in ("a.img", "b.img"))
    assert same(first, second)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    assert not same(written(tmp_path / "c.img", tmp_path), first)


@makes_disks
def test_a_disk_begins_with_grub_and_a_partition_that_reaches_to_its_end(stick: Path) -> None:
    with stick.open("rb") as file:
        first, core = file.read(512), file.read(512)
    assert first[510:] == b"\x55\xaa"
    assert b"GRUB" in first[:440]
    assert any(core)
    assert disk.partition(stick) == disk.OFFSET
    sectors = int.from_bytes(first[446 + 12 : 446 + 16], "little")
    assert disk.OFFSET + sectors * 512 == stick.stat().st_size
    assert disk.listed(stick, "EFI/BOOT") == ["BOOTX64.EFI"]
    assert disk.listed(stick, target.EXPERIMENTS) == ["tiny.yaml"]
    assert disk.listed(stick, target.RESULTS) == []


def test_what_a_disk_is_made_with_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(disk, "GRUB", tmp_path)
    with pytest.raises(Failure, match="grub-common, grub-efi-amd64-bin, grub-pc-bin, mtools") as it:
        disk.check_tools()
    assert it.value.fix == "./takt setup lab"


def test_a_place_where_no_image_can_be_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="this is a folder"):
        make.check_place(tmp_path)
    with pytest.raises(TaktError, match="no such folder"):
        make.check_place(tmp_path / "nowhere" / "takt.img")
    with pytest.raises(TaktError, match="directly to a device") as caught:
        make.check_place(Path("/dev/null"))
    assert caught.value.fix
    assert "of=/dev/null" in caught.value.fix
    make.check_place(tmp_path / "takt.img")
    assert list(tmp_path.iterdir()) == []


# the menu and the target's first program


def test_the_menu_begins_with_the_default_and_ends_with_a_shell() -> None:
    menu = make.menu(["mine", "a", "b"]).decode()
    titles = re.findall(r"menuentry '(.*)'", menu)
    assert titles == ["Run mine", "Run a", "Run b", "A shell"]
    lines = re.findall(r"linux .*", menu)
    assert lines[0].endswith(f"{target.EXPERIMENT}=mine")
    assert target.EXPERIMENT not in lines[-1]


@pytest.mark.parametrize("script", [target.INIT, target.POWEROFF_SCRIPT, target.TAKT_SCRIPT])
def test_what_the_target_runs_is_a_shell_script(script: str) -> None:
    assert subprocess.run(["sh", "-n"], input=script.encode(), timeout=150).returncode == 0


# the tool in it


def test_python_compiles_to_the_same_bytes_which_it_takes(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("VALUES = {'a', 'b', 'c'}\ndef known(x): return x in {'d', 'e', 'f', 1}\n")
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    bytecode = python.compiled([source, broken])
    assert bytecode == python.compiled([source, broken])
    (file,) = bytecode
    file.parent.mkdir()
    file.write_bytes(bytecode[file])
    source.write_text("raise SystemExit('compiled anew')\n")
    code = "import a; print(a.known('e'), a.known('g'), a.__cached__)"
    done = subprocess.run(
        [sys.executable, "-E", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.stdout.split() == ["True", "False", str(file)], done.stderr


def test_the_tool_and_all_that_it_imports_is_taken_along() -> None:
    names = {str(one) for one in python.files()}
    for module in ("takt.measure.run.runner", "pydantic", "numpy", "ruamel.yaml", "json"):
        file = importlib.util.find_spec(module)
        assert file
        assert file.origin in names
    assert not [one for one in names if "/__pycache__/" in one or one.endswith(".pyi")]


def test_a_module_that_the_tool_runs_from_is_found_by_what_is_exported() -> None:
    there = content.environment({"LD_LIBRARY_PATH": "/it's here"})
    text = content.exported(there)
    done = subprocess.run(
        ["sh", "-c", f'{text}\nexec "$TAKT_PYTHON" -c "import takt, takt_core, pyarrow"'],
        env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=150,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert """LD_LIBRARY_PATH='/it'"'"'s here\'""" in text


# the experiments


def test_what_needs_one_machine_alone_is_in_the_menu() -> None:
    found = experiments.chosen(EXPERIMENTS["quick"], EXPERIMENTS)
    assert {"quick", "sticha2014", "ye2023"} <= set(found)
    assert not {"gutierrez2018", "second_host", "two_machines"} & set(found)


def test_an_experiment_that_cannot_run_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="needs a second host"):
        experiments.chosen(EXPERIMENTS["second_host"], EXPERIMENTS)
    other = tmp_path / "other.yaml"
    other.write_text(TINY.replace("raw", "ros1"))
    with pytest.raises(TaktError, match=r"its stacks ros1 are not on the stick \(available: .*raw"):
        experiments.chosen(other, EXPERIMENTS)
    spaced = tmp_path / "my own.yaml"
    spaced.write_text(TINY)
    with pytest.raises(TaktError, match="needs a name of letters"):
        experiments.chosen(spaced, EXPERIMENTS)
    assert read_experiment(spaced)[0].name == "tiny"


# a stick that is larger


def free(stick: Path) -> int:
    image = f"{stick}@@{disk.OFFSET}"
    done = subprocess.run(
        ["mdir", "-i", image, "::/"], capture_output=True, text=True, check=True, timeout=150
    )
    (line,) = [one for one in done.stdout.splitlines() if one.endswith("bytes free")]
    return int("".join(filter(str.isdigit, line)))


@makes_disks
def test_on_a_larger_stick_it_grows_and_keeps_what_it_has(stick: Path, tmp_path: Path) -> None:
    assert not grow.grow(stick)
    size, before = stick.stat().st_size, free(stick)
    with stick.open("r+b") as file:
        file.truncate(size + GiB)
    assert grow.grow(stick)
    assert 0 <= GiB - (free(stick) - before) < 64 << 10
    with stick.open("rb") as file:
        sectors = int.from_bytes(file.read(512)[458:462], "little")
    assert disk.OFFSET + 512 * sectors == size + GiB
    large = tmp_path / "large"
    large.write_bytes(b"takt" * (1 << 20))
    put(stick, large, "large")
    assert disk.listed(stick, target.EXPERIMENTS) == ["tiny.yaml"]
    assert not grow.grow(stick)


@makes_disks
def test_it_grows_no_further_than_its_table(stick: Path) -> None:
    with stick.open("r+b") as file:
        file.truncate(200 * GiB)
    assert grow.grow(stick)
    assert 31 * GiB < free(stick) < 33 * GiB
    assert not grow.grow(stick)


def beginning(stick: Path) -> bytes:
    with stick.open("rb") as file:
        return file.read(disk.OFFSET + 4096)


@pytest.mark.parametrize("at", [440, 446 + 8, disk.OFFSET + 82, disk.OFFSET + 510])
@makes_disks
def test_what_is_no_stick_is_not_grown(stick: Path, at: int) -> None:
    with stick.open("r+b") as file:
        file.truncate(4 * GiB)
        file.seek(at)
        file.write(b"\x01\x02")
    head = beginning(stick)
    with pytest.raises(Failure):
        grow.grow(stick)
    assert beginning(stick) == head


# the way home


@makes_disks
def test_runs_come_home_once_and_whole(stick: Path, tmp_path: Path) -> None:
    run = tmp_path / "tiny-20260101T000000Z"
    (run / "samples").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    (run / "samples" / "raw-wakeup-nanosleep-fifo80-100Hz-r0.parquet").write_bytes(b"PAR1")
    put(stick, run, f"{target.RESULTS}/")
    home = tmp_path / "home"
    found = runs.bring(stick, home)
    assert found.new == [home / run.name]
    samples = home / run.name / "samples" / "raw-wakeup-nanosleep-fifo80-100Hz-r0.parquet"
    assert samples.read_bytes() == b"PAR1"
    assert (home / run.name / "run.json").read_text() == "{}"
    again = runs.bring(stick, home)
    assert (again.new, again.known) == ([], [home / run.name])
    assert [one.name for one in home.iterdir()] == [run.name]  # nothing of the copying


@makes_disks
def test_a_stick_that_has_not_measured_reports_what_it_said(stick: Path, tmp_path: Path) -> None:
    assert runs.bring(stick, tmp_path / "home") == runs.Brought([], [])
    assert runs.said(stick) == ""
    log = tmp_path / target.LOG
    log.write_text("takt: no such experiment\n")
    put(stick, log, target.LOG)
    assert runs.said(stick) == "takt: no such experiment\n"


@pytest.mark.parametrize("size", [0, 100, 4096])
def test_what_is_no_stick_is_reported(tmp_path: Path, size: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * size)
    with pytest.raises(Failure, match="this is not a stick of takt lab image"):
        runs.bring(file, tmp_path)
    with pytest.raises(Failure, match="No such file"):
        runs.bring(tmp_path / "nowhere", tmp_path)
