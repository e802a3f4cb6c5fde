# SPDX-License-Identifier: Apache-2.0
"""A session on another host reads, writes and removes in its own two folders alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from takt.network import agent


@pytest.fixture
def session(tmp_path: Path) -> agent.Session:
    place: Any = SimpleNamespace(folder=tmp_path / "scratch", run_folder=tmp_path / "run")
    for folder in (place.folder, place.run_folder):
        folder.mkdir()
    return agent.Session(place)


def outside(session: agent.Session, tmp_path: Path) -> list[str]:
    """Names that lead elsewhere, each another way, to a file that is there."""
    (tmp_path / "precious").write_text("precious")
    inside = session.place.folder
    (inside / "link").symlink_to(tmp_path / "precious")
    (inside / "folder").symlink_to(tmp_path)
    return [
        str(tmp_path / "precious"),
        f"{inside}/../precious",
        str(inside / "link"),
        str(inside / "folder" / "precious"),
    ]


def test_what_leads_elsewhere_is_refused(session: agent.Session, tmp_path: Path) -> None:
    for name in outside(session, tmp_path):
        for ask in (session.do_remove, session.do_size, lambda path: session.do_part(path, 0)):
            with pytest.raises(ValueError, match="not in a folder of this session"):
                ask(name)
        for files, stderr in (({name: "changed"}, f"{session.place.folder}/words"), ({}, name)):
            with pytest.raises(ValueError, match="not in a folder of this session"):
                session.do_start(["true"], files, {}, 1, stderr, None, watched=False)
        assert (tmp_path / "precious").read_text() == "precious"


def test_its_own_files_are_read_and_removed(session: agent.Session) -> None:
    for folder in (session.place.folder, session.place.run_folder / "below"):
        folder.mkdir(exist_ok=True)
        file = folder / "made"
        file.write_bytes(b"12345")
        assert session.do_size(str(file)) == 5
        assert session.do_part(str(file), 3) == b"45"
        session.do_remove(str(file))
        assert session.do_size(str(file)) is None
