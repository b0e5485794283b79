"""Event files, read back by TensorBoard itself."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import pytest

from cutaway.capture.tensorboard import EventWriter
from cutaway.run import Run

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    """What TensorBoard reads from a folder."""
    reader = accumulator.EventAccumulator(str(folder), size_guidance={accumulator.SCALARS: 0}).Reload()
    return [(event.step, event.value) for event in reader.Scalars(tag)]


def test_tensorboard_reads_every_scalar_back(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    wanted = [(step, step / 8) for step in range(300)]
    for step, value in wanted:
        writer.add_scalar("TRAIN", "loss", value, step, 1000.0 + step)
    writer.close()
    assert scalars(tmp_path / "TRAIN", "loss") == wanted


def test_each_mode_has_a_folder_of_its_own(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", 1.0, 0, 0.0)
    writer.add_scalar("EVAL", "loss", 2.0, 0, 0.0)
    writer.close()
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["EVAL", "TRAIN"]
    assert scalars(tmp_path / "EVAL", "loss") == [(0, 2.0)]


@pytest.mark.parametrize("step", [0, 127, 128, 2**31 + 5, 2**40])
def test_steps_of_any_size(tmp_path: Path, step: int) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", 1.5, step, 0.0)
    writer.close()
    assert scalars(tmp_path / "TRAIN", "loss") == [(step, 1.5)]


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.0, -1e-30])
def test_values_of_any_size(tmp_path: Path, value: float) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", value, 0, 0.0)
    writer.close()
    assert scalars(tmp_path / "TRAIN", "loss") == [(0, pytest.approx(value, rel=1e-6))]


def test_a_value_beyond_32_bits_is_infinite(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", -1e300, 0, 0.0)
    writer.close()
    assert scalars(tmp_path / "TRAIN", "loss") == [(0, -math.inf)]


def test_a_value_that_is_no_number_stays_none(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", math.nan, 0, 0.0)
    writer.close()
    [(_, value)] = scalars(tmp_path / "TRAIN", "loss")
    assert math.isnan(value)


def test_names_that_tensorboard_does_not_allow_are_written_so_that_it_does(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "top 1:accuracy/Ä", 1.0, 0, 0.0)
    writer.close()
    assert scalars(tmp_path / "TRAIN", "top_1_accuracy/Ä") == [(0, 1.0)]


def test_a_live_file_can_be_read_before_it_is_closed(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.add_scalar("TRAIN", "loss", 1.0, 0, 0.0)
    assert scalars(tmp_path / "TRAIN", "loss") == [(0, 1.0)]
    writer.close()
    writer.close()


def test_two_threads_share_one_file(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    threads = [
        threading.Thread(target=lambda name=name: [writer.add_scalar("TRAIN", name, i, i, 0.0) for i in range(200)])
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert len(list((tmp_path / "TRAIN").iterdir())) == 1
    for name in ("one", "two"):
        assert scalars(tmp_path / "TRAIN", name) == [(i, float(i)) for i in range(200)]


def test_a_hook_exports_its_scalars_beside_its_run(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", export_tensorboard=True) as hook:
        hook.set_mode("TRAIN")
        for i in range(3):
            hook.take(weight=[1.0])
            hook.save_scalar("accuracy", i / 4)
    assert scalars(tmp_path / "run" / "logs" / "TRAIN", "accuracy") == [(0, 0.0), (1, 0.25), (2, 0.5)]


def test_a_folder_that_nothing_is_exported_to_is_said(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", tensorboard_dir=tmp_path / "board") as hook:
        hook.save_scalar("accuracy", 1.0)
    [finding] = Run.open(tmp_path / "run").findings()
    assert (finding.code, finding.severity) == ("tensorboard-off", "info")
    assert "`export_tensorboard=True`" in finding.message
    assert not (tmp_path / "board").exists()


def test_a_hook_exports_to_the_folder_that_it_is_given(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", export_tensorboard=True, tensorboard_dir=tmp_path / "board") as hook:
        hook.save_scalar("accuracy", 1.0)
    assert scalars(tmp_path / "board" / "GLOBAL", "accuracy") == [(0, 1.0)]
    assert not (tmp_path / "run" / "logs").exists()
