# SPDX-License-Identifier: Apache-2.0
"""Applications beyond the thesis: nothing that an app.yaml can say is undrawable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import takt_core
from ruamel.yaml import YAML

from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.model import Application
from takt.schedule.generate.blocks import Generated, block
from takt.schedule.generate.parameters import Parameters
from takt.schedule.generate.scenarios import POLICIES
from takt.schedule.generate.space import Space, read_space
from takt.schedule.generate.values import Distribution

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
MS = 1_000_000
ALL = object()  # in place of a value: whatever may be said
WORDS = ("description", ".recorded", ".from")  # said to people, and of where it came from
# Of the machine, not of an application: the core's own tests draw supplies and interrupts.
CORES = ("Application.cores", "Core.", "Supply.", "Interrupts.", "Measured.")
# Not drawn yet; takt_core's own tests draw them.
NOT_DRAWN = (
    *("Callback.join", "Callback.publishes"),
    *("Segment.device", "Reservation."),
)
# Drawn applications are for Takt's executor; takt compare-executors puts each under the others.
EXECUTOR = "Application.executor"
# Robots of several processes lack some of the rest: test_generate_robots draws them.
ROBOT = (
    *("Application.processes", "Application.middleware", "Application.links", "Application.hosts"),
    *("Process.", "Thread.", "Middleware.", "Link.", "Computer.", "Callback.at_once"),
)

OLD: dict[str, tuple[dict[str, Any] | str, str]] = {
    "listing 5.3": (
        "parameters.json",
        "4b1089ade5fa58c61ed70d291635e5c88c7b8d84fd7a2a593070cb5822574f8c",
    ),
    "listing 5.4": (
        "parameter_ranges.json",
        "289748bfe515e1b357a81f741bf7d59ef60b2def753d333e5fc6c40dee21ca49",
    ),
    "log-uniform": (
        {"nodes": 7, "utilization": 0.8, "periods": "log-uniform", "periods_range": [1, 100]}
        | {"utilization_max": 0.3, "best_case": [0.2, 0.9], "policy": "edf"}
        | {"deadlines": "wcet", "deadlines_wcet": [1.1, 3.0]},
        "c572956666d6edb4ee77b9fb33004aac7ce622d85111f9189afb83b1cee9381f",
    ),
    "automotive": (
        {"nodes": 12, "utilization": 0.6, "periods": "automotive", "priorities": "random"}
        | {"utilization_generator": "uunifast-discard", "utilization_max": 0.2}
        | {"pubsub": [0.5, 0.7], "message_size": "16kB", "policy": "np-fp"},
        "50cde06e3b7838e70a394c72ceda9c32445cad7a2511eba100e72f7bf1df7c0f",
    ),
}


@cache
def whole(count: int = 100) -> list[Generated]:
    """Applications of the grid that opens the whole space."""
    space = read_space(EXAMPLES / "whole_space.json")
    return [one for c in range(len(space.combinations)) for one in block(space, 3, c, 0, count)]


def drawn(count: int = 60, **keys: Any) -> list[dict[str, Any]]:
    """Applications with these properties on, the others off."""
    given: dict[str, Any] = {"nodes": 6, "utilization": 0.6, "periods": [10, 20, 40]}
    given |= {"pubsub": [0.7, 0.7], "message_size": "1kB"}
    wanted = Parameters(**(given | keys))
    values = {name: getattr(wanted, name) for name in Parameters.model_fields}
    return [one.flat for one in block(Space([values], {}), 2, 0, 0, count)]


@pytest.mark.parametrize("name", OLD)
def test_the_old_space_gives_the_applications_that_it_gave_before_the_new_one(
    tmp_path: Path, name: str
) -> None:
    given, expected = OLD[name]
    path = tmp_path / "x.json"
    if isinstance(given, str):
        path = EXAMPLES / given
    else:
        path.write_text(json.dumps({"parameters": given}))
    space, digest = read_space(path), hashlib.sha256()
    for combination in range(len(space.combinations)):
        for one in block(space, 1, combination, 0, 20):
            digest.update(json.dumps(one.document, sort_keys=True).encode())
    assert digest.hexdigest() == expected


def said(
    schema: dict[str, Any], part: dict[str, Any], value: Any, name: str = "Application"
) -> Iterator[str]:
    """The keys of each kind of object, and the words for a key; of a value, or ALL there are."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        part = schema["$defs"][name]
    for one in part.get("anyOf", []):
        yield from said(schema, one, value, name)
    words = part.get("enum", [] if "pattern" in part else part.get("examples", []))
    yield from (f"{name}={one}" for one in words if value is ALL or value == one)
    if part.get("type") == "boolean":
        yield from (f"{name}={one}" for one in (True, False) if value is ALL or value is one)
    known = part.get("properties", {})
    for key, inner in known.items():
        if value is ALL or (isinstance(value, dict) and key in value):
            yield f"{name}.{key}"
            yield from said(schema, inner, ALL if value is ALL else value[key], f"{name}.{key}")
    others = [*part.get("patternProperties", {}).values(), part.get("additionalProperties")]
    for inner in [one for one in others if isinstance(one, dict)]:
        values = [ALL]
        if value is not ALL:
            entries = value.items() if isinstance(value, dict) else ()
            values = [one for key, one in entries if key not in known]
        for one in values:
            yield from said(schema, inner, one, name)
    if "items" in part and (value is ALL or isinstance(value, list)):
        for one in [ALL] if value is ALL else value:
            yield from said(schema, part["items"], one, name)


def test_nothing_that_an_app_yaml_can_say_is_undrawable() -> None:
    schema = Application.model_json_schema()
    every = set(said(schema, schema, ALL))
    possible = {
        one
        for one in every
        if not one.endswith(WORDS) and not one.startswith((*CORES, EXECUTOR, *ROBOT, *NOT_DRAWN))
    }
    assert {"Callback.jitter", "Timing.active=False", "Scenario.policy=np-edf"} <= possible
    missing = possible
    for one in sorted(whole(), key=lambda one: one.repetition):  # all policies in turn
        if missing:
            document = YAML(typ="safe").load(app_yaml(one.document, "drawn"))
            missing = missing - set(said(schema, schema, document))
    assert missing == set()


def test_no_drawn_application_is_refused() -> None:
    results = takt_core.simulate_many([one.text for one in whole()], duration_ns=MS)
    assert [one["error"] for one in results if "error" in one] == []


def test_no_limit_of_an_age_is_below_what_the_data_takes_in_any_scenario() -> None:
    applications = drawn(100, max_age=[0.05, 0.2], scenarios=[1, 3], writers=[1, 3],
                         readings=[1, 3], messages=0.5, external=0.8)  # fmt: skip
    texts = [json.dumps(one) for one in applications]
    assert sum(one.count("max_age") for one in texts) > 200
    results = takt_core.simulate_many(texts, duration_ns=MS)
    assert [one["error"] for one in results if "error" in one] == []


def test_the_file_of_a_drawn_application_says_what_the_core_was_given(tmp_path: Path) -> None:
    path = tmp_path / "x.app.yaml"
    for one in whole(3):  # of each combination
        path.write_text(app_yaml(one.document, "drawn"))
        assert complete(flat(read_application(path))) == complete(one.flat)


def complete(flat: dict[str, Any]) -> dict[str, Any]:
    """A flat form with the defaults of what is compared, in one order."""
    empty: dict[str, Any] = {key: [] for key in ("chains", "scenarios", "switches")}
    callbacks = [
        {"kind": "timer", "reads": [], "writes": []}
        | ({"deadline": one["period"]} if "period" in one and "trigger" not in one else {})
        | one
        for one in flat["callbacks"]
    ]
    scenarios = [
        one | {"tasks": [{"reads": [], "writes": []} | task for task in one["tasks"]]}
        for one in flat.get("scenarios", [])
    ]
    topics = sorted(flat["topics"], key=lambda one: str(one["name"]))
    return (
        empty
        | {"overheads": {}}
        | flat
        | {"callbacks": callbacks, "scenarios": scenarios, "topics": topics}
    )


def test_a_property_that_is_off_is_in_no_application() -> None:
    plain = drawn()
    for one in plain:
        assert set(one) == {"version", "name", "policy", "callbacks", "topics"}
        for callback in one["callbacks"]:
            assert "trigger" not in callback
            assert not set(callback) & {"offset", "jitter", "group", "cpu", "overrun", "budget"}


def test_offsets_and_jitter_are_within_their_ranges_of_the_period() -> None:
    callbacks = [one for app in drawn(offsets=[0.5, 2.5], jitter=[0.0, 0.3])
                 for one in app["callbacks"]]  # fmt: skip
    offsets = [one["offset"] / one["period"] for one in callbacks if "offset" in one]
    jitters = [one["jitter"] / one["period"] for one in callbacks if "jitter" in one]
    assert 0.5 <= min(offsets) < 1
    assert 2 < max(offsets) <= 2.5
    assert 0 < min(jitters) < max(jitters) <= 0.3
    assert 0.4 < len(offsets) / len(callbacks) < 0.6  # every other one


def test_deadlines_are_drawn_below_and_above_the_period() -> None:
    wanted = {"deadlines": "range", "deadlines_range": [0.4, 2.0]}
    callbacks = [one for app in drawn(**wanted) for one in app["callbacks"]]
    ratios = [one["deadline"] / one["period"] for one in callbacks]
    assert min(ratios) < 0.7
    assert max(ratios) > 1.7
    assert all(one["execution"]["worst"] <= one["deadline"] for one in callbacks)


def test_messages_never_release_each_other_in_a_circle() -> None:
    released = 0
    for app in drawn(messages=1.0, writers=[1, 3], readings=[1, 3]):
        triggers = {one["name"]: one.get("trigger") for one in app["callbacks"]}
        writes = {one["name"]: one["writes"] for one in app["callbacks"]}
        released += sum(trigger is not None for trigger in triggers.values())
        left = {name for name, trigger in triggers.items() if trigger is not None}
        while left:  # those of whom all writers are released from without
            done = {n for n in left if not any(triggers[n] in writes[other] for other in left)}
            assert done
            left -= done
    assert released > 100


def test_the_utilization_is_kept_when_messages_release() -> None:
    space = Space([{"nodes": 6, "utilization": 0.6, "periods": [10 * MS], "pubsub": [0.7, 0.7]}
                   | {"message_size": 1, "messages": 1.0, "writers": [1, 3]}], {})  # fmt: skip
    for one in block(space, 2, 0, 0, 60):
        assert one.utilization == pytest.approx(0.6, abs=1e-3)


def test_several_writers_and_inputs_are_drawn() -> None:
    writers: set[int] = set()
    inputs: set[int] = set()
    for app in drawn(writers=[1, 3], readings=[1, 3]):
        for topic in app["topics"]:
            writers.add(sum(topic["name"] in one["writes"] for one in app["callbacks"]))
        inputs |= {len(one["reads"]) for one in app["callbacks"]}
    assert {1, 2, 3} <= writers
    assert {1, 2, 3} <= inputs


def test_each_callback_of_a_chain_works_on_what_the_one_before_writes() -> None:
    lengths = set()
    for app in drawn(200, chains=[1, 3], readings=[1, 3], messages=0.4, nodes=12):
        by_name = {one["name"]: one for one in app["callbacks"]}
        for chain in app.get("chains", []):
            lengths.add(len(chain["callbacks"]))
            for before, after in zip(chain["callbacks"], chain["callbacks"][1:], strict=False):
                reads = {read["topic"] for read in by_name[after]["reads"]}
                assert {*reads, by_name[after].get("trigger")} & set(by_name[before]["writes"])
    assert lengths == {2, 3, 4, 5, 6}


def test_a_grain_makes_all_times_multiples_of_it() -> None:
    wanted = {"offsets": [0.0, 2.0], "jitter": [0.0, 1.0], "grain": "100us", "best_case": 0.5}
    for app in drawn(**wanted, deadlines="range"):
        for one in app["callbacks"]:
            times = [one.get(key, 0) for key in ("offset", "jitter", "deadline")]
            times += [one["execution"]["best"], one["execution"]["worst"]]
            assert all(time % 100_000 == 0 for time in times)


def test_the_members_of_a_group_name_no_different_cores() -> None:
    for app in drawn(groups=0.8, cores=[2, 3], pinned=0.6):
        cores: dict[str, set[int]] = {}
        for one in app["callbacks"]:
            if "group" in one:
                cores.setdefault(one["group"], set()).add(one.get("cpu", -1))
        assert all(len(named) == 1 for named in cores.values())


def test_every_policy_and_distribution_can_be_asked_for() -> None:
    policies = {one.parameters.policy for one in whole()}
    assert policies == set(POLICIES)
    kinds = {name for one in whole() for name in one.parameters.distributions}
    assert kinds == set(Distribution.__args__)  # type: ignore[attr-defined]


def test_the_same_seed_gives_the_same_application_however_many_are_drawn() -> None:
    space = read_space(EXAMPLES / "whole_space.json")
    assert [one.text for one in block(space, 3, 4, 0, 7)] == [
        one.text for one in block(space, 3, 4, 0, 12)[:7]
    ]
    assert block(space, 4, 4, 0, 1)[0].text != block(space, 3, 4, 0, 1)[0].text
