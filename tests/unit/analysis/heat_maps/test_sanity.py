"""Sanity figures: integrated gradients beat random maps, random maps of any smoothness do not, and words say which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.resizing import resize
from cutaway.analysis.heat_maps.sanity import RANDOM_MAPS, check_sanity, deletion_figures, sanity_words
from cutaway.analysis.heat_maps.values import HeatMap, Sanity
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Progress
from cutaway.models import Model, load

torch = pytest.importorskip("torch")


def by_hand(values: np.ndarray, targets: Sequence[int] | np.ndarray | None, model: Model) -> list[HeatMap]:
    classes = [None] * len(values) if targets is None else [int(one) for one in targets]
    name, output = model.inputs[0].name, model.outputs[0].name
    return [
        HeatMap(np.asarray(one, np.float32), "by hand", name, output, target, 0.0)
        for one, target in zip(values, classes, strict=True)
    ]


def passing(figures: Sequence[Sanity]) -> float:
    return float(np.mean([one.better_than_random for one in figures]))


def linear(weights: np.ndarray) -> Model:
    """A model that is one product: what matters is known."""
    layer = torch.nn.Linear(weights.shape[1], weights.shape[0], bias=False)
    layer.weight.data = torch.from_numpy(weights.astype(np.float32))
    return load(torch.nn.Sequential(torch.nn.Flatten(), layer), example=np.zeros((2, weights.shape[1]), np.float32))


class TestPassRates:
    """The bars of the issue, on digits; a fixed seed draws from rates that were measured on many more."""

    def test_integrated_gradients_beat_random_maps(self, model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
        images, labels = read[0][:60], read[1][:60]
        maps = heat_map(model, images, method="integrated_gradients", target=labels)
        assert passing(check_sanity(model, images, maps)) >= 0.95

    def test_random_maps_of_any_smoothness_pass_at_most_8_percent(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        images, labels = read[0][:120], read[1][:120]
        figures: list[Sanity] = []
        for cells in (8, 4, 2):
            drawn = np.random.default_rng(cells).random((len(images), cells, cells), dtype=np.float32)
            figures += check_sanity(model, images, by_hand(resize(drawn, (8, 8)), labels, model))
        # One of 21 by chance, with a deviation of 1.1 % over 360 of them.
        assert 0.01 <= passing(figures) <= 0.08

    def test_a_map_that_is_the_same_everywhere_never_passes(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        images, labels = read[0][:40], read[1][:40]
        figures = check_sanity(model, images, by_hand(np.ones((40, 8, 8)), labels, model))
        assert passing(figures) == 0
        assert "points at nothing" in sanity_words(figures[0])


class TestFigures:
    def test_all_figures_are_there_and_repeat_with_the_seed(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        images, labels = read[0][:6], read[1][:6]
        state = str(np.random.get_state())
        maps = heat_map(model, images, method="integrated_gradients", target=labels)

        def again(other: Model) -> tuple[HeatMap, ...]:
            return heat_map(other, images, method="integrated_gradients", target=labels)

        first, second, third = (check_sanity(model, images, maps, seed=seed, remake=again) for seed in (3, 3, 4))
        assert first == second
        assert first != third
        assert str(np.random.get_state()) == state
        for one in first:
            assert len(one.random) == RANDOM_MAPS
            assert one.magnitude is not None
            assert one.random_weights is not None
            assert 0 <= one.deletion <= 1.2
        assert np.mean([one.deletion for one in first]) < np.mean([one.random_weights or 0.0 for one in first])

    def test_small_batches_give_the_same_figures(self, model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
        images, labels = read[0][:3], read[1][:3]
        maps = heat_map(model, images, method="grad_cam", target=labels)
        whole, parts = (check_sanity(model, images, maps, batch_size=size) for size in (512, 7))
        assert [one.deletion for one in parts] == pytest.approx([one.deletion for one in whole], rel=1e-4)
        assert parts[0].random == pytest.approx(whole[0].random, rel=1e-4)

    def test_probabilities_and_logits_of_one_model_give_the_same_figures(self) -> None:
        weights = np.random.default_rng(0).normal(size=(3, 40))
        logits = linear(weights)
        layers = [*logits._backend._root, torch.nn.Softmax(dim=1)]  # type: ignore[attr-defined]  # the same layers
        rows = np.random.default_rng(1).normal(size=(4, 40)).astype(np.float32)
        probabilities = load(torch.nn.Sequential(*layers), example=rows)
        values = rows * weights[0]
        first, second = (check_sanity(one, rows, by_hand(values, [0] * 4, one)) for one in (logits, probabilities))
        assert [one.deletion for one in first] == pytest.approx([one.deletion for one in second], rel=1e-4)

    def test_progress_counts_every_prediction(self, model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
        told: list[Progress] = []
        maps = by_hand(np.random.default_rng(0).random((2, 8, 8)), read[1][:2], model)
        check_sanity(model, read[0][:2], maps, progress=told.append)
        assert told[-1].done == told[-1].total == 2 * 15 * (RANDOM_MAPS + 2)


class TestKindsOfSamples:
    def test_a_series_is_judged_by_its_times(self) -> None:
        weights = np.zeros((2, 60), np.float32)
        weights[0, 20:30] = 1
        layer = torch.nn.Conv1d(1, 1, 1)
        layer.weight.data.fill_(1.0)
        layer.bias.data.fill_(0.0)
        head = torch.nn.Linear(60, 2, bias=False)
        head.weight.data = torch.from_numpy(weights)
        series = np.ones((1, 1, 60), np.float32)
        model = load(torch.nn.Sequential(layer, torch.nn.Flatten(), head), example=series)
        there, elsewhere = np.zeros((2, 60))
        there[20:30], elsewhere[40:50] = 1, 1
        right = check_sanity(model, series, by_hand(there[None], [0], model))[0]
        wrong = check_sanity(model, series, by_hand(elsewhere[None], [0], model))[0]
        assert right.better_than_random
        assert not wrong.better_than_random

    def test_tokens_are_replaced_by_the_token_of_the_baseline_and_have_no_magnitude(self) -> None:
        class Bag(torch.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.embedding = torch.nn.Embedding(50, 2)
                self.embedding.weight.data.zero_()
                self.embedding.weight.data[7] = torch.tensor([2.0, 0.0])

            def forward(self, tokens: Any) -> Any:
                return self.embedding(tokens).sum(dim=1)

        tokens = np.random.default_rng(0).integers(10, 50, size=(1, 24))
        tokens[0, [3, 11, 20]] = 7
        model = load(Bag(), example=tokens)
        found = check_sanity(model, tokens, by_hand(tokens == 7, [0], model), baseline=1)[0]
        assert found.better_than_random
        assert found.magnitude is None
        assert any("no magnitude" in note for note in found.notes)
        assert "Baseline: 1." in found.notes

    def test_an_output_without_classes_is_followed_by_its_value(self) -> None:
        weights = np.zeros((1, 50))
        weights[0, :6] = np.arange(6) - 9
        model = linear(weights)
        rows = np.ones((1, 50), np.float32)
        raises, lowers = (check_sanity(model, rows, by_hand(sign * weights, None, model))[0] for sign in (1, -1))
        # All places that matter lower the value: taking them away can only raise it, and the map says to do so last.
        assert raises.deletion < lowers.deletion
        assert raises.deletion == pytest.approx(1.0, abs=0.1)

    def test_a_loss_map_is_good_where_the_loss_falls_when_what_raises_it_goes(self) -> None:
        weights = np.random.default_rng(3).normal(size=(1, 64))
        model = linear(weights)
        rows = np.random.default_rng(4).normal(size=(1, 64)).astype(np.float32)
        answer = model.predict(rows)["output"]
        labels = (answer - 5).astype(np.float32)
        raising = rows * weights * np.sign(answer - labels)
        good, bad = (
            [replace(one, loss="MeanSquaredError") for one in by_hand(sign * raising, None, model)] for sign in (1, -1)
        )
        found = check_sanity(model, rows, good, labels=labels)[0]
        assert found.better_than_random
        assert check_sanity(model, rows, bad, labels=labels)[0].deletion > max(found.random)

    def test_an_image_as_an_answer_is_followed_by_the_mean_of_its_class(self) -> None:
        torch.manual_seed(0)
        network = torch.nn.Conv2d(1, 3, 3, padding=1)
        images = np.random.default_rng(0).random((2, 1, 9, 9)).astype(np.float32)
        model = load(network, example=images)
        found = check_sanity(model, images, by_hand(images[:, 0], [1, 1], model))
        assert all(np.isfinite(one.deletion) for one in found)


class TestWhatCannotBe:
    def test_other_maps_than_samples_are_refused(self, model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
        maps = by_hand(np.ones((3, 8, 8)), read[1][:3], model)
        with pytest.raises(ConfigurationError, match="one map for each sample, but got 2 for 3"):
            check_sanity(model, read[0][:3], maps[:2])
        with pytest.raises(ConfigurationError, match=r"must have the places of input .*\(8, 8\)"):
            check_sanity(model, read[0][:3], by_hand(np.ones((3, 4, 4)), read[1][:3], model))
        with pytest.raises(ConfigurationError, match="2 kinds"):
            check_sanity(model, read[0][:3], [*maps[:2], replace(maps[2], loss="MeanSquaredError")])
        with pytest.raises(ConfigurationError, match="need `labels`, one row for each of 3, but got none"):
            check_sanity(model, read[0][:3], [replace(one, loss="MeanSquaredError") for one in maps])
        assert check_sanity(model, read[0][:0], []) == ()

    def test_a_map_that_cannot_be_made_again_costs_its_figure_only(
        self, model: Model, read: tuple[np.ndarray, np.ndarray]
    ) -> None:
        def never(_: Model) -> list[HeatMap]:
            raise AnalysisUnavailable("heat map", "not today.")

        maps = by_hand(np.random.default_rng(0).random((1, 8, 8)), read[1][:1], model)
        found = check_sanity(model, read[0][:1], maps, remake=never)[0]
        assert found.random_weights is None
        assert "The map on random weights cannot be had: No heat map: not today." in found.notes
        assert len(found.random) == RANDOM_MAPS

    def test_values_that_are_not_finite_are_said(self, model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
        broken = read[0][:1].copy()
        broken[0, 0, 3, 3] = np.nan
        found = check_sanity(model, broken, by_hand(np.ones((1, 8, 8)) * np.arange(8), read[1][:1], model))[0]
        assert not found.better_than_random
        assert "not finite" in sanity_words(found)
        unknown = np.full((1, 8, 8), np.nan)
        assert "points at nothing" in sanity_words(
            check_sanity(model, read[0][:1], by_hand(unknown, read[1][:1], model))[0]
        )

    def test_an_answer_that_is_not_finite_once_all_is_gone_leaves_nothing(self) -> None:
        class MeanOfWords(torch.nn.Module):
            """As sentences are averaged over their words: with none of them it divides 0 by 0."""

            def forward(self, words: Any) -> Any:
                mean = (words * torch.linspace(0, 1, words.shape[1])).sum(dim=1, keepdim=True) / words.sum(
                    dim=1, keepdim=True
                )
                return torch.cat([mean, 1 - mean], dim=1)

        words = np.concatenate([np.ones((1, 20)), np.zeros((1, 12))], axis=1).astype(np.float32)
        model = load(MeanOfWords(), example=np.repeat(words, 2, axis=0))
        late_words, padding = (np.where(words > 0, one, 0).astype(np.float32) for one in (np.arange(32.0), -1.0))
        found, other = (check_sanity(model, words, by_hand(one, [0], model))[0] for one in (late_words, padding))
        assert found.better_than_random
        assert np.isfinite([*found.random, *other.random]).all()
        assert not other.better_than_random

    def test_a_sample_of_few_places_is_said_to_tell_little(self) -> None:
        model = linear(np.eye(3))
        found = check_sanity(model, np.ones((1, 3), np.float32), by_hand(np.eye(3)[:1], [0], model))[0]
        assert any(note.startswith("It has 3 places, too few") for note in found.notes)


@pytest.mark.parametrize(
    ("sanity", "words"),
    [
        (Sanity(0.31, (0.52, 0.6), 0.35, 0.55), "Beats all 2 random maps (0.31 against 0.52 at best). The input's own "
         "magnitude does 0.35. The same map on random weights does 0.55."),
        (Sanity(0.31, (0.52,), 0.2, 0.305), "Beats all 1 random maps (0.31 against 0.52 at best). The input's own "
         "magnitude does 0.20, which is better. The same map on random weights does 0.30, which is as good: it may "
         "show the input rather than the model."),
        (Sanity(0.31, (0.52,), 0.315, 0.1), "Beats all 1 random maps (0.31 against 0.52 at best). The input's own "
         "magnitude does 0.32, which is as good. The same map on random weights does 0.10, which is better: it may "
         "show the input rather than the model."),
        (Sanity(0.5, (0.4, 0.5, 0.9)), "No different from random: 2 of 3 random maps do as well (0.50 against 0.60 on "
         "average)."),
        (Sanity(0.95, (0.4, 0.5, 0.9)), "Worse than all 3 random maps (0.95 against 0.90 at worst)."),
        (Sanity(float("nan"), (0.4,)), "Cannot be told from random. The model's score is not finite, so nothing can be "
         "compared."),
        (Sanity(0.5, ()), "Was not compared with random maps."),
    ],
)  # fmt: skip
def test_the_figures_in_words(sanity: Sanity, words: str) -> None:
    assert sanity_words(sanity) == words


@pytest.mark.parametrize(
    ("sanity", "verdict"),
    [
        (Sanity(0.3, (0.4, 0.9)), "better"),
        (Sanity(0.4, (0.4, 0.9)), "no different"),
        (Sanity(0.9, (0.4, 0.9)), "no different"),
        (Sanity(0.91, (0.4, 0.9)), "worse"),
        (Sanity(0.3, ()), "unknown"),
        (Sanity(float("nan"), (0.4,)), "unknown"),
    ],
)
def test_better_equal_and_worse_than_random_are_three_verdicts(sanity: Sanity, verdict: str) -> None:
    assert sanity.verdict == verdict
    assert sanity.better_than_random == (verdict == "better")


def test_a_map_turned_around_is_worse_than_random(model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = read[0][:30], read[1][:30]
    maps = heat_map(model, images, method="integrated_gradients", target=labels)
    turned = check_sanity(model, images, [replace(one, values=-one.values) for one in maps])
    assert np.mean([one.verdict == "worse" for one in turned]) > 0.5
    assert sanity_words(next(one for one in turned if one.verdict == "worse")).startswith("Worse than all 20 random")


def test_the_figure_alone_is_that_beside_random_maps(model: Model, read: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = read[0][:6], read[1][:6]
    maps = heat_map(model, images, method="integrated_gradients", target=labels)
    beside = [one.deletion for one in check_sanity(model, images, maps)]
    # Where values are equal chance decides which goes first.
    assert deletion_figures(model, images, maps) == pytest.approx(beside, abs=0.02)
    flat = by_hand(np.ones((6, 8, 8)), labels, model)
    assert np.isnan(deletion_figures(model, images, flat)).all()
