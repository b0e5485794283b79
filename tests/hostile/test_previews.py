"""Files of previews in which bits flipped, or that somebody wrote: what is shown is a picture of theirs, or none."""

import contextlib
import random
from pathlib import Path

import pyarrow as pa
import pytest

from cutaway.run import Run
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.previews import SIGNATURE, SamplePreviews

PNG = SIGNATURE + bytes(200)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.create(tmp_path / "run")
    (run.path / "previews").mkdir()
    ids = [f"training/{i}" for i in range(50)]
    batch = pa.record_batch({"id": pa.array(ids), "png": pa.array([PNG] * len(ids), pa.binary())})
    with pa.ipc.new_file(run.path / "previews" / "training.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    return run


def test_a_whole_file_shows_its_pictures(run: Run) -> None:
    assert SamplePreviews().png(run, "training/7") == PNG
    assert SamplePreviews().known(run, {"training/7", "other"}) == {"training/7"}


def test_offsets_that_leave_the_file_are_not_followed(run: Run) -> None:
    file = run.path / "previews" / "training.arrow"
    content = file.read_bytes()
    # The ends of the third id and of the third picture, as they lie in the file.
    for end in (3 * len("training/0"), 3 * len(PNG)):
        lied = content.replace(end.to_bytes(4, "little"), (2**31 - 1).to_bytes(4, "little"))
        assert lied != content
        file.write_bytes(lied)
        with pytest.raises(Refusal):
            SamplePreviews().png(run, "training/2")


@pytest.mark.parametrize("seed", range(5))
def test_flipped_bits_never_end_in_anything_but_a_picture_or_a_refusal(run: Run, seed: int) -> None:
    rng = random.Random(seed)
    file = run.path / "previews" / "training.arrow"
    content = file.read_bytes()
    # What is not a picture: the ids, the offsets, and what Arrow says of them.
    places = [i for i in range(len(content)) if not 1500 < i < len(content) - 1500]
    for _ in range(100):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[rng.choice(places)] ^= 1 << rng.randrange(8)
        file.write_bytes(damaged)
        previews = SamplePreviews()
        previews.known(run, {"training/7"})
        with contextlib.suppress(Refusal):
            assert previews.png(run, "training/7").startswith(SIGNATURE)
