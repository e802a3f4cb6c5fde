# SPDX-License-Identifier: Apache-2.0
"""Files that are no bundle, or not a whole one: refused before anything is read of them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from synthetic_runs import Point, write_run

from takt.cli.main import main
from takt.errors import TaktError
from takt.measure.results import bundle, store, unpacking


def manifest(version: int = 1, **files: str) -> str:
    sums = {
        name.replace("__", "."): hashlib.sha256(content.encode()).hexdigest()
        for name, content in files.items()
    }
    return json.dumps({"schema_version": version, "takt": "9.1", "files": sums})


def packed(folder: Path, *files: tuple[str, str], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    file = folder / "x.zip"
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return file


def refused(file: Path) -> TaktError:
    with pytest.raises(TaktError) as error, bundle.opened(file):
        pass
    assert error.value.where == str(file)
    assert error.value.fix
    return error.value


@pytest.fixture(autouse=True)
def unpacked_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    monkeypatch.setattr(bundle.tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([("run.json", "{}")], "no bundle.json"),
        ([(bundle.MANIFEST, "no")], "not one of Takt"),
        ([(bundle.MANIFEST, manifest(0))], "no schema version 0"),
        ([(bundle.MANIFEST, manifest(2))], "a newer version of Takt wrote this bundle"),
        ([(bundle.MANIFEST, manifest()), ("../a.json", "")], "not a file of a run"),
        ([(bundle.MANIFEST, manifest()), ("/a.json", "")], "not a file of a run"),
        ([(bundle.MANIFEST, manifest()), ("a/../../b.txt", "")], "not a file of a run"),
        ([(bundle.MANIFEST, manifest()), ("a.sh", "")], "not a file of a run"),
        ([(bundle.MANIFEST, manifest()), ("a.txt", "")], "was not packed: a.txt"),
        ([(bundle.MANIFEST, manifest(a__txt="x"))], "lacks a file: a.txt"),
        ([(bundle.MANIFEST, manifest(a__txt="x")), ("a.txt", "y")], "a.txt is not what was packed"),
    ],
)
def test_what_is_not_of_a_run_is_refused_and_nothing_is_left(
    tmp_path: Path, files: list[tuple[str, str]], why: str, unpacked_here: Path
) -> None:
    assert why in refused(packed(tmp_path, *files)).what
    assert not list(unpacked_here.iterdir())
    assert {one.name for one in tmp_path.iterdir()} == {"x.zip", "unpacked"}


def test_a_newer_bundle_names_the_version_to_install(tmp_path: Path) -> None:
    error = refused(packed(tmp_path, (bundle.MANIFEST, manifest(2))))
    assert error.fix == "update Takt to 9.1"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = [("a.txt", "x"), ("a.txt", "y")]
    file = packed(tmp_path, (bundle.MANIFEST, manifest(a__txt="y")), *twice)
    assert "two files of one name" in refused(file).what


@pytest.mark.parametrize(("mebibytes", "accepted"), [(25, False), (15, True)])
def test_what_unpacks_to_far_more_is_refused(
    tmp_path: Path, mebibytes: int, accepted: bool
) -> None:
    content = "0" * (mebibytes << 20)
    file = packed(tmp_path, (bundle.MANIFEST, manifest(a__txt=content)), ("a.txt", content))
    if accepted:
        with bundle.opened(file) as folder:
            assert (folder / "a.txt").stat().st_size == len(content)
    else:
        assert "more than a run can have" in refused(file).what


def test_without_the_space_nothing_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = packed(tmp_path, (bundle.MANIFEST, manifest(a__txt="xyz")), ("a.txt", "xyz"))
    free = SimpleNamespace(free=2)
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda _: free)
    error = refused(file)
    assert "no space to unpack" in error.what
    assert "TMPDIR" in str(error.fix)
    free.free = 3
    with bundle.opened(file) as folder:
        assert (folder / "a.txt").read_text(encoding="utf-8") == "xyz"


def test_a_damaged_bundle_is_refused_wherever_it_ends(tmp_path: Path, unpacked_here: Path) -> None:
    write_run(tmp_path / "a", [Point("raw", "wakeup", "nanosleep", "other", 58.0)], 1, 50, seed=1)
    content = bundle.write(tmp_path / "a").read_bytes()
    file = tmp_path / "x.zip"
    for length in range(0, len(content), max(1, len(content) // 40)):
        file.write_bytes(content[:length])
        assert "damaged" in refused(file).what
    for place in range(40, len(content) // 2, max(1, len(content) // 40)):
        changed = bytes([content[place] ^ 0x55])
        file.write_bytes(content[:place] + changed + content[place + 1 :])
        assert refused(file).what
    assert not list(unpacked_here.iterdir())


def test_an_encrypted_one_is_refused(tmp_path: Path) -> None:
    file = packed(tmp_path, (bundle.MANIFEST, manifest()), compression=zipfile.ZIP_STORED)
    content = bytearray(file.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    file.write_bytes(content)
    assert "encrypted" in refused(file).what


def test_errors_about_its_content_name_the_bundle(tmp_path: Path) -> None:
    file = packed(tmp_path, (bundle.MANIFEST, manifest(run__json="no")), ("run.json", "no"))
    with pytest.raises(TaktError) as error, bundle.opened(file) as folder:
        store.read(folder)
    assert error.value.where == f"{file}/run.json"


@pytest.mark.parametrize("arguments", [["run", "--resume"], ["report", "--bundle"]])
def test_what_takes_a_folder_refuses_a_bundle(
    tmp_path: Path, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    file = packed(tmp_path, (bundle.MANIFEST, manifest()))
    with pytest.raises(SystemExit) as ended:
        main([*arguments, str(file)])
    assert ended.value.code == 2
    assert "folder" in capfd.readouterr().err


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no run"):
        bundle.write(tmp_path)
