# SPDX-License-Identifier: Apache-2.0
"""Whatever tune's journal holds: no fault, nothing off the list, and all whole entries taken back.

By hand: TAKT_TEST_INPUTS tries so many damaged journals, TAKT_TEST_SEED others.
"""

from __future__ import annotations

import copy
import errno
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from synthetic_machine import FILES, JOURNAL, SyntheticMachine, new_machine, state

from takt.cli import tune as command
from takt.cli.ending import ending
from takt.errors import TaktError
from takt.machine import writable
from takt.machine.settings import is_listed
from takt.tune import journal as journals
from takt.tune.apply import apply
from takt.tune.revert import revert

INPUTS = int(os.environ.get("TAKT_TEST_INPUTS", "60"))
SEED = os.environ.get("TAKT_TEST_SEED", "1")
STRANGER = 54321  # a user who is nobody here
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of other users take root")

SENTINELS: dict[str, str | bytes] = {
    "/etc/passwd": "precious\n",
    "/etc/cron.d/job": "precious\n",
    "/etc/security/limits.d/91-other.conf": "precious\n",
    "/proc/sys/kernel/core_pattern": "precious\n",
    "/proc/sys/kernel/modprobe": "precious\n",
    "/sys/fs/cgroup/user.slice/cpuset.cpus": "precious\n",
    "/home/user/.bashrc": "precious\n",
    "/var/lib/other": "precious\n",
    "/swap": "precious\n",
}
# What tune may ever write to, written down once more: each file of the made-up machine by name.
ALLOWED = re.compile(
    r"/proc/sys/kernel/(sched_rt_runtime_us|timer_migration|(nmi|soft)_watchdog|numa_balancing"
    r"|sched_autogroup_enabled)|/proc/sys/net/core/[rw]mem_max"
    r"|/sys/kernel/debug/sched/(preempt|fair_server/cpu0/runtime)"
    r"|/sys/kernel/mm/transparent_hugepage/enabled"
    r"|/sys/devices/system/clocksource/clocksource0/current_clocksource"
    r"|/sys/devices/system/cpu/cpu[0-3]/(cpufreq/scaling_governor|cpuidle/state[0-9]/disable)"
    r"|/proc/irq/(default_smp_affinity|[0-9]+/(smp|effective)_affinity_list)"
    r"|/proc/(14|22|50|51)/stat|/proc/swaps|/etc/security/limits\.d/90-takt\.conf"
    r"|/sys/fs/cgroup/(cgroup\.subtree_control|system\.slice/(cpuset\.cpus|cgroup\.procs)"
    r"|(user\.slice|takt\.measured)/[a-z.]+)"
)


class Machine(SyntheticMachine):
    """Its kernel refuses what is no value."""

    def write(self, path: str, content: bytes) -> None:
        try:
            super().write(path, content)
        except (ValueError, FileNotFoundError):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path) from None


@pytest.fixture
def machine(memory: Path) -> Machine:
    """One that tune has changed; in memory, where nobody waits for a disk."""
    new_machine(memory)
    found = Machine(memory)
    found.put(SENTINELS)
    apply(found)
    return found


def document(machine: Machine) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(machine.path(JOURNAL).read_text())
    return found


def revert_by_the_command(machine: Machine, *, as_json: bool = False) -> int:
    """Its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writable, "WritableSystem", lambda: machine)
        try:
            with ending(["tune", "--revert"]):
                try:
                    command.tune(
                        dry_run=False, apply=False, revert=True, without=None, review=None,
                        as_json=as_json,
                    )  # fmt: skip
                except typer.Exit as end:
                    return end.exit_code
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def test_a_whole_journal_is_taken_back(machine: Machine) -> None:
    assert revert_by_the_command(machine) == 0
    assert not machine.exists(JOURNAL)


BAD: list[Callable[[dict[str, Any]], object]] = [
    lambda entry: entry["place"].update(path="/etc/passwd"),
    lambda entry: entry["place"].update(path="/proc/sys/kernel/../../../etc/passwd"),
    lambda entry: entry["place"].update(path="/proc/sys/kernel/core_pattern"),
    lambda entry: entry["place"].update(path="/proc/sys/kernel/timer_migration\n"),
    lambda entry: entry["place"].update(kind="own-file", path="/etc/cron.d/job"),
    lambda entry: entry["place"].update(kind="swap", path="/home/user/../../swap"),
    lambda entry: entry.update(place={"kind": "own-group", "path": "/sys/fs/cgroup/user.slice"}),
    lambda entry: entry.update(setting="watchdog"),
    lambda entry: entry.update(setting="warp"),
    lambda entry: entry.update(before="1\0"),
    lambda entry: entry.update(before="\udc80"),
    lambda entry: entry.update(before="é"),
    lambda entry: entry.update(before=1),
    lambda entry: entry.update(state="gone"),
    lambda entry: entry.pop("before"),
    lambda entry: entry.clear(),
]


@pytest.mark.parametrize("spoil", BAD)
def test_a_damaged_entry_is_named_and_kept_and_all_others_are_taken_back(
    memory: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[dict[str, Any]], object]
) -> None:
    new_machine(memory)
    machine = Machine(memory)
    machine.put(SENTINELS)
    before = state(machine)
    apply(machine)
    written = document(machine)
    numbers = [
        number
        for number, entry in enumerate(written["entries"])
        if entry["setting"] == "timer-migration"
    ]
    spoil(written["entries"][numbers[0]])
    machine.put({JOURNAL: json.dumps(written)})
    assert revert_by_the_command(machine) == 1
    assert f"tune.json, entry {numbers[0] + 1}" in capsys.readouterr().out
    changed = {name for name, content in state(machine).items() if before[name] != content}
    assert changed == {"proc/sys/kernel/timer_migration"}
    assert document(machine)["entries"] == [written["entries"][numbers[0]]]
    with pytest.raises(TaktError, match="1 entries of the journal are damaged"):
        apply(machine)
    assert revert_by_the_command(machine, as_json=True) == 1
    printed = json.loads(capsys.readouterr().out)
    assert [one["result"] for one in printed["places"]] == ["damaged"]


def test_a_place_that_is_there_twice_is_taken_back_to_the_first(machine: Machine) -> None:
    written = document(machine)
    twice = next(one for one in written["entries"] if one["setting"] == "timer-migration")
    written["entries"].append(twice | {"before": "0\n"})
    machine.put({JOURNAL: json.dumps(written)})
    (found,) = [one for one in revert(machine) if one.result == "damaged"]
    assert "duplicate" in (found.reason or "")
    assert machine.text("/proc/sys/kernel/timer_migration") == "1"


def test_all_that_tune_records_is_on_the_list(machine: Machine) -> None:
    journal = journals.load(machine)
    assert journal is not None
    assert len(journal.entries) > 20
    assert journal.damaged == []
    assert not any(is_listed("warp", one.place) for one in journal.entries)


def by_a_link(file: Path) -> None:
    file.rename(file.with_name("real"))
    file.symlink_to(file.with_name("real"))


@pytest.mark.parametrize("folder_too", [False, True], ids=["file", "folder"])
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda file: os.chown(file, STRANGER, 0), "belongs to", marks=as_root),
        (lambda file: file.chmod(0o666 | file.stat().st_mode & 0o111), "other users can access"),
        (by_a_link, "symbolic link"),
    ],
)
def test_a_journal_of_another_user_is_neither_followed_nor_touched(
    machine: Machine,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    why: str,
    folder_too: bool,
) -> None:
    file = machine.path(JOURNAL)
    text = file.read_text()
    spoil(file.parent if folder_too else file)
    before = state(machine)
    assert revert_by_the_command(machine) in (1, 2)
    said = capsys.readouterr().err
    assert why in said or "Not a directory" in said
    assert file.read_text() == text
    assert {key: one for key, one in state(machine).items() if "var" not in key} == {
        key: one for key, one in before.items() if "var" not in key
    }


@pytest.mark.parametrize("depth", [300, 900, 5000])
def test_an_entry_that_is_nested_deeply_is_no_fault(machine: Machine, depth: int) -> None:
    text = machine.path(JOURNAL).read_text()
    machine.put({JOURNAL: text.replace('"entries": [', f'"entries": [{"[" * depth}{"]" * depth},')})
    assert revert_by_the_command(machine) in (1, 2)


NASTY: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, "", "\0", "\n", "..", "/", "\udc80", "é", "x" * 5000, [], {},
    "/etc/passwd", "/proc/sys/kernel/core_pattern", "/../etc/cron.d/job", "/home/user/.bashrc",
    "/sys/fs/cgroup/user.slice", "file", "own-file", "own-group", "swap", "thread", "interrupt",
    "controller", "choice", "mask", "done", "begun", "noted", "on 5", "off", "4777 0 0\nx", "on",
    "fifo 99", "other 0", "deadline 0", "a group\ncpuset.cpus 1", "a group\n../x 1", "/swap", "1\n",
]  # fmt: skip


def mutated(text: str, chance: random.Random) -> str:
    """Of bytes, or of values: these stay a document, and reach further."""
    if chance.random() < 0.3:
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text))
            piece = chance.choice(["", '"', "}", "9" * 400, "\\ud800", chr(chance.randrange(256))])
            text = text[:at] + piece + text[at + chance.randint(0, 6) :]
        return text
    found = json.loads(text)
    for _ in range(chance.randint(1, 6)):
        entries = found["entries"]
        entry = chance.choice(entries) if entries else {}
        inside = chance.choice([entry, entry.get("place")]) if isinstance(entry, dict) else None
        how = chance.random()
        if isinstance(inside, dict) and inside and how < 0.7:
            inside[chance.choice([*inside, "takes", "name", "form", "path"])] = chance.choice(NASTY)
        elif isinstance(inside, dict) and inside and how < 0.8:
            inside.pop(chance.choice(list(inside)))
        elif entries and how < 0.95:
            other = copy.deepcopy(chance.choice(entries))
            entries[chance.randrange(len(entries))] = chance.choice([other, chance.choice(NASTY)])
        else:
            found[chance.choice(["boot", "entries", "schema_version", "x"])] = chance.choice(
                [*NASTY, entries]
            )
            if not isinstance(found.get("entries"), list):
                break
    return json.dumps(found)


@pytest.mark.timeout(0)
def test_no_damaged_journal_ends_in_a_fault_or_leaves_the_list(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    text = machine.path(JOURNAL).read_text()
    tuned = state(machine)
    codes: dict[int, int] = {}
    for number in range(INPUTS):
        chance = random.Random(f"{SEED} {number}")
        machine.path(JOURNAL).write_text(mutated(text, chance), errors="surrogatepass")
        code = revert_by_the_command(machine, as_json=chance.random() < 0.3)
        said = capsys.readouterr()
        assert code in (0, 1, 2), (number, said.err)
        codes[code] = codes.get(code, 0) + 1
        now = state(machine)
        changed = {
            f"/{name}" for name in now.keys() | tuned.keys() if now.get(name) != tuned.get(name)
        }
        off = {name for name in changed if not ALLOWED.fullmatch(name)}
        assert not off, number
        for name in changed:
            path = machine.path(name)
            if name[1:] in tuned:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tuned[name[1:]])  # type: ignore[arg-type]
            else:
                path.unlink()
        for left in machine.path("/var/lib/takt").iterdir():
            left.unlink()
        assert machine.root.joinpath("sys/fs/cgroup/user.slice").is_dir()
    assert {1, 2} <= set(codes) or INPUTS < 60  # entries that are none, and files that are none
    assert FILES.keys() & SENTINELS.keys() == set()
