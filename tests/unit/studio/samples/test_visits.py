"""What the training saw of a sample, each time that it came up."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.run import Run
from cutaway.studio.samples import detail
from cutaway.studio.samples.detail import visits_of
from cutaway.trial.trial import Trial

pytest.importorskip("torch")


@pytest.fixture
def trained(tmp_path: Path) -> Trial:
    """A run of twelve steps; sample 3 is in every second of them, and its loss is NaN at the sixth."""
    import torch

    from cutaway.torch import Hook

    model = torch.nn.Linear(2, 1)
    with Hook(tmp_path / "run", include_collections=["losses"]) as hook:
        hook.register_module(model)
        for step in range(12):
            hook.set_mode("TRAIN")
            hook.set_epoch(step // 6)
            ids = [3, 4] if step % 2 == 0 else [5, 6]
            hook.set_samples(ids, subset="training")
            model(torch.ones(2, 2)).sum().backward()
            loss = [float("nan") if step == 6 else 1.0 / (step + 1), 0.5]
            hook.save_sample_values(ids, subset="training", loss=loss)
            hook.save_scalar("score", 1.0)
    return Trial(Run.open(tmp_path / "run"))


def test_visits_come_in_step_order_with_their_epochs_and_no_number_for_nan(trained: Trial) -> None:
    found, notes = visits_of(trained, "training/3")
    assert found is not None
    assert notes == []
    assert len(found.steps) == 6
    assert found.steps == sorted(found.steps)
    assert found.losses == [
        pytest.approx(1.0),
        *map(pytest.approx, (1 / 3, 1 / 5)),
        None,
        *map(pytest.approx, (1 / 9, 1 / 11)),
    ]
    assert found.epochs == [0, 0, 0, 1, 1, 1]
    assert set(found.mode) == {"TRAIN"}


def test_a_sample_that_the_training_never_saw_has_no_visits(trained: Trial) -> None:
    assert visits_of(trained, "training/99") == (None, [])


def test_very_many_visits_are_thinned_and_that_is_said(trained: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail, "MOST_VISITS", 4)
    found, notes = visits_of(trained, "training/3")
    assert found is not None
    assert len(found.steps) == 3
    assert notes == ["The training saw this sample 6 times; one in 2 is shown."]
