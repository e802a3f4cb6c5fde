# SPDX-License-Identifier: Apache-2.0
"""Everything that Takt reads from files, each with a valid one, for the tests that break them."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from synthetic_runs import Point, write_run

from takt.cli.execute import _load as load_flat
from takt.errors import TaktError
from takt.machine.places import KernelFile
from takt.machine.writable import WritableSystem
from takt.measure.experiment.file import read_experiment
from takt.measure.history.store import Entry, History
from takt.measure.results import histogram, store
from takt.measure.run import samples
from takt.processes import dead, scratch
from takt.reproduce.krukiewicz2021.executions import read_kept
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.overheads import read_overheads
from takt.schedule.campaign.folder import CAMPAIGN, Folder
from takt.schedule.campaign.model import Campaign
from takt.schedule.explain import explain
from takt.schedule.generate.space import Space, read_space
from takt.schedule.metrics import measure
from takt.schedule.model.model import model
from takt.schedule.simulation.simulate import simulate
from takt.schedule.timing.file import read_timing, timing_yaml
from takt.schedule.trace import file as traces
from takt.schedule.trace.summary import Summing
from takt.tune import journal

ROOT = Path(__file__).parents[3]
LONGEST_ERROR = 2000
FLAT = {"name": "x", "callbacks": [{"name": "a.b", "period": 10}], "topics": []}
OVERHEADS = {"upper": {"dispatch": 1000.5, "publish": 7}}
ASKED = Campaign({"a": [1]}, Space([{}], {}), 1, 1, ("analyse",), None)


@dataclass(frozen=True)
class Reader:
    """A kind of file: its name, a valid one, and what reads it."""

    name: str
    valid: Callable[[Path], bytes]  # made in an empty folder
    read: Callable[[Path], object]

    def survives(self, file: Path) -> None:
        """Reads it; a TaktError is as good as its content, if it fits on a screen."""
        try:
            self.read(file)
        except (TaktError, samples.BadRecording) as error:
            printed = str(error)
        else:
            return
        assert printed
        assert len(printed) < LONGEST_ERROR


def _application(file: Path) -> None:
    json.dumps(flat(read_application(file)))


def _run(file: Path) -> None:
    store.read(file)


def _histogram(file: Path) -> None:
    values, counts = histogram.read(file)
    assert len(values) == len(counts)
    assert (counts >= 0).all()


def _history(file: Path) -> None:
    with History(file) as history:
        for configuration in history.configurations():
            list(history.entries(configuration))


def _recording(file: Path) -> None:
    for batch in samples.read(file).batches():
        assert len(batch.sequence)


def _summary(file: Path) -> None:
    trace = traces.read(file)
    summing = Summing(trace)
    summing.result(traces.replay(trace, [summing]).not_nested)


def _model(file: Path) -> None:
    """Whatever is modelled, the file that is written can be read."""
    out = file.with_suffix(".app.yaml")
    model(file, out)
    try:
        read_application(out)
    except TaktError as error:
        raise AssertionError(f"takt model wrote what takt analyse refuses: {error}") from error


def _timing(_: Path) -> bytes:
    application = flat(read_application(ROOT / "examples/docking.app.yaml"))
    return timing_yaml(application, "made", {}).encode()


def _sampled(file: Path) -> None:
    """Execution times in a file beside the app.yaml."""
    application = file.with_name("sampled.app.yaml")
    callback = f"{{timer: 1s, execution: {{samples: {file.name}}}}}"
    application.write_text(f"nodes: {{node: {{callback: {callback}}}}}\n")
    _application(application)


def _analysed(file: Path) -> None:
    """A flat application may be anybody's, and goes into the core."""
    _, document = load_flat(file)
    analyse(document, file.name)


def _journal(file: Path) -> None:
    """Of tune, which acts as root on what stands there."""
    machine = WritableSystem(file.parent)
    place = machine.path(journal.FILE)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(file.read_bytes())
    journal.load(machine)


def _owner(file: Path) -> None:
    """Of a scratch folder in the memory, where everybody may write."""
    folder = file.parent / f"takt-{os.getuid()}-01234567"
    folder.mkdir(0o700, exist_ok=True)
    (folder / scratch.OWNER).write_bytes(file.read_bytes())
    (folder / scratch.OWNER).chmod(0o600)
    for one in dead.dead_folders(file.parent, folder):
        assert not one.named
        assert not one.waits


def _campaign(file: Path) -> None:
    Folder(file.parent, ASKED)


def _a_run(folder: Path) -> bytes:
    point = Point("rcl", "pingpong", "shm", "fifo", 60.0, priority=80)
    write_run(folder / "run", [point], repetitions=1, count=50)
    return (folder / "run" / "run.json").read_bytes()


def _a_histogram(folder: Path) -> bytes:
    found = histogram.Bins()
    found.add(np.arange(0, 90_000, 700))
    histogram.write(folder / "histogram.txt", found, ["a cell"])
    return (folder / "histogram.txt").read_bytes()


def _a_history(folder: Path) -> bytes:
    words = ("key", "machine", "2026-01-01T00:00:00Z", "run", "cell", "pingpong", "rcl", "fifo")
    bins = (np.arange(90), np.full(90, 7))
    with History(folder / "history.sqlite") as history, history._database:
        history._insert(Entry(*words, 1000.0, 0, 630, 0.0, 44.5, 26.0, 89.0, bins))
    return (folder / "history.sqlite").read_bytes()


def _a_recording(_: Path) -> bytes:
    return samples.header(50) + bytes(50 * samples.RECORD.itemsize)


def _a_trace(folder: Path) -> bytes:
    """With everything that one can hold."""
    application = read_application(ROOT / "examples/docking.app.yaml")
    file = folder / "t.takttrace"
    simulate(flat(application), where="docking", duration=200_000_000, trace=file)
    return file.read_bytes()


def _a_campaign(folder: Path) -> bytes:
    Folder(folder / "campaign", ASKED)
    return (folder / "campaign" / CAMPAIGN).read_bytes()


def _metrics(folder: Path) -> bytes:
    (folder / "t.takttrace").write_bytes(_a_trace(folder))
    return measure(folder / "t.takttrace").model_dump_json().encode()


def _a_flat_one(_: Path) -> bytes:
    return json.dumps(flat(read_application(ROOT / "examples/docking.app.yaml"))).encode()


def _a_journal(folder: Path) -> bytes:
    place = KernelFile(path="/proc/sys/kernel/numa_balancing")
    entry = journal.Entry(setting="numa", place=place, before="1\n", state="done", wrote="0\n")
    machine = WritableSystem(folder)
    file = machine.path(journal.FILE)
    file.parent.mkdir(parents=True)
    journal.save(machine, journal.Journal(boot="11111111-aaaa", entries=[entry]))
    return file.read_bytes()


def _in_the_repository(name: str) -> Callable[[Path], bytes]:
    return lambda _: (ROOT / name).read_bytes()


READERS = [
    Reader("app.yaml", _in_the_repository("examples/docking.app.yaml"), _application),
    Reader("experiment.yaml", _in_the_repository("experiments/quick.yaml"), read_experiment),
    Reader("grid.json", _in_the_repository("examples/parameter_ranges.json"), read_space),
    Reader("flat.json", lambda _: json.dumps(FLAT).encode(), load_flat),
    Reader("costs.json", lambda _: json.dumps(OVERHEADS).encode(), read_overheads),
    Reader("run.json", _a_run, _run),
    Reader("histogram.txt", _a_histogram, _histogram),
    Reader("history.sqlite", _a_history, _history),
    Reader("cell.taktsamples", _a_recording, _recording),
    Reader("summary.takttrace", _a_trace, _summary),
    Reader("metrics.takttrace", _a_trace, measure),
    Reader("explain.takttrace", _a_trace, explain),
    Reader("model.takttrace", _a_trace, _model),
    Reader("robot.timing.yaml", _timing, read_timing),
    Reader(CAMPAIGN, _a_campaign, _campaign),
    Reader("hosts.yaml", _in_the_repository("experiments/second_host.yaml"), read_experiment),
    Reader("times.txt", lambda _: b"1ms\n1.5ms\n# late\n2000us\n", _sampled),
    Reader("analysed.json", _a_flat_one, _analysed),
    Reader("tune.json", _a_journal, _journal),
    Reader(scratch.OWNER, lambda folder: json.dumps({"run": str(folder)}).encode(), _owner),
    Reader("executed.json", _metrics, read_kept),
]


@contextlib.contextmanager
def valid_files() -> Iterator[dict[str, bytes]]:
    """A valid file for each of the readers, by its name."""
    with tempfile.TemporaryDirectory() as name:
        made = {}
        for reader in READERS:
            folder = Path(name) / reader.name
            folder.mkdir()
            made[reader.name] = reader.valid(folder)
        yield made
