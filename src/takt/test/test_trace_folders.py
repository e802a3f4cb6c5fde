# SPDX-License-Identifier: Apache-2.0
"""The folder of an execution stands for its trace in every command that takes a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import takt

from takt.errors import TaktError
from takt.schedule.trace import file as files

EXAMPLE = Path(__file__).parents[3] / "examples" / "two_processes.app.yaml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("execution")
    trace = found / "robot.takt.takttrace"
    assert takt(["simulate", str(EXAMPLE), "--duration", "1s", "--trace", str(trace)]) == 0
    return found


@pytest.mark.parametrize("command", ["explain", "metrics", "trace", "view", "model", "gate"])
def test_commands_take_the_folder_of_an_execution(
    folder: Path,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (trace,) = folder.iterdir()
    found = []
    for given in (trace, folder):
        (tmp_path / "out").unlink(missing_ok=True)
        code = takt([command, str(given), *(["-o", "out"] if command in ("view", "model") else [])])
        found.append((code, capfd.readouterr().out.replace(str(trace), str(folder))))
    assert found[0] == found[1]
    assert found[0][0] in (0, 1)


def test_a_folder_of_several_traces_is_refused_with_one_of_them(tmp_path: Path) -> None:
    for one in ("a", "b"):
        (tmp_path / f"{one}.takttrace").touch()
    with pytest.raises(TaktError, match="contains 2 traces") as caught:
        files.read(tmp_path)
    assert caught.value.fix == f"give one of them, such as {tmp_path / 'a.takttrace'}"
