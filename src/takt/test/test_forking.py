# SPDX-License-Identifier: Apache-2.0
"""Calls of the tool that the tests fork are what ``python -m takt`` is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import Takt
from forking import Zygote

DOCKING = Path(__file__).resolve().parents[3] / "examples" / "docking.app.yaml"


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["analyse", DOCKING], ["analyse", "none.app.yaml"], ["mesure"], []],
    ids=["version", "analysed", "refused", "unknown", "help"],
)
def test_a_forked_call_says_and_ends_as_one_from_scratch(
    takt: Takt, arguments: list[str | Path]
) -> None:
    forked, started = takt(*arguments), takt.from_scratch(*arguments)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )


def test_the_environment_and_the_folder_are_those_of_the_call(
    takt: Takt, monkeypatch: pytest.MonkeyPatch
) -> None:
    takt("simulate", DOCKING, "--duration", "1s", "--trace", "here.takttrace")
    assert (takt.folder / "here.takttrace").exists()
    assert "installed: fake" in takt("measure", "wakeup").stderr
    monkeypatch.setenv("TAKT_PREFIX", str(takt.folder))
    assert "installed: fake" not in takt("measure", "wakeup").stderr


def test_what_python_reads_when_it_starts_takes_a_process_of_its_own(
    zygote: Zygote, tmp_path: Path
) -> None:
    assert zygote.call(["--version"], tmp_path, os.environ, 100)
    changed = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert zygote.call(["--version"], tmp_path, changed, 100) is None


def test_what_a_test_sets_before_the_first_call_is_not_that_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zygote = Zygote()
    try:
        with monkeypatch.context() as patch:
            patch.setenv("OMP_NUM_THREADS", "1")
            assert zygote.call(["--version"], tmp_path, os.environ, 100) is None
        assert zygote.call(["--version"], tmp_path, os.environ, 100)
    finally:
        zygote.end()


def test_a_variable_is_left_set() -> None:
    """As by Dask's nannies; the next test looks for it."""
    os.environ["OMP_NUM_THREADS"] = "7"


def test_what_a_test_leaves_set_is_put_back(zygote: Zygote, tmp_path: Path) -> None:
    assert os.environ.get("OMP_NUM_THREADS") != "7"
    assert zygote.call(["--version"], tmp_path, os.environ, 100)


def test_after_a_call_that_was_given_up_the_next_has_its_own_answer(
    zygote: Zygote, tmp_path: Path
) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        zygote.call(["simulate", str(DOCKING), "--duration", "1h"], tmp_path, os.environ, 0.01)
    done = zygote.call(["--version"], tmp_path, os.environ, 100)
    assert done
    assert done.stdout.startswith("takt ")
