"""Random bit flips and truncations in a finished trace: each is found and named, and nothing else is lost with it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import RunDamaged
from cutaway.run import Run, RunState, WriterId, segments
from cutaway.run.schemas import OVERVIEW, STATISTICS, STEPS, TENSORS
from cutaway.run.segments import ENTRY, ENTRY_BYTES, RawPlace, parse_header
from tests.faults.jobs import tensor_of

pytestmark = pytest.mark.faults

COLLECTIONS = "trace/collections.json"
TABLES = (STEPS, STATISTICS, OVERVIEW, TENSORS)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of two workers and several segments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT_BYTES", 12_000)
        patch.setattr(segments, "BLOB_BYTES", 4_000)
        run = Run.create(tmp_path_factory.mktemp("runs") / "run")
        run.write_document(COLLECTIONS, {"weights": {"include_regex": ["weight$"]}, "rate": 1e-05, "é": None})
        number, lease = run.begin_attempt()
        for worker in ("worker_0", "worker_1"):
            _train(run, WriterId("train", worker, number))
        lease.release(RunState.FINISHED)
    return run


def _train(run: Run, who: WriterId) -> None:
    writers = {table: run.writer(table, who) for table in TABLES}
    for step in range(25):
        writers[STEPS].append_rows({"step": [step], "mode": ["TRAIN"], "time": [float(step)]}, step)
        names = [f"layer{i}.weight" for i in range(4)]
        writers[STATISTICS].append_rows({"step": [step] * 4, "tensor": names, "min": [step + 0.5] * 4}, step)
        writers[OVERVIEW].append_rows({"step": [step] * 4, "tensor": names, "l2_max": [step + 0.25] * 4}, step)
        raw = [tensor_of(i, step) if i else None for i in range(3)]
        writers[TENSORS].append_tensors({"step": [step] * 3, "tensor": ["none", "a", "b"]}, step, raw)
    for writer in writers.values():
        writer.close()


@dataclass
class Contents:
    """All that can be read of a run: rows by (table, worker, step), raw bytes by (worker, step, tensor)."""

    rows: dict[tuple[str, str, int], list[str]] = field(default_factory=dict)
    raw: dict[tuple[str, int, str], bytes] = field(default_factory=dict)
    collections: object = None


def _read(run: Run) -> Contents:
    contents = Contents()
    for table in TABLES:
        reader = run.table(table)
        for batch in reader.poll():
            for row in batch.rows.to_pylist():
                contents.rows.setdefault((table, batch.segment.worker, row["step"]), []).append(repr(row))
                if row.get("offset") is not None:
                    place = RawPlace(row["offset"], row["length"], row["crc"])
                    try:
                        data = bytes(reader.raw(batch.segment, place))
                    except RunDamaged:
                        continue
                    contents.raw[batch.segment.worker, row["step"], row["tensor"]] = data
    try:
        contents.collections = run.document(COLLECTIONS)
    except RunDamaged:
        contents.collections = "damaged"
    return contents


@dataclass(frozen=True)
class Hit:
    """One flipped bit, or one cut."""

    key: str
    place: int
    bit: int | None

    def spoil(self, data: bytes) -> bytes:
        if self.bit is None:
            return data[: self.place]
        spoilt = bytearray(data)
        spoilt[self.place] ^= 1 << self.bit
        return bytes(spoilt)

    def touches(self, start: int, end: int) -> bool:
        """Whether it changes any of these bytes."""
        return end > self.place if self.bit is None else start <= self.place < end


def _hits(run: Run, count: int, chance: random.Random) -> Iterator[Hit]:
    files = sorted(path for path in (run.path / "trace").rglob("*") if path.is_file())
    for i in range(count):
        path = files[i % len(files)]  # every file, also the small ones
        key, size = path.relative_to(run.path).as_posix(), path.stat().st_size
        yield Hit(key, chance.randrange(size), chance.randrange(8) if chance.random() < 0.7 else None)


def _lost_rows(hit: Hit, index: bytes) -> set[int]:
    """The steps whose batch a hit in a segment touches: its bytes, or its entry in the index."""
    header = parse_header(index)
    assert header is not None
    entries = np.frombuffer(index, ENTRY, offset=header.size)
    lost = set()
    for i, entry in enumerate(entries):
        start, length = int(entry["offset"]), int(entry["length"])
        place = header.size + i * ENTRY_BYTES
        if length and (
            hit.touches(start, start + length)
            if hit.key.endswith(".arrow")
            else hit.touches(place, place + ENTRY_BYTES)
        ):
            lost.add(int(entry["step"]))
    return lost


def _expected(run: Run, hit: Hit, whole: Contents) -> Contents:
    """What must still be there after a hit."""
    expected = Contents(dict(whole.rows), dict(whole.raw), whole.collections)
    table, _, name = hit.key.rpartition("/")
    stem, _, ending = name.rpartition(".")
    worker = stem.split("-")[1] if "-" in stem else ""
    if hit.key == COLLECTIONS:
        expected.collections = "damaged"
    elif ending == "bin":
        for step, tensor, place in _raw_places(run, table, stem):
            if hit.touches(place.offset, place.offset + place.padded_length):
                del expected.raw[worker, step, tensor]
    else:
        for step in _lost_rows(hit, run.storage.read(f"{table}/{stem}.idx")):
            del expected.rows[table, worker, step]
            for tensor in "ab" if table == TENSORS else "":
                del expected.raw[worker, step, tensor]
    return expected


def _raw_places(run: Run, table: str, stem: str) -> Iterator[tuple[int, str, RawPlace]]:
    for batch in run.table(table).poll():
        if batch.segment.stem == stem:
            for row in batch.rows.to_pylist():
                if row["offset"] is not None:
                    yield row["step"], row["tensor"], RawPlace(row["offset"], row["length"], row["crc"])


def test_a_healthy_run_has_no_damage_and_all_its_rows(run: Run) -> None:
    whole = _read(run)
    assert run.verify() == []
    assert len(whole.rows) == 2 * len(TABLES) * 25
    assert len(whole.raw) == 2 * 2 * 25
    assert len(run.storage.list(TENSORS)) >= 3 * 3 * 2, "several segments"


def test_every_flip_and_every_cut_is_found_and_costs_only_what_it_touched(run: Run, kills: int) -> None:
    whole = _read(run)
    for hit in _hits(run, max(2 * kills, 40), random.Random(400)):
        expected = _expected(run, hit, whole)
        path = run.path / hit.key
        good = path.read_bytes()
        try:
            path.write_bytes(hit.spoil(good))
            damaged = Run.open(run.path)
            assert hit.key in {one.path for one in damaged.verify()}, f"{hit} was not found"
            assert _read(damaged) == expected, f"{hit} cost more than it touched"
        finally:
            path.write_bytes(good)
    assert run.verify() == []


@pytest.mark.parametrize("ending", ["idx", "arrow", "bin"])
def test_a_file_that_is_gone_is_named_and_costs_only_its_own_rows(run: Run, ending: str) -> None:
    whole = _read(run)
    path = run.path / TENSORS / f"train-worker_1-0-0.{ending}"
    gone = path.rename(path.with_suffix(".gone"))
    try:
        damaged = Run.open(run.path)
        named = {Path(one.path).stem for one in damaged.verify()}
        assert named == {"train-worker_1-0-0"}
        found = _read(damaged)
    finally:
        gone.rename(path)
    assert found.rows.items() <= whole.rows.items()
    assert {key for key in whole.rows if key[:2] != (TENSORS, "worker_1")} <= found.rows.keys()
    assert found.raw.items() < whole.raw.items()
    assert {key for key in whole.raw if key[0] == "worker_0"} <= found.raw.keys()


def test_a_damaged_identity_costs_no_row(run: Run, kills: int) -> None:
    whole, chance = _read(run), random.Random(7)
    path = run.path / "run.json"
    good = path.read_bytes()
    for _ in range(max(kills // 4, 5)):
        hit = Hit("run.json", chance.randrange(len(good)), chance.choice([None, *range(8)]))
        try:
            path.write_bytes(hit.spoil(good))
            damaged = Run.open(run.path)
            assert [one.path for one in damaged.verify()] == ["run.json"]
            assert _read(damaged) == whole
            assert damaged.state() is RunState.FINISHED
        finally:
            path.write_bytes(good)
