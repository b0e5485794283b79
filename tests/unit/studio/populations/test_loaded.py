"""What the studio holds of an evaluation is given to any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from cutaway.run.identity import Run
from cutaway.studio.populations.kept_tables import KeptTables
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.the_populations import Populations
from tests.unit.studio.a_population import make

# Nobody waits so long who will ever get an answer.
PATIENCE = 30


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make(tmp_path_factory.mktemp("runs"))


def test_who_wants_the_ids_and_who_reads_a_kept_table_do_not_wait_for_each_other(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Populations(lambda _: run).of_run(run)
    makes_ids, reads_table = threading.Event(), threading.Event()
    column, table = Loaded.column, KeptTables.table

    def column_when_a_table_is_read(self: Loaded, name: str) -> Any:
        if threading.current_thread().name == "ids":
            makes_ids.set()
            assert reads_table.wait(PATIENCE)
        return column(self, name)

    def table_when_ids_are_made(self: KeptTables, kind: str) -> Any:
        reads_table.set()
        return table(self, kind)

    monkeypatch.setattr(Loaded, "column", column_when_a_table_is_read)
    monkeypatch.setattr(KeptTables, "table", table_when_ids_are_made)
    found: dict[str, Any] = {}
    ids = threading.Thread(name="ids", target=lambda: found.update(ids=loaded.ids), daemon=True)
    kept = threading.Thread(name="kept", target=lambda: found.update(kept=loaded.kept("mislabeled")), daemon=True)
    ids.start()
    assert makes_ids.wait(PATIENCE)
    kept.start()
    for one in (ids, kept):
        one.join(PATIENCE)
        assert not one.is_alive(), f"{one.name} waits for ever"
    assert len(found["ids"]) == len(loaded)
    assert found["kept"] is not None


def test_ids_are_made_once(run: Run) -> None:
    loaded = Populations(lambda _: run).of_run(run)
    assert loaded.ids is loaded.ids
    assert loaded.order is loaded.order
    assert loaded.repeated_ids == 0
    assert loaded.samples_digest == loaded.samples_digest
