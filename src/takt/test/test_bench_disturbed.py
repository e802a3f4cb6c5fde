# SPDX-License-Identifier: Apache-2.0
"""A benchmark says which of its measurements were disturbed, and by what."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from takt.bench import disturbed as tested
from takt.bench.disturbed import STOLEN_SHARE, Disturbed
from takt.bench.overheads import Document, Overheads
from takt.processes.others import Taken


@dataclass
class Machine:
    """What happens to each measurement, which takes a second."""

    taken: Taken = field(default_factory=lambda: Taken(0.0, much=False))
    stolen_s: float = 0.0
    now_s: float = 0.0

    def measure(self) -> dict[str, float]:
        self.now_s += 1.0
        self.total_s += self.stolen_s
        return {"p50": 1.0}

    total_s = 0.0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    fake = Machine()

    class Others:
        def taken(self) -> Taken:
            return fake.taken

    monkeypatch.setattr(tested, "Others", Others)
    monkeypatch.setattr(tested, "steal_seconds", lambda: fake.total_s)
    monkeypatch.setattr("takt.bench.disturbed.time.monotonic", lambda: fake.now_s)
    return fake


@pytest.mark.parametrize(
    ("taken", "stolen_s", "counted"),
    [
        (Taken(0.0, much=False), 0.0, 0),
        (Taken(0.04, much=False), STOLEN_SHARE / 2, 0),
        (Taken(0.4, much=True), 0.0, 1),
        (Taken(0.0, much=False), 2 * STOLEN_SHARE, 1),
        (Taken(0.4, much=True), 0.5, 1),
    ],
)
def test_much_of_others_or_of_the_hypervisor_disturbs(
    machine: Machine, taken: Taken, stolen_s: float, counted: int
) -> None:
    machine.taken, machine.stolen_s = taken, stolen_s
    found = Disturbed()
    assert found.watching(machine.measure)() == {"p50": 1.0}
    assert (found.measurements, found.disturbed) == (1, counted)
    assert bool(found.remarks()) == bool(counted)


def test_all_measurements_add_up(machine: Machine) -> None:
    found = Disturbed()
    watched = found.watching(machine.measure)
    watched()
    machine.taken, machine.stolen_s = Taken(1.25, much=True), 0.25
    watched()
    watched()
    (remark,) = found.remarks()
    assert remark.startswith("2 of 3 measurements were disturbed: other programs took 2.5 s")
    assert "the hypervisor 0.5 s" in remark


def test_documents_of_former_versions_are_read() -> None:
    costs = Overheads(
        dispatch=1,
        preemption=1,
        release=1,
        publish=1,
        publish_per_kib=1,
        deliver=1,
        deliver_per_kib=1,
    )
    document = Document(overheads=costs, upper=costs, rounds=1).model_dump(mode="json")
    for key in ("measurements", "disturbed", "others_seconds", "steal_seconds"):
        assert document.pop(key) is None
    assert Document.model_validate(document).disturbed is None
