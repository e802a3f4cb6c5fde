# SPDX-License-Identifier: Apache-2.0
"""The command line as users and scripts meet it: exit codes, one document, kills, two at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import Takt
from recording_runs import wait_for_samples
from test_process import gone, until

from takt.processes import recording as recordings
from takt.processes import scratch
from takt.reference.command_line import command as command_of
from takt.reference.command_line import every, help_of, options, usage_of

DOCKING = Path(__file__).parents[3] / "examples/docking.app.yaml"
EXPERIMENT = """
name: two
repetitions: 2
duration: {duration}
measurements:
  - kind: pingpong
    stack: fake
    transport: {transport}
"""
Write = Callable[[str], Path]


def test_asking_for_the_version_imports_nothing_heavy() -> None:
    code = (
        "import sys; from takt.cli.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'typer', 'rich', 'pydantic', 'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("takt ")
    assert done.stdout.splitlines()[1] == "[]"


def test_analysing_imports_no_numpy() -> None:
    code = (
        "import sys; from takt.cli.main import main\n"
        f"try: main(['analyse', {str(DOCKING)!r}])\n"
        "except SystemExit: pass\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("command", every())
def test_every_command_has_help_with_an_example(takt: Takt, command: str) -> None:
    done = takt(*command.split(), "--help")
    assert done.returncode == 0
    assert f"Example: takt {command}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", every())
def test_help_calls_arguments_and_options_as_the_reference_does(takt: Takt, command: str) -> None:
    said = takt(*command.split(), "--help").stdout
    usage = next(" ".join(line.split()) for line in said.splitlines() if "Usage:" in line)
    assert usage.removeprefix("Usage: ").removesuffix(" COMMAND [ARGS]...") == usage_of(command)
    assert "<bool>" not in said  # a flag takes no value
    text = said.partition("╭")[0].strip().splitlines()[1:]
    assert all(
        len(line.strip()) + 1 + len(next_line.split()[0]) > 77
        for line, next_line in pairwise(text)
        if line.strip() and next_line.strip() and "Example:" not in next_line
    ), "a line ends before the terminal does"


@pytest.mark.parametrize("command", every())
def test_a_help_text_cuts_no_word_at_the_end_of_a_line(command: str) -> None:
    assert "-\n" not in help_of(command_of(command)).text


def test_commands_for_application_files_say_so_alike() -> None:
    for command in ("analyse", "simulate", "execute", "compare-executors"):
        assert usage_of(command).endswith(" APP.yaml")


def test_execute_says_what_its_baselines_are(takt: Takt) -> None:
    said = " ".join(takt("execute", "--help").stdout.replace("│", "").split())
    assert "baseline0: one wait set" in said
    assert "baseline1: a process for each node" in said


@pytest.mark.parametrize("command", every())
def test_every_place_to_write_has_the_short_option_too(command: str) -> None:
    known = options(command_of(command))
    assert ("-o" in known) == ("--out" in known)


def test_json_is_one_document_with_what_scripts_read(takt: Takt) -> None:
    document = takt.json(
        "measure", "wakeup", "--stack", "fake", "--duration", "100ms", "--repetitions", "1"
    )
    assert document["exit_code"] == 0
    assert document["schema_version"] == 2
    assert document["verdict"]["level"] == "good"
    assert isinstance(document["doctor"], list)
    cell = document["cells"][0]
    wanted = "stack kind transport payload_bytes policy priority cpu count lost status"
    assert {*wanted.split(), "p50_us", "p99_us", "p999_us", "max_us"} <= set(cell)
    assert cell["count"] == 100
    folder = takt.folder / document["results"]
    assert json.loads((folder / "run.json").read_text())["status"] == "complete"


def test_a_failed_cell_is_exit_code_1(takt: Takt, experiment: Write) -> None:
    path = experiment(EXPERIMENT.format(duration="100ms", transport="[fine, crash]"))
    document = takt.json("run", path)
    assert document["exit_code"] == 1
    assert document["verdict"]["level"] == "bad"
    assert sorted(cell["status"] for cell in document["cells"]) == [
        "complete", "complete", "failed", "failed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], "no experiment given"),
        (["run", "none.yaml"], "none.yaml: no such experiment file"),
        (["run", "--resume", "nowhere"], "nowhere/run.json: no run in this folder"),
        (["measure", "wakeup"], "the stack raw is not installed (installed: fake)"),
        (["measure", "wakeup", "--stack", "fake", "--rate", "fast"], "--rate"),
        (
            ["measure", "wakeup", "--stack", "fake", "--priority", "80"],
            "scheduling policy other has no priority",
        ),
        (["measure", "sleep"], "sleep"),
        (["mesure"], "No such command 'mesure'. Did you mean 'measure'?"),
        (["measure", "wakeup", "--samples", "many"], "must be a whole number"),
        (["lab", "--seed", "0"], "must be at least 1"),
        (["report", __file__], f"{__file__}: this file is no run"),
        (["worker", "desk"], "invalid scheduler address 'desk'"),
        (["worker", "tcp://desk:8786", "a role"], "invalid host name 'a role'"),
    ],
)
def test_wrong_use_is_exit_code_2_with_a_reason_and_no_traceback(
    takt: Takt, arguments: list[str], expected: str
) -> None:
    done = takt(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["campaign", "history"])  # they import DuckDB
def test_the_end_of_the_process_adds_nothing_to_what_was_said(tmp_path: Path, command: str) -> None:
    line = [sys.executable, "-m", "takt", command, "none.json"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [one[:6] for one in done.stderr.splitlines()] == ["takt: ", "  fix:"]


@pytest.mark.parametrize("arguments", [["wakeup", "--scheduling", "foo"], ["foo"]])
def test_a_wrong_choice_is_refused_in_plain_words(takt: Takt, arguments: list[str]) -> None:
    done = takt("measure", *arguments)
    assert done.returncode == 2
    assert "Value error" not in done.stderr
    assert "'foo' is not one of" in done.stderr


def test_a_folder_where_a_file_is_asked_for_is_wrong_use_and_the_other_way_round(
    takt: Takt, tmp_path: Path
) -> None:
    done = takt("tune", "--review", str(tmp_path))
    assert (done.returncode, "give a file" in done.stderr) == (2, True), done.stderr
    application = tmp_path / "a.app.yaml"
    application.write_text("nodes: {a: {b: {timer: 10ms, wcet: 1ms}}}", encoding="utf-8")
    done = takt("generate", str(application), "--emit-code", str(application))
    assert (done.returncode, "give another folder" in done.stderr) == (2, True), done.stderr


def test_a_dry_run_shows_the_plan_and_measures_nothing(takt: Takt, experiment: Write) -> None:
    path = experiment(EXPERIMENT.format(duration="1h", transport="fine"))
    done = takt("run", path, "--dry-run", "--seed", "7")
    assert done.returncode == 0
    assert "fake-pingpong-fine-500B-other-1kHz-r1" in done.stdout
    assert "Total: about 2.0 h" in done.stdout
    assert not (takt.folder / "results").exists()


def recorded(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("samples/*.parquet"))


def test_a_killed_run_is_resumed_without_losing_a_sample(
    takt: Takt, experiment: Write, go: Path
) -> None:
    path = experiment(EXPERIMENT.format(duration="700ms", transport="held"))
    folder = takt.folder / "out"
    process = takt.start("run", path, "--out", folder)
    recording = wait_for_samples(process, folder, 100)
    probe = _pid_of_probe(recording)
    process.kill()
    process.communicate()
    assert until(lambda: gone(probe))  # the kernel ends it with its parent
    survived = recordings.progress(recording)
    assert survived >= 100
    go.touch()
    hint = takt("measure", "wakeup", "--stack", "fake", "--duration", "10ms", "--repetitions", "1")
    assert f"takt run --resume {folder}" in " ".join(hint.stderr.split())
    document = takt.json("run", "--resume", folder)
    assert document["exit_code"] == 0
    assert [cell["count"] for cell in document["cells"]] == [700, 700]
    run = json.loads((folder / "run.json").read_text())
    attempts = [name for cell in run["cells"] for name in cell["earlier_attempts"]]
    assert sum(pq.read_metadata(folder / name).num_rows for name in attempts) == survived
    assert recorded(folder) == 1400 + survived
    assert not recording.parent.exists()
    assert not (folder / scratch.LOCK).exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured(
    takt: Takt, experiment: Write, number: signal.Signals
) -> None:
    path = experiment(EXPERIMENT.format(duration="20s", transport="held"))
    folder = takt.folder / "out"
    process = takt.start("run", path, "--out", folder, "--json")
    wait_for_samples(process, folder, 100)
    process.send_signal(number)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 1
    document = json.loads(out)
    assert document["status"] == "partial"
    assert [cell["status"] for cell in document["cells"]] == ["partial", "pending"]
    assert document["cells"][0]["count"] == recorded(folder) >= 100
    assert "takt run --resume" in err


def test_resuming_something_else_is_refused(takt: Takt, experiment: Write) -> None:
    path = experiment(EXPERIMENT.format(duration="50ms", transport="fine"))
    folder = takt.folder / "out"
    assert takt("run", path, "--out", folder, "--seed", "3").returncode == 0
    assert takt("run", path, "--resume", folder).returncode == 0  # nothing left to do
    other = takt("run", path, "--resume", folder, "--seed", "4")
    assert (other.returncode, "seed" in other.stderr) == (2, True)
    path = experiment(EXPERIMENT.format(duration="60ms", transport="fine"))
    other = takt("run", path, "--resume", folder)
    assert other.returncode == 2
    assert "the experiment differs from that of this run: duration" in other.stderr
    again = takt("run", path, "--out", folder)
    assert (again.returncode, "already contains a run" in again.stderr) == (2, True)


def test_two_runs_at_once_keep_apart(takt: Takt, experiment: Write, go: Path) -> None:
    # As long as a second start may take on a busy machine, but held and then hurried.
    path = experiment(EXPERIMENT.format(duration="60s", transport="held"))
    folders = [takt.folder / "a", takt.folder / "b"]
    processes = [takt.start("run", path, "--out", folder) for folder in folders]
    calls = []
    with ThreadPoolExecutor() as both:  # neither may end while the other one is waited for
        recorded = list(both.map(wait_for_samples, processes, folders, [1, 1]))
    for recording in recorded:
        pid = _pid_of_probe(recording)
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        domain = next(one for one in environment if one.startswith(b"ROS_DOMAIN_ID="))
        calls.append((domain, command[command.index(b"--topic") + 1], recording.parent))
    go.touch()
    for process in processes:
        _, err = process.communicate(timeout=150)
        assert process.returncode == 0, err
    first, second = calls
    assert all(one != other for one, other in zip(first, second, strict=True))


def _pid_of_probe(recording: Path) -> int:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(recording).encode() in (entry / "cmdline").read_bytes():
                    return int(entry.name)
            except OSError:
                continue
    raise AssertionError("the probe is not running")
