# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind ends in words and an exit code, never in a traceback or a hang."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Takt

from takt.cli import ending
from takt.documents import reading
from takt.errors import TaktError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
ONE = "nodes: {{a: {{b: {{timer: {}, {}}}}}}}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BOMB, "after alias expansion"),
        ("a: &a [*a]\n", "refers to itself"),
        ("a: &a\n  <<: *a\n", "refers to itself"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ("a: {" + "b: {" * 3000, "nested too deeply"),
        (f"cpus: [{'9' * 5000}]\n", "4300 digits"),
        (ONE.format("9" * 5000 + "ms", "wcet: 1ms"), "is not a duration"),
        (ONE.format("1" + "0" * 30 + "ms", "wcet: 1ms"), "longer than a hundred years"),
        (ONE.format("10ms", "execution: {samples: /dev/zero}"), "not a regular file"),
        (ONE.format("x" * 5_000_00, "wcet: 1ms"), "characters"),
        ("nodes: {" + ", ".join(f"n{i}: {{c: 5}}" for i in range(500)) + "}\n", "more"),
        ("x" * (2 << 20), "exceeds the YAML limit"),
    ],
    ids=lambda text: text[:12].replace("\n", ""),
)
def test_an_application_that_is_none_is_reported_in_few_words(
    takt: Takt, tmp_path: Path, text: str, expected: str
) -> None:
    file = tmp_path / "bad.app.yaml"
    file.write_text(text)
    done = takt("analyse", file)
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert expected in done.stderr
    assert len(done.stderr) < 2000
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["analyse", "trace", "explain", "metrics", "report", "run"])
@pytest.mark.parametrize("what", ["pipe", "device", "folder", "absent", "not UTF-8"])
def test_what_is_no_file_is_refused_at_once(
    takt: Takt, tmp_path: Path, command: str, what: str
) -> None:
    file = tmp_path / "it"
    if what == "pipe":
        os.mkfifo(file)
    elif what == "device":
        file = Path("/dev/zero")
    elif what == "folder":
        file.mkdir()
    elif what == "not UTF-8":
        file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    done = takt(command, file)
    assert done.returncode == 2, done.stderr
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"upper": {"dispatch": Infinity}}', '{"upper": {"dispatch": 1e999}}']
)
def test_json_of_programs_is_bounded(takt: Takt, tmp_path: Path, text: str) -> None:
    file = tmp_path / "overheads.json"
    file.write_text(text)
    docking = Path(__file__).parents[3] / "examples" / "docking.app.yaml"
    done = takt("analyse", docking, "--overheads", file)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("name", ["../../../x", "/x", ".hidden", "x" * 5000, ["x"]])
def test_a_name_writes_nowhere_else(takt: Takt, tmp_path: Path, name: object) -> None:
    file = tmp_path / "flat.json"
    file.write_text(json.dumps({"name": name, "callbacks": [{"name": "a.b"}]}))
    out = tmp_path / "a" / "b" / "c" / "out"
    done = takt("execute", file, "--out", out)
    assert done.returncode == 2
    assert "is not a valid file name" in done.stderr
    assert not out.exists()


def test_json_reports_the_line() -> None:
    with pytest.raises(TaktError, match="here:3: not valid JSON"):
        reading.parse_json('{\n"a": 1,\n}', "here")


def test_a_fault_of_takt_has_a_log_and_an_exit_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended, ending.ending(["analyse", "x"]):
        raise ZeroDivisionError("x" * 10_000)
    assert ended.value.code == ending.FAULT == 70
    words = capsys.readouterr().err
    (log,) = tmp_path.iterdir()
    assert str(log) in words
    assert "ZeroDivisionError" in words
    assert len(words) < 2000
    assert "Traceback" in log.read_text()
    assert "takt analyse x" in log.read_text()
