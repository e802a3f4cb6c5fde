# SPDX-License-Identifier: Apache-2.0
"""Folders that others made, or hand over: nothing outside is removed, nothing runs, it is said."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared_memory import note

from takt.errors import TaktError
from takt.measure.run.samples import header
from takt.network.sweeper import SWEEPER
from takt.processes import dead, guard, last_will, leftovers, remains, scratch
from takt.processes.recording import SUFFIX
from takt.schedule.campaign import folder as campaigns

STRANGER = 54321  # a user who is nobody here
UID = os.getuid()
as_root = pytest.mark.skipif(UID != 0, reason="files of other users take root")


class Place:
    """A shared memory, a run folder, and what is none of Takt's business."""

    def __init__(self, memory: Path, folder: Path) -> None:
        self.memory, self.run = memory, folder / "run"
        self.temporary, self.victim = folder / "tmp", folder / "victim"
        for made in (self.run, self.temporary, self.victim):
            made.mkdir()
        for name in ("run.lock", "run.json", "owner.json", "a.taktsamples", "fastdds_0123"):
            (self.victim / name).write_text("precious")
        for name in (".load", ".recording"):
            (self.victim / name).mkdir(0o700)
            (self.victim / name / "file").write_text("precious")
        self.run_by_it = folder / "run_by_it"

    def scratch(self, number: int = 1) -> Path:
        return self.memory / f"takt-{UID}-{number:08x}"

    def made(self, number: int = 1, run: Path | None = None, **owner: object) -> Path:
        """The scratch folder of a killed run, as Takt makes it."""
        made = self.scratch(number)
        made.mkdir(0o700)
        owned = {"run": str(run or self.run), "pid": 1, "resumable": False, "lent": False} | owner
        put(made / scratch.OWNER, json.dumps(owned))
        return made

    def outside(self) -> dict[str, str | None]:
        return {
            str(one): one.read_text() if one.is_file() else None
            for one in sorted(self.victim.rglob("*"))
        }

    def clean(self) -> remains.Remains:
        return remains.clean(SWEEPER, dry_run=False, memory=self.memory, temporary=self.temporary)


def put(file: Path, text: str, mode: int = 0o600) -> Path:
    file.write_text(text, errors="surrogateescape")
    file.chmod(mode)
    return file


@pytest.fixture
def place(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(remains, "orphans", lambda: iter(()))
    made = Place(memory, tmp_path)
    before = made.outside()
    yield made
    assert made.outside() == before
    assert not made.run_by_it.exists()


# the lock of a run folder


@pytest.mark.parametrize(
    "text", ["{victim}\n", "{victim}", "../victim\n", "x\n{name}\n", "/\n", "."]
)
def test_a_lock_that_names_anything_but_a_scratch_folder_is_refused(
    place: Place, text: str
) -> None:
    put(place.run / scratch.LOCK, text.format(victim=place.victim, name=place.scratch().name))
    with pytest.raises(TaktError, match=r"run\.lock: it does not name a scratch folder"):
        scratch.open_for(place.run, place.memory)
    assert list(place.memory.iterdir()) == []


def test_a_lock_that_names_the_scratch_folder_of_another_run_is_refused(place: Place) -> None:
    other = place.run.with_name("other")
    other.mkdir()
    alive = scratch.open_for(other, place.memory)
    put(place.run / scratch.LOCK, f"{alive.folder.name}\n")
    with pytest.raises(TaktError, match="the scratch folder of another run"):
        scratch.open_for(place.run, place.memory)
    assert alive.folder.is_dir()
    assert json.loads((alive.folder / scratch.OWNER).read_text())["run"] == str(other)
    alive.release(keep=False)


def test_links_in_a_run_folder_lead_nowhere(place: Place) -> None:
    for name in (scratch.ON_DISK, scratch.LOADED):
        (place.run / name).symlink_to(place.victim)
    held = scratch.open_for(place.run, place.memory)
    held.release(keep=False)
    assert (place.run / scratch.LOADED).is_symlink()
    assert not held.folder.exists()


# the memory


def by_chown(folder: Path) -> None:
    for one in (folder, *folder.rglob("*")):
        os.chown(one, STRANGER, STRANGER, follow_symlinks=False)


def by_mode(folder: Path) -> None:
    folder.chmod(0o755)


def by_a_link(folder: Path) -> None:
    real = folder.with_name("elsewhere")
    folder.rename(real)
    folder.symlink_to(real)


@pytest.mark.parametrize(
    "spoil",
    [pytest.param(by_chown, marks=as_root), by_mode, by_a_link],
    ids=lambda one: one.__name__,
)
def test_a_folder_of_takts_name_that_is_not_its_own_is_left_and_reported(
    place: Place, spoil: Callable[[Path], None]
) -> None:
    folder = place.made(run=place.victim)
    put(folder / last_will.FILE, f"{last_will.REVERT}\n")
    spoil(folder)
    before = sorted(place.memory.rglob("*"))
    found = place.clean()
    assert found.lines == found.kept == []
    assert [str(folder) in one for one in found.refused] == [True]
    assert sorted(place.memory.rglob("*")) == before
    refused: list[dead.own.Refused] = []
    assert leftovers.sweep_dead_runs(SWEEPER, place.memory, refused=refused) == []
    assert [one.filename for one in refused] == [str(folder)]


@as_root
def test_what_another_user_makes_beside_ours_is_neither_done_nor_removed(place: Place) -> None:
    """By a process of theirs, as it would be: all that it may write is what others find."""
    place.memory.chmod(0o1777)
    ours = place.made(2)
    code = f"""
import json, os
os.setgid({STRANGER}); os.setuid({STRANGER})
os.chdir({str(place.memory)!r})
for name in ("takt-{UID}-00000003", "takt-{UID}-..", "takt-{UID}-0000000a\\nx", "takt-{UID}-x"):
    os.mkdir(name, 0o700)
    with open(name + "/owner.json", "w") as file:
        json.dump({{"run": {str(place.victim)!r}, "resumable": False}}, file)
    for will in ("last_will.txt", "last_will.json"):
        with open(name + "/" + will, "w") as file:
            file.write(json.dumps({{"command": ["touch", {str(place.run_by_it)!r}], "path": ""}}))
os.symlink({str(place.victim)!r}, "takt-{UID}-00000004")
os.symlink("takt-{UID}-00000002", "takt-{UID}-00000005")
os.mkfifo("takt-{UID}-00000006", 0o600)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    found = place.clean()
    assert found.lines == [f"scratch folder: {ours}"]
    assert len(found.refused) == 7
    assert len(list(place.memory.iterdir())) == 7
    assert all(one.isprintable() for one in found.refused)


@pytest.mark.parametrize("file", [scratch.OWNER, scratch.LOCK, last_will.FILE, leftovers.JOURNAL])
def test_a_pipe_in_a_scratch_folder_is_not_waited_for(place: Place, file: str) -> None:
    folder = place.made()
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file, 0o600)
    os.utime(folder, (0, 0))
    place.clean()  # within the time that a test may take


def test_a_last_will_is_one_of_a_list(place: Place) -> None:
    folder = place.made()
    for text in (
        json.dumps({"command": ["touch", str(place.run_by_it)], "path": ""}),
        f"touch {place.run_by_it}\n",
        f"{last_will.REVERT}; touch {place.run_by_it}\n",
        f"tune --revert --review {place.run_by_it}\n",
        "",
    ):
        put(folder / last_will.FILE, text)
        with pytest.raises(dead.own.Refused, match="names no action of Takt"):
            last_will.left_in(folder, execute_it=True)
        assert (folder / last_will.FILE).read_text() == text
    assert any("names no action of Takt" in one for one in place.clean().refused)


def test_a_will_is_done_by_this_takt_whatever_lies_where_it_was_started(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = f"open({str(place.run_by_it)!r}, 'w')\n"
    for name in ("takt.py", "typer.py", "json.py"):
        put(place.temporary / name, trap)
    monkeypatch.chdir(place.temporary)
    commands: list[list[str]] = []
    run = subprocess.run

    def spied(command: list[str], **more: object) -> object:
        commands.append(command)
        return run([*command[:-2], "--version"], **more)  # type: ignore[call-overload]

    monkeypatch.setattr(last_will.subprocess, "run", spied)
    folder = place.made()
    put(folder / last_will.FILE, f"{last_will.REVERT}\n")
    assert last_will.left_in(folder, execute_it=True)
    assert commands == [[sys.executable, "-m", "takt", "tune", "--revert"]]
    assert not (folder / last_will.FILE).exists()


def test_a_run_folder_is_cleaned_only_where_both_sides_name_each_other(place: Place) -> None:
    put(place.victim / "sound", "")
    folder = place.made(run=place.victim)
    assert place.clean().lines == [f"scratch folder: {folder}"]
    load = place.run / scratch.LOADED
    load.mkdir(0o700)
    (load / "file").touch()
    for text, goes in (("takt-0-ffffffff", False), (place.scratch().name, True)):
        place.made()
        put(place.run / scratch.LOCK, f"{text}\n")
        place.clean()
        assert load.exists() is not goes
    (place.victim / "sound").unlink()


@as_root
def test_resuming_another_users_run_is_not_suggested(place: Place) -> None:
    folder = place.made(resumable=True)
    (folder / f"cell{SUFFIX}").write_bytes(header(3) + bytes(32 * 3))
    put(place.run / scratch.LOCK, f"{folder.name}\n")
    put(place.run / scratch.DOCUMENT, "{}")
    assert [one.resumes for one in dead.dead_folders(place.memory)] == [True]
    os.chown(place.run, STRANGER, STRANGER)
    assert [one.resumes for one in dead.dead_folders(place.memory)] == [False]
    os.chown(place.run, 0, 0)
    os.chown(place.run / scratch.LOCK, STRANGER, STRANGER)
    found = place.clean()
    assert not any("--resume" in one for one in found.kept)
    assert scratch.recordings(folder)


@as_root
def test_only_whose_run_it_is_can_resume_it(place: Place) -> None:
    from takt.measure.results import store

    put(place.run / scratch.DOCUMENT, "{}", 0o644)
    store.refuse_foreign(place.run)
    with pytest.raises(TaktError) as caught:
        store.create(place.run)
    assert "--resume" in str(caught.value)
    os.chown(place.run / scratch.DOCUMENT, STRANGER, STRANGER)
    with pytest.raises(TaktError, match="only the owner of a run can continue it"):
        store.refuse_foreign(place.run)
    with pytest.raises(TaktError) as caught:
        store.create(place.run)
    assert "--resume" not in str(caught.value)


def test_links_in_a_campaign_lead_nowhere(place: Place) -> None:
    from read_files import ASKED

    campaigns.Folder(place.run, ASKED)
    (place.run / "sets").rmdir()
    (place.victim / ".bashrc").touch()
    (place.run / "sets").symlink_to(place.victim)
    with pytest.raises(TaktError, match="expected a folder of the campaign"):
        campaigns.Folder(place.run, ASKED)
    assert (place.victim / ".bashrc").exists()
    (place.victim / ".bashrc").unlink()
    (place.run / "sets").unlink()
    campaigns.Folder(place.run, ASKED)
    (place.run / "sets" / ".notes").touch()
    campaigns.Folder(place.run, ASKED)
    assert (place.run / "sets" / ".notes").exists()


# shared memory and processes of others


def test_a_semaphore_that_another_program_left_for_later_stays(place: Place) -> None:
    before = leftovers.present(place.memory)
    for name in ("sem.camera", "sem.robot1", "camera"):
        (place.memory / name).write_bytes(bytes(32))
    assert leftovers.sweep_since(before, place.memory) == []


def test_a_file_that_was_made_anew_under_a_noted_name_stays(place: Place) -> None:
    folder, name = place.made(), "fastdds_0123456789abcdef"
    (place.memory / name).write_bytes(bytes(32))
    note(folder, name, memory=place.memory)
    (place.memory / "kept").hardlink_to(place.memory / name)  # its number is not given again
    (place.memory / name).unlink()
    (place.memory / name).write_bytes(bytes(32))
    assert leftovers.unused(folder, place.memory, remove=True) == []
    assert (place.memory / name).exists()


@pytest.mark.parametrize("mark", ["abc", "1:", ":1", "1", "9" * 40 + ":1", "1:1:1", "-1:5"])
def test_a_mark_that_is_none_is_nobodys(mark: str) -> None:
    with subprocess.Popen(["sleep", "600"], env={guard.MARK: mark}) as process:
        try:
            assert process.pid not in set(remains.orphans())
        finally:
            process.kill()


@as_root
def test_a_process_of_another_user_is_no_orphan_of_ours(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], env={guard.MARK: "1:1"}, user=STRANGER) as process:
        try:
            assert process.pid not in set(remains.orphans())
        finally:
            process.kill()


# whatever the documents hold


class Unwatched:
    """In place of an undertaker."""

    def __init__(self, *_: object) -> None:
        """Watches over nothing."""

    def end(self) -> None:
        """As if it had."""


WORDS = "touch|tune --revert|takt-0-|run|command|path|{run}|.load|fastdds_0123 1|[|}|é|\udc80"
PIECES = st.sampled_from(
    ["{victim}", "{victim}/run.lock", "{name}", "..", "/", "\n", "\0", '"', *WORDS.split("|")]
)
DOCUMENTS = (scratch.OWNER, scratch.LOCK, last_will.FILE, "last_will.json", leftovers.JOURNAL)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_document_makes_anybody_touch_what_is_outside(place: Place, data: st.DataObject) -> None:
    for folder in (place.run, place.memory):
        for one in folder.iterdir():
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
    folder = place.made(run=data.draw(st.sampled_from([place.run, place.victim])))
    fill = {"victim": place.victim, "name": folder.name, "run": place.run}
    before = place.outside()
    (place.memory / "fastdds_ffffffffffffffff").touch()
    for name in data.draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True)):
        valid = (folder / name).read_text() if (folder / name).exists() else "{name}\n"
        words = data.draw(st.lists(PIECES, max_size=5))
        at = data.draw(st.integers(0, len(valid)))
        text = valid[:at] + "".join(words) + valid[data.draw(st.integers(at, len(valid))) :]
        for key, value in fill.items():
            text = text.replace(f"{{{key}}}", str(value))
        put(folder / name, text)
        if name == scratch.LOCK:
            put(place.run / name, text)
    ran: list[list[str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "Watch", Unwatched)  # a process each
        patch.setattr(last_will, "_do", lambda words: ran.append(list(words)) or True)
        leftovers.sweep_dead_runs(SWEEPER, place.memory, folder)
        place.clean()
        with contextlib.suppress(TaktError):
            scratch.open_for(place.run, place.memory).release(keep=False)
    assert place.outside() == before
    assert not place.run_by_it.exists()
    assert all(words == ["tune", "--revert"] for words in ran)
    assert (place.memory / "fastdds_ffffffffffffffff").exists()
    assert place.run.is_dir()
