# SPDX-License-Identifier: Apache-2.0
"""A run as one file: what is in it, what is not, and the commands that read it."""

from __future__ import annotations

import getpass
import json
import socket
import zipfile
from pathlib import Path

import pytest
from synthetic_runs import Point, write_run

from takt.cli.main import main
from takt.measure.results import bundle, private, store
from takt.measure.results.model import Note, Run

POINT = Point("raw", "wakeup", "nanosleep", "other", 58.0)
SLOWER = Point("raw", "wakeup", "nanosleep", "other", 90.0)
PRIVATE = (
    *("secretive-host", "somebody", "192.168.17.5", "fe80::1a2b:3cff:fe4d:5e6f"),
    *("52:54:00:a1:b2:c3", "SN-00042-X", "0f8fad5b-d9cb-469f-a165-70867728950e", "otherbody"),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_run(tmp_path / "a", [POINT], 3, 1000, seed=1)
    return tmp_path / "a"


@pytest.fixture
def identified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with names and a serial number; the file with the number."""
    serial = tmp_path / "product_serial"
    serial.write_text("SN-00042-X\n", encoding="utf-8")
    monkeypatch.setattr(private, "SERIAL_NUMBERS", (str(serial), str(tmp_path / "missing")))
    monkeypatch.setattr(socket, "gethostname", lambda: "secretive-host.lab")
    monkeypatch.setattr(getpass, "getuser", lambda: "somebody")
    return serial


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    return int(ended.value.code or 0)


def test_nothing_private_is_in_any_byte(run: Path, tmp_path: Path, identified: Path) -> None:
    note = (
        f"{run}/samples of somebody@secretive-host and secretive-host.lab, {Path.home()}/x, "
        "/home/otherbody/y: tls://192.168.17.5:8786 at fe80::1a2b:3cff:fe4d:5e6f, "
        f"52:54:00:A1:B2:C3 or 52:54:00:a1:b2:c3, {identified.read_text().strip()}, "
        "0f8fad5b-d9cb-469f-a165-70867728950e"
    )
    document = store.read(run)
    document.cells[0].notes.append(Note(what=note, why="x"))
    document.cells[0].error = Note(what="x", why=note)
    store.write(document, run)
    (run / "somebody.txt").write_text(note, encoding="utf-8")
    file = bundle.write(run, tmp_path / "one.zip")
    with zipfile.ZipFile(file) as found:
        contents = {name: found.read(name) for name in found.namelist()}
    assert {"run.json", "user.txt", bundle.MANIFEST} <= contents.keys()
    assert sum(name.endswith(".parquet") for name in contents) == 3
    for word in (*PRIVATE, str(run), str(Path.home())):
        if len(word) > 1:
            for content in (file.read_bytes(), *contents.values()):
                assert word.lower().encode() not in content.lower(), word
    text = Run.model_validate_json(contents["run.json"]).cells[0].notes[-1].what
    assert text.count("mac-address-1") == 2
    assert "address-1" in text
    assert "address-2" in text


@pytest.mark.parametrize(
    "kept",
    ["std::vector and rclcpp::Node", "127.0.0.1:8786 and ::1", "2026-03-02T09:30:00Z, 16:09:58",
     "5.15.153.1-microsoft-standard-WSL2", "takt 1.2.3", "0.125 999.999.1.1", "somebody-else",
     "/sys/devices/system/cpu", "0000:00:1f.2"],
)  # fmt: skip
@pytest.mark.usefixtures("identified")
def test_what_only_looks_private_stays(kept: str, tmp_path: Path) -> None:
    cleaner = private.Cleaner(tmp_path / "x", ["5.15.153.1-microsoft-standard-WSL2"])
    assert cleaner.cleaned(kept) == kept


def test_a_bundle_has_the_checksum_of_every_file(run: Path) -> None:
    file = bundle.write(run)
    assert file == run.with_name("a.zip")
    with zipfile.ZipFile(file) as found:
        manifest = json.loads(found.read(bundle.MANIFEST))
        assert manifest["files"].keys() == set(found.namelist()) - {bundle.MANIFEST}
    with bundle.opened(file) as folder:
        assert store.read(folder) == store.read(run)
        places = [str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()]
        assert sorted(places) == sorted(manifest["files"])
    assert not folder.exists()


def test_compare_reads_bundles(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "b", [SLOWER], 3, 1000, seed=2)
    before, after = bundle.write(run), bundle.write(tmp_path / "b")
    assert command("compare", before, before) == 0
    capfd.readouterr()
    assert command("compare", before, after, "--json") == 1
    of_bundles = json.loads(capfd.readouterr().out)
    assert command("compare", run, tmp_path / "b", "--json") == 1
    assert of_bundles["cells"] == json.loads(capfd.readouterr().out)["cells"]


@pytest.mark.parametrize(("limit", "code"), [("1s", 0), ("1us", 1)])
def test_gate_reads_bundles(
    run: Path, tmp_path: Path, limit: str, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    document = store.read(run)
    for cell in document.cells:
        cell.steal_seconds, cell.others_seconds, cell.disturbed = 0.0, 0.0, False
    store.write(document, run)
    limits = tmp_path / "limits.yaml"
    limits.write_text(f'cells: {{"raw-*": {{response: {limit}}}}}\n', encoding="utf-8")
    file = bundle.write(run)
    assert command("gate", file, "--limits", limits, "--json") == code
    (verdict,) = json.loads(capfd.readouterr().out)["verdicts"]
    assert verdict["trace"] == str(file)


def test_the_report_of_a_bundle_is_beside_it(run: Path) -> None:
    file = bundle.write(run)
    assert command("report", file) == 0
    assert POINT.key in file.with_suffix(".html").read_text(encoding="utf-8")
