# SPDX-License-Identifier: Apache-2.0
"""Campaigns: every application is evaluated once, whatever happens, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from conftest import Takt
from pyarrow import parquet

from takt.errors import Failure, TaktError
from takt.schedule.application.cores import Core
from takt.schedule.application.executors import POLICIES
from takt.schedule.campaign import batch as work
from takt.schedule.campaign import cluster, execute
from takt.schedule.campaign.folder import Folder, reading_tables
from takt.schedule.campaign.model import SETS, Batch, Campaign, ExecutionSettings
from takt.schedule.generate.space import Space, read_space

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RANGES = EXAMPLES / "parameter_ranges.json"


def campaign(repeat: int = 3, do: tuple[str, ...] = ("analyse", "simulate")) -> Campaign:
    return Campaign({}, read_space(RANGES), repeat, 1, do, None)


def rows(folder: Path) -> list[dict[str, Any]]:
    table = parquet.read_table(folder)
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def grid(folder: Path, **keys: Any) -> Path:
    given: dict[str, Any] = {"nodes": 6, "utilization": 0.7, "periods": [5, 10, 20]}
    path = folder / "grid.json"
    path.write_text(json.dumps({"parameters": given | keys}))
    return path


def test_cells_are_all_applications_once() -> None:
    asked = campaign(repeat=1234)
    covered = [
        (batch.combination, repetition)
        for batch in asked.batches()
        for repetition in range(batch.first, batch.first + batch.size)
    ]
    assert len(covered) == len(set(covered)) == 24 * 1234
    assert max(batch.size for batch in asked.batches()) == 500


def test_a_cell_has_the_applications_that_generate_writes() -> None:
    asked = campaign(repeat=700)
    second = [batch for batch in asked.batches() if batch.combination == 2][1]
    names = [one.name for one in work.applications(asked.space, 1, second)]
    assert names == [f"app_002_{repetition:06}" for repetition in range(500, 700)]


def test_the_example_to_be_executed_has_each_policy_and_bounds_with_a_supply() -> None:
    space = read_space(EXAMPLES / "executed.json")
    supply = {"supply": {"rate": 0.95, "delay": "4ms"}}
    cores = {cpu: Core.model_validate(supply) for cpu in (0, 1)}
    asked = Campaign({}, space, 3, 1, ("analyse",), cores=cores)
    found: list[dict[str, Any]] = []
    for batch in asked.batches():
        found += work.evaluate(space, 1, batch, asked.do, cores=cores).to_pylist()
    assert [row["error"] for row in found] == [None] * 24
    assert {row["policy"] for row in found} == {*POLICIES}
    assert len({row["policy"] for row in found if row["accepted"]}) > 4


@pytest.mark.parametrize("policy", ["fp", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"])
def test_no_simulated_response_is_above_its_bound_and_no_accepted_set_misses(policy: str) -> None:
    forced = {"policy": policy, "priorities": "rate-monotonic"}
    space = Space(
        [
            {"nodes": nodes, "utilization": total, "periods": [ms * 1_000_000 for ms in periods]}
            | forced
            for nodes in (3, 8)
            for total in (0.5, 0.7, 0.9)
            for periods in ([5, 10, 20], [4, 9, 15])
        ],
        {"deadlines": ["period", "wcet"], "best_case": [[1.0], [0.5, 1.0]]},
    )
    asked = Campaign({}, space, 25, 3, ("analyse", "simulate"), None)
    found: list[dict[str, Any]] = []
    for batch in asked.batches():
        found += work.evaluate(space, 3, batch, asked.do).to_pylist()
    assert [row["error"] for row in found] == [None] * 300
    assert [row["violations"] for row in found if row["bound_violations"]] == []
    assert [row["name"] for row in found if row["accepted"] and row["misses"]] == []
    accepted = [row for row in found if row["accepted"]]
    assert 10 < len(accepted) < 300
    # A bound that nothing comes near would prove nothing.
    assert max(row["tightness"] for row in accepted) > 0.9


def test_what_the_core_refuses_is_reported_in_its_row_and_harms_no_other() -> None:
    space = Space([{"nodes": 3, "utilization": 0.5, "periods": [10_000_000]}], {})
    space.drawn["policy"] = ["fp", "efd"]
    for do in (("analyse",), ("simulate",), ("analyse", "simulate")):
        found = work.evaluate(space, 1, Batch(0, 0, 0, 20), do).to_pylist()
        assert len(found) == 20
        for row in found:
            refused = row["policy"] == "efd"
            assert ("efd" in (row["error"] or "")) == refused
            if "analyse" in do and not refused:
                assert row["accepted"] is not None


@pytest.fixture
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    connected = distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0"
    )
    yield connected
    connected.close()


@pytest.mark.filterwarnings("ignore")  # of Dask's own, while it starts and ends
def test_a_cell_that_fails_is_tried_again_and_then_given_back_as_failed(
    client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def tries(index: int) -> int:
        return len(list(tmp_path.glob(f"{index}.*")))

    def fail(space: Space, seed: int, batch: Batch, *_: Any) -> pa.Table:
        (tmp_path / f"{batch.index}.{tries(batch.index)}").touch()  # workers share files alone
        if batch.index == 1 or (batch.index == 2 and tries(2) < 3):
            raise RuntimeError("worker fell over")
        rows = [work._row(one) for one in work.applications(space, seed, batch)]
        return pa.Table.from_pylist(rows, schema=SETS)

    monkeypatch.setattr(work, "evaluate", fail)
    asked = campaign()
    kept: dict[int, tuple[pa.Table, str | None]] = {}

    def keep(batch: Batch, table: pa.Table, error: str | None) -> None:
        assert batch.index not in kept
        kept[batch.index] = (table, error)

    cluster.evaluate(client, asked, list(asked.batches()), keep)
    assert sorted(kept) == list(range(24))
    assert sum(len(table) for table, _ in kept.values()) == 24 * 3
    assert {index for index, (_, error) in kept.items() if error} == {1}
    assert kept[1][0]["error"].to_pylist() == ["RuntimeError: worker fell over"] * 3
    assert [tries(index) for index in range(4)] == [1, 3, 3, 1]


def test_a_failed_cell_remains_and_is_done_when_it_succeeds(tmp_path: Path) -> None:
    asked = campaign()
    batches = list(asked.batches())
    folder = Folder(tmp_path / "c", asked)
    for batch in batches[:4]:
        error = "it fell over" if batch.index == 2 else None
        folder.keep(batch, work.failed(asked.space, 1, batch, "x"), error)
    again = Folder(tmp_path / "c", asked)
    assert [batch.index for batch in again.remaining(batches)] == [2, *range(4, 24)]
    again.keep(batches[2], work.failed(asked.space, 1, batches[2], "x"), None)
    assert [batch.index for batch in again.remaining(batches)] == list(range(4, 24))


def test_a_folder_goes_on_with_its_own_campaign_only(tmp_path: Path) -> None:
    Folder(tmp_path / "c", campaign())
    Folder(tmp_path / "c", campaign())
    with pytest.raises(TaktError, match="differs in repeat"):
        Folder(tmp_path / "c", campaign(repeat=4))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(TaktError, match="not a campaign"):
        Folder(tmp_path / "other", campaign())


def test_executions_are_shuffled_and_every_application_comes_once_before_any_again() -> None:
    execution = ExecutionSettings(("takt", "baseline1"), 1.0, 5)
    asked = Campaign({}, read_space(RANGES), 1, 1, ("execute",), execution)
    order = execute.turns(asked, 24)
    assert len({(turn.application, turn.approach, turn.number) for turn in order}) == 24 * 2 * 5
    rounds = [order[first : first + 48] for first in range(0, 240, 48)]
    for number, turns in enumerate(rounds):
        assert {turn.number for turn in turns} == {number}
    assert [t.application for t in rounds[0]] != [t.application for t in rounds[1]]
    assert order == execute.turns(asked, 24)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_a_campaign_that_was_killed_goes_on_and_ends_like_one_that_was_not(takt: Takt) -> None:
    asked = grid(takt.folder, nodes=30)
    command: list[str | Path] = [
        "campaign",
        asked,
        "--repeat",
        "3000",
        "--workers",
        "1",
        "--json",
        "--out",
    ]
    process = takt.start(*command, "killed")
    sets = takt.folder / "killed" / "sets"
    give_up = time.monotonic() + 150
    while not list(sets.glob("*.parquet")) and time.monotonic() < give_up:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = {file.name: file.stat().st_mtime_ns for file in sets.glob("*.parquet")}
    assert 0 < len(done) < 6
    resumed = takt.json(*command[:-2], "--out", "killed")
    assert resumed["exit_code"] == 0
    assert (resumed["sets"], resumed["failed"], resumed["bound_violations"]) == (3000, 0, 0)
    after = {file.name: file.stat().st_mtime_ns for file in sets.glob("*.parquet")}
    assert {name: after[name] for name in done} == done  # what was done is not done again
    names = [row["name"] for row in rows(sets)]
    assert len(names) == len(set(names)) == 3000
    straight = takt.json(*command[:-2], "--out", "straight")
    assert rows(takt.folder / "straight" / "sets") == rows(sets)
    assert straight["accepted"] == resumed["accepted"] > 0


def test_what_was_refused_is_not_said_to_be_tried_again(takt: Takt) -> None:
    words = ["campaign", grid(takt.folder), "--repeat", "3", "--do", "analyse", "--out", "out"]
    takt.json(*words)
    sets = takt.folder / "out" / "sets"
    (table,) = sets.glob("*.parquet")
    refused = [row | {"error": "task 'x': it has no name"} for row in rows(table)]
    parquet.write_table(pa.Table.from_pylist(refused, schema=SETS), table)
    again = takt(*words)
    assert again.returncode == 1
    assert "3 were rejected" in again.stderr
    assert "to retry them" not in again.stderr
    (sets / f"{table.stem}.failed.json").write_text('{"error": "gone", "size": 3}')
    folder = Folder.__new__(Folder)
    folder.sets = sets
    assert folder.again() == 3


@pytest.mark.thorough
def test_a_campaign_whose_tables_were_cut_goes_on(takt: Takt) -> None:
    words = ["campaign", grid(takt.folder), "--repeat", "3", "--do", "analyse", "--out", "out"]
    whole = takt.json(*words)
    (table,) = (takt.folder / "out" / "sets").glob("*.parquet")
    for left in (100, 0):
        os.truncate(table, left)
        again = takt.json(*words)
        assert (again["exit_code"], again["sets"]) == (0, whole["sets"])


def test_a_table_that_is_damaged_inside_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(Failure, match=str(tmp_path)), reading_tables(tmp_path):
        duckdb.read_parquet(str(tmp_path / "x.parquet")).fetchall()


def test_the_command_uses_a_scheduler_that_is_there(takt: Takt, tmp_path: Path) -> None:
    from distributed import LocalCluster

    # It sets what the processes that it starts are to have, and leaves it set.
    with (
        mock.patch.dict(os.environ),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path),
        ) as local,
    ):
        done = takt.json(
            "campaign", grid(takt.folder), "--repeat", "20", "--scheduler", local.scheduler_address
        )
    assert (done["exit_code"], done["sets"], done["failed"]) == (0, 20, 0)


def test_wrong_use_is_reported(takt: Takt) -> None:
    path = grid(takt.folder)
    assert "allowed: analyse, simulate" in takt("campaign", path, "--do", "analyze").stderr
    assert "no such parameter" in takt("campaign", "none.json").stderr
    assert takt("campaign", grid(takt.folder, nodes=1)).returncode == 2
    unknown = takt("campaign", path, "--do", "execute", "--approaches", "best")
    assert "allowed: takt, baseline0, baseline1" in unknown.stderr


def test_applications_are_executed_and_measured(
    takt: Takt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = EXAMPLES.parent / os.environ.get("TAKT_STATE", ".takt") / "install"
    if not (prefix / "lib" / "takt_runner" / "app_runner").exists():
        pytest.skip("app_runner is not installed")
    keys: dict[str, Any] = {"pubsub": [0.4, 0.6], "message_size": "16kB", "utilization": 0.3}
    asked = grid(tmp_path, nodes=3, periods=[20, 40], **keys)
    command: list[str | Path] = ["campaign", asked, "--repeat", "2", "--do", "analyse,execute"]
    costs = tmp_path / "overheads.json"
    costs.write_text('{"upper": {"dispatch": 100000}}')
    options: list[str | Path] = ["--duration", "500ms", "--executions", "1", "--out", "c"]
    options += ["--overheads", costs]
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path))  # where nothing is installed
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    failed = takt.json(*command, *options)
    assert (failed["exit_code"], failed["executions"]["takt"]["failed"]) == (1, 2)
    monkeypatch.setenv("TAKT_PREFIX", str(prefix))
    done = takt.json(*command, *options)  # tries again what failed
    assert (done["exit_code"], done["accepted"], done["failed"]) == (0, 2, 0)
    assert done["executions"]["takt"]["count"] == 2
    found = rows(tmp_path / "c" / "executions")
    for row in found:
        assert row["status"] == "complete"
        assert row["executions"] > 0  # how many a busy machine skips is no matter here
        assert row["on_old_data"] == 0
        assert bool(row["trace"]) == bool(row["misses"] or row["above_bound"])
        assert (row["accepted"], row["above_unexplained"]) == (True, 0)
    assert takt.json(*command, *options)["executions"] == done["executions"]
    assert rows(tmp_path / "c" / "executions") == found  # nothing was executed again


def test_given_cores_count_in_every_bound() -> None:
    asked = campaign(repeat=5, do=("analyse",))
    whole = work.applications(asked.space, 1, Batch(0, 0, 0, 5))
    core = Core.model_validate({"supply": {"rate": 0.1, "delay": "1ms"}})
    limited = work.applications(asked.space, 1, Batch(0, 0, 0, 5), None, {0: core, 5: core})
    for one, other in zip(whole, limited, strict=True):
        supply = {"rate": 100_000_000, "delay": 1_000_000}
        assert other.document == one.document | {"cores": [{"cpu": 0, "supply": supply}]}
    found = work.evaluate(asked.space, 1, Batch(0, 0, 0, 5), ("analyse",), None, {0: core})
    ideal = work.evaluate(asked.space, 1, Batch(0, 0, 0, 5), ("analyse",))
    accepted = [table.column("accepted").to_pylist() for table in (found, ideal)]
    assert not any(accepted[0])
    assert any(accepted[1])
    with pytest.raises(TaktError, match="core 0 of the application is missing"):
        work.applications(asked.space, 1, Batch(0, 0, 0, 5), None, {5: core})


def test_a_campaign_with_other_cores_is_another_one() -> None:
    core = Core.model_validate({"supply": {"rate": 0.9}})
    asked = Campaign({}, read_space(RANGES), 1, 1, ("analyse",), cores={0: core})
    assert asked.document()["cores"] == [{"cpu": 0, "supply": {"rate": 900_000_000}}]
    assert "cores" not in campaign().document()


@pytest.mark.filterwarnings("ignore")  # of Dask's own, while it starts and ends
def test_workers_that_do_not_end_in_time_do_not_end_a_campaign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distributed = pytest.importorskip("distributed")
    ended = distributed.LocalCluster.close

    def too_late(self: Any, timeout: float | None = None) -> None:
        ended(self, timeout)
        raise TimeoutError

    monkeypatch.setattr(distributed.LocalCluster, "close", too_late)
    with cluster.cluster(None, 1) as client:
        assert client.submit(max, 1, 2).result() == 2
