"""The method where nobody names one: the one whose maps hold up best on the model, said with the figures."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.heat_maps.choosing import IN_TURN, MethodChoice, choose_method
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.sanity import check_sanity, deletion_figures
from cutaway.models import Model, load

torch = pytest.importorskip("torch")

FEW = 12
COMPARED = IN_TURN[:3]


def beats(model: Model, method: str, images: np.ndarray, labels: np.ndarray) -> float:
    figures = check_sanity(model, images, heat_map(model, images, method=method, target=labels))
    return float(np.mean([one.better_than_random for one in figures]))


class TestChoosing:
    def test_of_those_that_apply_the_one_with_the_best_figure_is_taken(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        images = read[0][:FEW]
        found = choose_method(model, images)
        own = {
            name: np.nan_to_num(deletion_figures(model, images, heat_map(model, images, method=name)), nan=1.0).mean()
            for name in COMPARED
        }
        assert found.figures == pytest.approx(own)
        assert found.method == min(own, key=lambda name: own[name])
        assert found.samples == FEW

    def test_on_samples_that_were_not_compared_it_beats_random_maps_where_the_first_of_old_does_not(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        chosen = choose_method(model, read[0][:FEW]).method
        images, labels = read[0][FEW : FEW + 60], read[1][FEW : FEW + 60]
        assert beats(model, chosen, images, labels) >= 0.95
        assert beats(model, "grad_cam", images, labels) < 0.7

    def test_of_a_slow_model_fewer_samples_are_compared_and_their_number_is_said(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        times = iter([0.0, 3.0, 9.0])
        found = choose_method(model, read[0][:FEW], clock=lambda: next(times))
        assert found.samples == 4
        assert "on 4 samples" in found.words

    def test_what_costs_most_is_left_out_where_another_applies(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        assert "occlusion" not in choose_method(model, read[0][:2]).figures

    def test_it_is_chosen_among_those_that_take_the_baseline(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        found = choose_method(model, read[0][:2], baseline="mean")
        assert (found.method, dict(found.figures)) == ("integrated_gradients", {})

    def test_a_method_that_does_not_apply_is_said_with_the_reason(self) -> None:
        torch.manual_seed(0)
        network = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)
        )
        images = np.random.default_rng(0).random((4, 1, 8, 8), dtype=np.float32)
        found = choose_method(load(network, example=images), images)
        assert set(found.figures) == {"integrated_gradients", "input_gradient"}
        assert "no layer of this model keeps places" in found.words


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (
            MethodChoice("integrated_gradients", 12, {"grad_cam": 0.446, "integrated_gradients": 0.21}),
            "integrated_gradients was chosen: on 12 samples it does 0.21, grad_cam 0.45; less is better.",
        ),
        (MethodChoice("occlusion", reasons=("No gradients.",)), "occlusion was chosen. No gradients."),
    ],
)
def test_the_choice_in_words(choice: MethodChoice, words: str) -> None:
    assert choice.words == words
