# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in a file, its reader gives its content or a short error with a place.

Valid files are mutated: bytes changed, left out, repeated, and pieces put in that have broken a
reader before. The examples are the same in every run.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from synthetic_runs import Point, write_run

from takt.cli.execute import _load as load_flat
from takt.errors import TaktError
from takt.measure.experiment.file import load as load_experiment
from takt.measure.history.store import History
from takt.measure.results import histogram, store
from takt.measure.run import samples
from takt.schedule.analysis.ask import read_overheads
from takt.schedule.application.file import load_application
from takt.schedule.application.flat import flat
from takt.schedule.campaign.folder import CAMPAIGN, Folder
from takt.schedule.campaign.model import Campaign
from takt.schedule.explain import explain
from takt.schedule.generate.space import Space
from takt.schedule.generate.space import load as load_space
from takt.schedule.metrics import measure
from takt.schedule.trace import file as traces
from takt.schedule.trace.summary import Summing

ROOT = Path(__file__).parents[3]
PIECES = (
    b"&a [*a]", b"*a", b"<<: *a", b"[" * 200, b"{" * 200, b"9" * 5000, b"1e999", b"NaN", b"-1",
    b"Infinity", b"\x00", b"\xff\xfe", b"/dev/zero", b"../../..", b"!!python/object:os.system",
    b"? {a: b}\n: c", b"2001-99-99", b"\n", b": ", b"\"", b"null", b"\xf0\x9f\xa4\x96",
    b"%YAML 9.9",
)  # fmt: skip
SCALE = int(os.environ.get("TAKT_FUZZ", "1"))  # so many times as much, other examples each time
Mutation = tuple[float, int, bytes]


def mutated(content: bytes, mutations: list[Mutation]) -> bytes:
    """At a share of the file: so many bytes go (or are there twice), others come."""
    for share, cut, piece in mutations:
        at = int(share * len(content))
        content = content[:at] + piece + content[at + cut :]
    return content


MUTATIONS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(-40, 40),
        st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)),
    ),
    min_size=1,
    max_size=4,
)


def fuzzed(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many mutations of a file, the same ones each time."""
    return settings(
        max_examples=examples * SCALE,
        derandomize=SCALE == 1,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


@contextlib.contextmanager
def short_errors() -> Iterator[None]:
    """TaktErrors are what is wanted, if they fit on a screen."""
    try:
        yield
    except TaktError as error:
        told = error
    else:
        return
    assert told.what
    assert len(str(told)) < 2000


def read_space(path: Path) -> None:
    load_space(path)


def read_application(path: Path) -> None:
    json.dumps(flat(load_application(path)))


TEXTS: dict[str, tuple[Path, Callable[[Path], object]]] = {
    "app.yaml": (ROOT / "examples/docking.app.yaml", read_application),
    "experiment.yaml": (ROOT / "experiments/quick.yaml", load_experiment),
    "grid.json": (ROOT / "examples/parameter_ranges.json", read_space),
}


@pytest.mark.parametrize("name", TEXTS)
@fuzzed(60)
@given(mutations=MUTATIONS)
@example(mutations=[(0.0, 10**9, b"a: &a [x,x]\n" + b"b: &a [*a,*a,*a]\n" * 40)])
@example(mutations=[(0.0, 10**9, b"a: &a\n  <<: *a\n")])
@example(mutations=[(0.0, 10**9, b"a: " + b"[" * 100_000)])
def test_what_people_write(tmp_path: Path, name: str, mutations: list[Mutation]) -> None:
    valid, read = TEXTS[name]
    file = tmp_path / name
    file.write_bytes(mutated(valid.read_bytes(), mutations))
    with short_errors():
        read(file)


FLAT = {"name": "x", "callbacks": [{"name": "a.b", "period": 10}], "topics": []}
OVERHEADS = {"upper": {"dispatch": 1000.5, "publish": 7}}


@pytest.mark.parametrize(
    ("document", "read"), [(FLAT, load_flat), (OVERHEADS, read_overheads)], ids=["flat", "costs"]
)
@fuzzed(150)
@given(mutations=MUTATIONS)
@example(mutations=[(0.0, 10**9, b"[" * 100_000)])
def test_what_programs_write_as_json(
    tmp_path: Path,
    document: object,
    read: Callable[[Path], object],
    mutations: list[Mutation],
) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(mutated(json.dumps(document).encode(), mutations))
    with short_errors():
        read(file)


@fuzzed(150)
@given(mutations=MUTATIONS)
def test_run_documents(tmp_path: Path, mutations: list[Mutation]) -> None:
    if not (tmp_path / "whole").exists():
        point = Point("rcl", "pingpong", "shm", "fifo", 60.0, priority=80)
        write_run(tmp_path / "whole", [point], repetitions=1, count=50)
    broken = tmp_path / "run.json"
    broken.write_bytes(mutated((tmp_path / "whole" / "run.json").read_bytes(), mutations))
    with short_errors():
        store.read(broken)


@fuzzed(150)
@given(mutations=MUTATIONS)
@example(mutations=[(0.0, 10**9, b"1\n2\n3\n")])
@example(mutations=[(0.0, 10**9, b"1 -5\n")])
def test_histograms(tmp_path: Path, mutations: list[Mutation]) -> None:
    file = tmp_path / "histogram.txt"
    found = histogram.Bins()
    found.add(np.arange(0, 90_000, 700))
    histogram.write(file, found, ["a cell"])
    file.write_bytes(mutated(file.read_bytes(), mutations))
    with short_errors():
        values, counts = histogram.read(file)
        assert len(values) == len(counts)
        assert (counts >= 0).all()


@fuzzed(40)
@given(mutations=MUTATIONS)
def test_histories(tmp_path: Path, mutations: list[Mutation]) -> None:
    file = tmp_path / "history.sqlite"
    file.unlink(missing_ok=True)
    with History(file):
        pass
    file.write_bytes(mutated(file.read_bytes(), mutations))
    with short_errors(), History(file) as history:
        for configuration in history.configurations():
            list(history.entries(configuration))


@fuzzed(150)
@given(mutations=MUTATIONS)
def test_recordings(tmp_path: Path, mutations: list[Mutation]) -> None:
    file = tmp_path / "cell.taktsamples"
    content = samples.header(50) + bytes(50 * samples.RECORD.itemsize)
    file.write_bytes(mutated(content, mutations))
    with contextlib.suppress(samples.BadRecording):
        for batch in samples.read(file).batches():
            assert len(batch.sequence)


@fuzzed(120)
@given(mutations=MUTATIONS)
@example(mutations=[(0.0, 64, b"TAKTTRC1")])
def test_traces(tmp_path: Path, traced: bytes, mutations: list[Mutation]) -> None:
    file = tmp_path / "t.takttrace"
    file.write_bytes(mutated(traced, mutations))
    for read in (summary, measure, explain):
        with short_errors():
            read(file)


def summary(file: Path) -> None:
    trace = traces.read(file)
    summing = Summing(trace)
    summing.result(traces.replay(trace, [summing]).not_nested)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A trace with everything that one can hold."""
    from takt.schedule.simulation.run import simulate

    file = tmp_path_factory.mktemp("traced") / "t.takttrace"
    application = load_application(ROOT / "examples/docking.app.yaml")
    simulate(flat(application), where="docking", duration=200_000_000, trace=file)
    return file.read_bytes()


@fuzzed(60)
@given(mutations=MUTATIONS)
def test_campaigns(tmp_path: Path, mutations: list[Mutation]) -> None:
    asked = Campaign({"a": [1]}, Space([{}], {}), 1, 1, ("analyse",), None)
    folder = tmp_path / "campaign"
    if not folder.exists():
        Folder(folder, asked)
        (tmp_path / "whole").write_bytes((folder / CAMPAIGN).read_bytes())
    (folder / CAMPAIGN).write_bytes(mutated((tmp_path / "whole").read_bytes(), mutations))
    with short_errors():
        Folder(folder, asked)
