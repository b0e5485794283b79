"""Heat maps of a model whose maps can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.heat_maps.making import heat_map, layers_with_places
from cutaway.analysis.heat_maps.memory import MemoryEstimate, estimate
from cutaway.analysis.heat_maps.methods import METHODS
from cutaway.analysis.heat_maps.places import input_axes, named_arrays
from cutaway.errors import AnalysisUnavailable, ConfigurationError, LayerUnavailable
from cutaway.evaluation.progress import Progress
from cutaway.models.description import ModelDescription, TensorSpec
from cutaway.models.model import Model
from tests.unit.analysis.heat_maps.blobs import IMAGES, WEIGHTS, Weighing, weighing


class TestMapsByHand:
    def test_integrated_gradients_of_a_linear_model_are_weight_times_input(self) -> None:
        maps = heat_map(weighing(), IMAGES, method="integrated_gradients", target=0)
        wanted = WEIGHTS * IMAGES
        assert np.allclose([one.attribution for one in maps], wanted, atol=1e-5)
        assert np.allclose([one.values for one in maps], wanted.sum(-1), atol=1e-5)
        assert max(one.completeness for one in maps) < 1e-5

    def test_a_baseline_moves_them(self) -> None:
        for baseline, values in (
            ("mean", np.broadcast_to(IMAGES.mean((1, 2), keepdims=True), IMAGES.shape)),
            (0.5, np.full_like(IMAGES, 0.5)),
            (IMAGES[0], np.broadcast_to(IMAGES[0], IMAGES.shape)),
        ):
            maps = heat_map(weighing(), IMAGES, method="integrated_gradients", target=0, baseline=baseline)
            assert np.allclose([one.attribution for one in maps], WEIGHTS * (IMAGES - values), atol=1e-5)
            assert maps[0].notes[0].startswith("Baseline: ")

    def test_a_sample_that_is_its_own_baseline_has_no_completeness(self) -> None:
        maps = heat_map(weighing(), IMAGES, method="integrated_gradients", baseline=IMAGES)
        assert all(one.completeness is None for one in maps)
        assert "completeness cannot be told" in maps[0].notes[-1]

    def test_occlusion_of_single_places_is_what_they_add(self) -> None:
        maps = heat_map(weighing(), IMAGES, method="occlusion", target=0, window=1, stride=1)
        assert np.allclose([one.values for one in maps], (WEIGHTS * IMAGES).sum(-1), atol=1e-5)
        assert all(one.attribution is None for one in maps)

    def test_rise_comes_near_to_what_places_add(self) -> None:
        found = heat_map(weighing(), IMAGES, method="rise", target=0, masks=4000)[0].values
        assert np.corrcoef(found.ravel(), (WEIGHTS * IMAGES[0]).sum(-1).ravel())[0, 1] > 0.5

    def test_class_activation_maps_are_their_formulas(self) -> None:
        grad = heat_map(weighing(), IMAGES, target=1)
        weights = WEIGHTS.mean((0, 1))
        assert np.allclose([one.values for one in grad], np.maximum((2 * IMAGES * weights).sum(-1), 0), atol=1e-5)
        layer = heat_map(weighing(), IMAGES, method="layer_cam", target=1)
        positive = (np.maximum(WEIGHTS, 0) * 2 * IMAGES).sum(-1)
        assert np.allclose([one.values for one in layer], positive, atol=1e-5)
        assert grad[0].layer == layer[0].layer == "doubled"

    def test_the_predicted_class_is_explained_unless_one_is_named(self) -> None:
        maps = heat_map(weighing(), IMAGES, method="input_gradient")
        scores = Weighing(WEIGHTS).predict({"image": IMAGES})["scores"]
        assert [one.target for one in maps] == scores.argmax(1).tolist()
        assert np.allclose([one.score for one in maps], scores.max(1))
        each = heat_map(weighing(), IMAGES, method="input_gradient", target=[0, 1, 1, 0])
        assert [one.target for one in each] == [0, 1, 1, 0]

    @pytest.mark.parametrize("method", list(METHODS))
    def test_a_model_with_a_batch_size_of_its_own_gets_the_same_maps(self, method: str) -> None:
        free, fixed = (
            heat_map(weighing(batch_size=size), IMAGES, method=method, target=0, masks=30) for size in (None, 3)
        )
        assert np.allclose([one.values for one in free], [one.values for one in fixed], atol=1e-5)


class TestWrongQuestions:
    def test_unknown_names_offer_the_nearest(self) -> None:
        with pytest.raises(ConfigurationError, match=r"no heat-map method 'gradcam'\. Did you mean 'grad_cam'"):
            heat_map(weighing(), IMAGES, method="gradcam")
        with pytest.raises(LayerUnavailable, match="Did you mean 'doubled'"):
            heat_map(weighing(), IMAGES, layer="double")
        with pytest.raises(ConfigurationError, match=r"no baseline 'blurr'\. Did you mean 'blur'"):
            heat_map(weighing(), IMAGES, method="occlusion", baseline="blurr")

    @pytest.mark.parametrize("method", list(METHODS))
    def test_a_class_that_is_not_there_is_refused_by_every_method(self, method: str) -> None:
        for target in (2, -1, [0, 1, 2, 0]):
            with pytest.raises(ConfigurationError, match=r"[Cc]lasses"):
                heat_map(weighing(), IMAGES, method=method, target=target)
        with pytest.raises(ConfigurationError, match=r"one for each of the 4 samples.*once for each class"):
            heat_map(weighing(), IMAGES, method=method, target=[0, 1])

    def test_settings_that_have_no_meaning_are_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="goes by the input itself"):
            heat_map(weighing(), IMAGES, method="rise", layer="doubled")
        with pytest.raises(ConfigurationError, match="takes nothing away"):
            heat_map(weighing(), IMAGES, baseline="mean")
        with pytest.raises(ConfigurationError, match="leave `target` out"):
            heat_map(weighing(), IMAGES, target=1, loss="MeanSquaredError", labels=np.zeros((4, 2)))
        for wrong in ({"steps": 0}, {"batch_size": 0}, {"memory_mb": 0}):
            with pytest.raises(ConfigurationError, match="must hold"):
                heat_map(weighing(), IMAGES, method="integrated_gradients", **wrong)
        with pytest.raises(ConfigurationError, match="must hold"):
            heat_map(weighing(), IMAGES, method="rise", masks=1)

    def test_a_model_without_gradients_says_what_works(self) -> None:
        model = weighing(differentiable="It has no gradients.")
        for method, way in METHODS.items():
            if way.gradients:
                with pytest.raises(AnalysisUnavailable, match="need no gradients: occlusion, rise"):
                    heat_map(model, IMAGES, method=method)
            else:
                assert np.isfinite(heat_map(model, IMAGES, method=method, masks=20)[0].values).all()

    def test_a_gradient_that_fails_at_last_says_so_too(self) -> None:
        with pytest.raises(AnalysisUnavailable, match=r"no gradient by that layer.*occlusion, rise"):
            heat_map(weighing(), IMAGES, layer="flat")

    def test_inputs_without_places_are_said(self) -> None:
        class Texts(Weighing):
            def __init__(self, dtype: str, shape: tuple[int | None, ...]) -> None:
                super().__init__(WEIGHTS)
                spec = TensorSpec("image", shape, dtype)
                self.description = ModelDescription("toy", (spec,), self.description.outputs)

        with pytest.raises(AnalysisUnavailable, match="takes whole texts"):
            heat_map(Model(Texts("str", (None, 1))), np.array([["a text"]]), method="occlusion")
        with pytest.raises(AnalysisUnavailable, match="one number a sample"):
            heat_map(Model(Texts("float32", (None,))), np.ones(3, np.float32), method="occlusion")


def estimated(model: Model, images: np.ndarray, method: str, memory_mb: float | None = None) -> MemoryEstimate:
    arrays, way = named_arrays(model, images), METHODS[method]
    axes = input_axes(model, "image", arrays["image"])
    return estimate(
        model, arrays, axes, gradients=way.gradients, packs=way.baseline, batch_size=64, memory_mb=memory_mb
    )


class TestMemory:
    def test_less_memory_means_fewer_rows_at_once_and_the_same_maps(self) -> None:
        backend = Weighing(WEIGHTS)
        plenty = heat_map(Model(backend), IMAGES, method="occlusion", target=0)
        whole = estimated(Model(backend), IMAGES, "occlusion")
        assert whole.rows == 64
        assert max(backend.sizes) > 4
        backend.sizes.clear()
        bound = whole.fixed_mb + 3.5 * whole.row_mb
        assert estimated(Model(backend), IMAGES, "occlusion", bound).rows == 3
        little = heat_map(Model(backend), IMAGES, method="occlusion", target=0, memory_mb=bound)
        assert max(backend.sizes) <= 3
        assert np.allclose([one.values for one in plenty], [one.values for one in little], atol=1e-5)

    def test_what_does_not_fit_is_refused_with_the_numbers_before_anything_runs(self) -> None:
        backend = Weighing(WEIGHTS)
        with pytest.raises(AnalysisUnavailable, match=r"a batch of 1 .* MB, but 0\.0 MB are allowed.*`memory_mb`"):
            heat_map(Model(backend), IMAGES, memory_mb=1e-6)
        assert not backend.sizes

    def test_gradients_take_more_than_predictions(self) -> None:
        by_gradient, without = (
            estimated(weighing(), IMAGES, method) for method in ("integrated_gradients", "occlusion")
        )
        assert by_gradient.row_mb > without.row_mb

    def test_large_samples_are_weighed_against_what_is_free(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cutaway.analysis.heat_maps.memory.free_mb", lambda: 400.0)
        weights = np.ones((512, 512, 3), np.float32)
        found = estimated(Model(Weighing(weights)), weights[None], "occlusion")
        assert found.bound_mb == 100.0
        assert 1 <= found.rows < 64
        assert found.fixed_mb + found.rows * found.row_mb <= 100.0


class TestSeveral:
    def test_classes_and_layers(self) -> None:
        model = weighing()
        assert layers_with_places(model, IMAGES) == ("doubled",)
        first, second = (heat_map(model, IMAGES, method="integrated_gradients", target=one) for one in (1, 0))
        assert np.allclose(first[0].values, 2 * second[0].values, atol=1e-5)

    @pytest.mark.parametrize("method", list(METHODS))
    def test_progress_ends_where_it_said(self, method: str) -> None:
        told: list[Progress] = []
        heat_map(weighing(), IMAGES, method=method, masks=25, progress=told.append)
        assert told[-1].done == told[-1].total

    def test_no_samples_no_maps(self) -> None:
        assert heat_map(weighing(), IMAGES[:0]) == ()
