"""Steps and scalars over a range of steps, as rules read them."""

from pathlib import Path

import numpy as np

from cutaway.tensors import ModeKeys
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial


def a_run() -> ScriptedRun:
    run = ScriptedRun()
    for step in range(20):
        mode = ModeKeys.EVAL if step % 5 == 4 else ModeKeys.TRAIN
        run.step(mode, scalars={"loss": float(step), "other": -1.0}, seconds={"data": 0.5}, epoch=step // 5)
    return run


def test_a_trial_shows_what_was_recorded(tmp_path: Path) -> None:
    run = a_run()
    run.write(tmp_path / "run")
    trial = create_trial(tmp_path / "run")
    assert trial.scalar_names() == ["loss", "other"]
    assert trial.newest_step() == 19
    for start, stop in [(0, 20), (3, 11), (19, 40), (20, 30)]:
        shown, known = trial.step_window(start, stop), run.step_window(start, stop)
        assert shown.keys() == known.keys()
        for name, column in known.items():
            np.testing.assert_array_equal(shown[name], column, err_msg=name)
        for mode in ModeKeys:
            shown, known = (one.scalar_window("loss", start, stop, mode) for one in (trial, run))
            assert [shown[name].tolist() for name in ("step", "value")] == [
                known[name].tolist() for name in ("step", "value")
            ]


def test_a_range_of_steps_leaves_the_others_out(tmp_path: Path) -> None:
    a_run().write(tmp_path / "run")
    trial = create_trial(tmp_path / "run", range_steps=(5, 8))
    assert trial.step_window(0, 20)["step"].tolist() == [5, 6, 7]
    assert trial.scalar_window("loss", 0, 20)["step"].tolist() == [5, 6, 7]


def test_a_growing_run_shows_more(tmp_path: Path) -> None:
    run = a_run()
    run.begin(tmp_path / "run")
    trial = create_trial(tmp_path / "run")
    assert trial.step_window(0, 100)["step"].tolist() == list(range(20))
    run.step(scalars={"loss": 7.5})
    assert trial.scalar_window("loss", 20, 100)["value"].tolist() == [7.5]
    run.end()
