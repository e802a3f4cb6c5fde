# SPDX-License-Identifier: Apache-2.0
"""Which workers a scheduler has, whatever its client looks for by itself meanwhile."""

from __future__ import annotations

import os

import pytest
from distributed import Client, LocalCluster

from takt.network.workers import Workers


def test_what_a_client_looks_for_by_itself_hides_no_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its periodic look asks for no workers, and may come between any two steps of another."""
    look = Client._update_scheduler_info

    async def with_the_periodic_one(self: Client, n_workers: int = 0) -> None:
        await look(self, n_workers=n_workers)
        await look(self)

    with (
        LocalCluster(
            n_workers=1, processes=False, dashboard_address=None, resources={"component": 1}
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        monkeypatch.setattr(Client, "_update_scheduler_info", with_the_periodic_one)
        assert Workers(client).named("component", "component") == "component"
        assert Workers(client).call("component", os.getpid) == os.getpid()
