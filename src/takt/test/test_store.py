# SPDX-License-Identifier: Apache-2.0
"""Run folders: a name of their own, and a run.json that is whole or not there."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from test_run import prepared

from takt.errors import Failure, TaktError
from takt.measure.results import store
from takt.network import stacks
from takt.processes import scratch

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def test_runs_of_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    names = [store.create_default("x", NOW, tmp_path / "results").name for _ in range(3)]
    assert names == ["x-20260102T030405Z", "x-20260102T030405Z-2", "x-20260102T030405Z-3"]


def test_a_write_that_fails_leaves_the_run_as_it_was(
    tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = prepared()
    store.write(run, tmp_path)
    before = store.read(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            store.write(run.model_copy(update={"name": "other"}), tmp_path)
    assert store.read(tmp_path) == before
    assert [path.name for path in tmp_path.glob("*.tmp")] == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "not a run.json of version 2: Invalid JSON"),
        ("{}", "name"),
        ('{"name": 5}', "name"),
        ("[", "run.json"),
    ],
)
def test_a_document_that_is_no_run_is_refused_with_its_place(
    tmp_path: Path, content: str, expected: str
) -> None:
    (tmp_path / scratch.DOCUMENT).write_text(content)
    with pytest.raises(TaktError) as caught:
        store.read(tmp_path)
    assert expected in str(caught.value)
    assert str(tmp_path) in (caught.value.where or "")


def test_a_run_of_another_version_is_refused(tmp_path: Path, prefix: Path) -> None:
    store.write(prepared().model_copy(update={"schema_version": 3}), tmp_path)
    with pytest.raises(TaktError, match="schema_version: 3"):
        store.read(tmp_path)


def test_runs_are_found_oldest_first(tmp_path: Path, prefix: Path) -> None:
    for name in ("b-2", "a-1", "empty"):
        (tmp_path / name).mkdir()
    for name in ("b-2", "a-1"):
        store.write(prepared(), tmp_path / name)
    assert [path.name for path in store.find_runs(tmp_path)] == ["a-1", "b-2"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("#!/bin/sh\necho '{\"stack\": 5}'\n", "capabilities that this tool does not understand"),
        ("#!/bin/sh\necho hello\n", "capabilities that this tool does not understand"),
        ("#!/bin/sh\necho libx.so is missing >&2; exit 127\n", "libx.so is missing"),
        ("#!/no/such/interpreter\n", "cannot start"),
    ],
)
def test_a_probe_that_cannot_answer_is_named(prefix: Path, script: str, expected: str) -> None:
    (prefix / "lib" / "takt_probes" / "probe_fake").write_text(script)
    with pytest.raises(Failure, match=expected):
        stacks.find()["fake"].transports("wakeup")


def test_the_first_prefix_that_has_a_probe_wins(tmp_path: Path) -> None:
    for name in ("first", "second"):
        folder = tmp_path / name / "lib" / "takt_probes"
        folder.mkdir(parents=True)
        for probe in ("probe_a", f"probe_{name}"):
            (folder / probe).touch(mode=0o755)
        (folder / "probe_not_executable").touch(mode=0o644)
    found = stacks.find(
        {"TAKT_PREFIX": f"{tmp_path}/first", "AMENT_PREFIX_PATH": f"{tmp_path}/second:/none"}
    )
    assert sorted(found.probes) == ["a", "first", "second"]
    assert found.probes["a"].parent == tmp_path / "first" / "lib" / "takt_probes"
