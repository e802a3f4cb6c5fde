# SPDX-License-Identifier: Apache-2.0
"""What is found where others may write is taken for Takt's own by one rule, or left as it is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.documents import own, writing

STRANGER = 54321  # a user who is nobody here
Making = Callable[[Path], None]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of other users take root")


def owned_by_a_stranger(path: Path) -> None:
    path.touch(0o600)
    os.chown(path, STRANGER, STRANGER)


def readable_by_others(path: Path) -> None:
    path.touch()
    path.chmod(0o644)


def with_two_names(path: Path) -> None:
    path.with_name("first").touch(0o600)
    path.hardlink_to(path.with_name("first"))


def as_a_link(path: Path) -> None:
    path.with_name("target").touch(0o600)
    path.symlink_to(path.with_name("target"))


def as_a_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def as_a_folder(path: Path) -> None:
    path.mkdir(0o700)


NO_FILES: list[tuple[Making, str]] = [
    (readable_by_others, r"other users can access it \(mode 0644\)"),
    (with_two_names, "it has a second name"),
    (as_a_link, "it is a symbolic link"),
    (as_a_pipe, "it is not a regular file"),
    (as_a_folder, "it is not a regular file"),
    pytest.param(owned_by_a_stranger, "it belongs to user 54321", marks=as_root),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("make", "why"), NO_FILES)
def test_a_file_that_breaks_the_rule_is_neither_read_nor_locked_nor_removed(
    tmp_path: Path, make: Making, why: str
) -> None:
    path = tmp_path / "run.lock"
    make(path)
    there = path.lstat()
    with own.opened(tmp_path) as folder:
        for work in (folder.text, folder.lock, folder.remove, folder.open):
            with pytest.raises(own.Refused, match=why):
                work(path.name)
    assert path.lstat() == there


@pytest.mark.parametrize(
    "make",
    [
        as_a_link,
        as_a_pipe,
        lambda path: path.mkdir(0o755),
        lambda path: (path.with_name("real").mkdir(0o700), path.symlink_to("real")),
        pytest.param(
            lambda path: (path.mkdir(0o700), os.chown(path, STRANGER, STRANGER)), marks=as_root
        ),
    ],
)
def test_a_folder_that_breaks_the_rule_is_neither_entered_nor_removed(
    tmp_path: Path, make: Making
) -> None:
    make(tmp_path / "takt")
    before = sorted(tmp_path.rglob("*"))
    with own.opened(tmp_path) as folder:
        with pytest.raises(own.Refused), folder.folder("takt"):
            pass
        for work in (folder.make, folder.remove_tree):
            with pytest.raises(own.Refused):
                work("takt")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_tree_of_which_another_process_removes_some_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "takt").mkdir(0o700)
    for name in "ab":
        (tmp_path / "takt" / name).touch()
    unlink = os.unlink

    def another_process_is_faster(name: str, *, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", another_process_is_faster)
    with own.opened(tmp_path) as folder:
        folder.remove_tree("takt")
    assert list(tmp_path.iterdir()) == []


def test_links_in_a_folder_are_removed_with_it_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    with own.opened(tmp_path) as folder:
        folder.make("takt")
        (tmp_path / "takt" / "link").symlink_to(precious)
        folder.remove_tree("takt")
    assert not (tmp_path / "takt").exists()
    assert (precious / "file").exists()


def test_what_is_done_in_a_folder_is_done_in_the_one_that_was_opened(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.lock").touch(0o600)
    (tmp_path / "one").mkdir()
    with own.opened(tmp_path / "one") as folder:
        (tmp_path / "one").rename(tmp_path / "moved")
        (tmp_path / "one").symlink_to("other")  # by somebody, at this moment
        folder.write("run.lock", "x")
        folder.remove("run.lock")
    assert (tmp_path / "other" / "run.lock").exists()
    assert list((tmp_path / "moved").iterdir()) == []


def test_a_lock_is_one_processes_until_it_is_closed(tmp_path: Path) -> None:
    with own.opened(tmp_path) as folder:
        lock = folder.lock("lock")
        assert lock is not None
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
        assert folder.lock("lock") is None
        lock.write("a\n")
        lock.write("b\n")
        assert lock.text() == "b\n"
        lock.remove()
        with_it = folder.lock("lock")  # a file of its own, whatever the other one has
        assert with_it is not None
        assert with_it.text() == ""
        lock.close()
        with_it.close()
        shared = folder.lock("lock", how=fcntl.LOCK_SH)
        assert shared is not None
        assert folder.lock("lock") is None
        shared.close()


def test_a_name_of_several_lines_is_reported_on_one(tmp_path: Path) -> None:
    (tmp_path / "takt\n\x1b[2J").symlink_to("x")
    with own.opened(tmp_path) as folder, pytest.raises(own.Refused) as caught:
        folder.text("takt\n\x1b[2J")
    assert caught.value.line.isprintable()
    assert "symbolic link" in caught.value.line
    many = [own.Refused(tmp_path / str(number), "it is a link") for number in range(1000)]
    assert len(own.reported(many)) == 9
    assert own.reported(many)[-1] == "… and 992 more"


# files that are written where everybody may write


@pytest.fixture
def everybodys(tmp_path: Path) -> Path:
    """As /tmp is."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@as_root
@pytest.mark.parametrize("way", ["link", "link/file", "hop"])
def test_a_link_that_another_user_made_in_everybodys_folder_is_not_written_through(
    everybodys: Path, way: str
) -> None:
    precious = everybodys.parent / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    (everybodys / "link").symlink_to(precious if "/" in way else precious / "file")
    (everybodys.parent / "hop").symlink_to(everybodys / "link")
    os.chown(everybodys / "link", STRANGER, STRANGER, follow_symlinks=False)
    file = everybodys.parent / "hop" if way == "hop" else everybodys / way
    with pytest.raises(OSError, match="a link created by user 54321"):
        writing.write_text(file, "theirs")
    assert (precious / "file").read_text() == "mine"
    os.chown(everybodys / "link", 0, 0, follow_symlinks=False)
    writing.write_text(file, "new")
    assert (precious / "file").read_text() == "new"


def test_links_lead_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "up").symlink_to("../../c")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("a/b/up/b", "a/b/up/b/../x", "c/b/up", "new/file", "."):
        assert own.followed(tmp_path / name) == (tmp_path / name).resolve()
    with pytest.raises(OSError, match="symbolic links"):
        own.followed(tmp_path / "loop")


def test_the_name_of_a_temporary_file_is_unpredictable(everybodys: Path) -> None:
    names = set()
    for _ in range(2):
        with writing.replacing(everybodys / "report.html") as temporary:
            assert temporary.lstat().st_size == 0  # made, and not by anybody else
            names.add(temporary.name)
    assert len(names) == 2
    assert [one.name for one in everybodys.iterdir()] == ["report.html"]


def test_only_halves_of_ones_own_are_removed(tmp_path: Path) -> None:
    ours = tmp_path / f".report.html.0123abcd.77{writing.SUFFIX}"
    others = [
        tmp_path / name for name in (".bashrc", ".x.78.tmp", "x.77.tmp", ".77.tmp", ".a.77.t")
    ]
    link = tmp_path / ".link.77.tmp"
    link.symlink_to(others[0])
    for file in (ours, *others):
        file.touch()
    if os.geteuid() == 0:
        others.append(tmp_path / ".theirs.77.tmp")
        owned_by_a_stranger(others[-1])
    writing.remove_halves(tmp_path, "77")
    assert not ours.exists()
    assert all(one.exists() for one in [*others, link])


def test_a_file_that_is_opened_by_the_rule_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    """Nor does a whole run: the pipe is never opened."""
    os.mkfifo(tmp_path / "run.lock", 0o600)
    code = "from pathlib import Path; from takt.processes import scratch; import sys\n"
    code += "scratch.open_for(Path(sys.argv[1]), Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert "run.lock: not recognised as created by Takt: it is not a regular file" in done.stderr
