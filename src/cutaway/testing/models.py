"""What every `Backend` must do, as tests: subclass `BackendContract`, override the fixtures `backend` and `batch`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, GradientUnavailable, LayerUnavailable
from cutaway.models.backend import Arrays, Backend, Question
from cutaway.models.model import Model

__all__ = ["BackendContract"]

# float32 networks: what one batch size and another may differ by, beside the largest value.
CLOSE = 1e-5


def relative_error(got: Array, wanted: Array) -> float:
    """Return max|got - wanted| / max|wanted|."""
    return float(np.abs(np.asarray(got, np.float64) - wanted).max() / max(float(np.abs(wanted).max()), 1e-30))


def _randomised(backend: Backend, seed: int) -> Backend:
    make = getattr(backend, "with_random_weights", None)
    if make is None:
        pytest.skip("its weights cannot be drawn anew")
    try:
        other: Backend = make(seed)
    except AnalysisUnavailable as error:
        pytest.skip(str(error))
    return other


class BackendContract:
    """Subclass in a test module; `backend` gives the backend, `batch` at least three rows for each of its inputs."""

    @pytest.fixture
    def backend(self) -> Backend:
        """The backend under test."""
        raise NotImplementedError

    @pytest.fixture
    def batch(self) -> Arrays:
        """At least three different rows for each input."""
        raise NotImplementedError

    @pytest.fixture
    def randomised(self, backend: Backend) -> Iterator[Backend]:
        """The backend with weights drawn anew; what is tested with it is left out where there can be none."""
        other = _randomised(backend, 0)
        yield other
        other.close()

    def test_it_describes_itself_the_same_way_each_time(self, backend: Backend, batch: Arrays) -> None:
        """The description names the inputs that the batch has, outputs, and layers without a name twice."""
        description = backend.description
        assert [spec.name for spec in description.inputs] == list(batch)
        assert description.outputs
        names = [layer.name for layer in description.layers]
        assert len(set(names)) == len(names)
        assert backend.description == description

    def test_every_output_has_a_row_for_each_sample_and_the_declared_shape(
        self, backend: Backend, batch: Arrays
    ) -> None:
        """Shapes and dtypes are as the description says, wherever it says something."""
        answer = backend.predict(batch)
        rows = len(next(iter(batch.values())))
        assert list(answer) == [spec.name for spec in backend.description.outputs]
        for spec in backend.description.outputs:
            values = answer[spec.name]
            assert len(values) == rows
            assert values.dtype == spec.dtype
            assert all(a in (None, b) for a, b in zip(spec.shape, values.shape, strict=True))

    def test_samples_do_not_depend_on_their_batch(self, backend: Backend, batch: Arrays) -> None:
        """Each row alone gives what it gives among the others, unless the batch size is fixed."""
        if any(spec.batch_size is not None for spec in backend.description.inputs):
            pytest.skip("the model takes one batch size only")
        whole = backend.predict(batch)
        for i in range(3):
            alone = backend.predict({name: values[i : i + 1] for name, values in batch.items()})
            for name, values in alone.items():
                assert relative_error(values[0], whole[name][i]) <= CLOSE

    def test_the_same_batch_gives_the_same_answer_and_answers_stay(self, backend: Backend, batch: Arrays) -> None:
        """A later call neither differs nor overwrites what an earlier one returned."""
        first = backend.predict(batch)
        kept = {name: values.copy() for name, values in first.items()}
        backend.predict({name: values[::-1].copy() for name, values in batch.items()})
        again = backend.predict(batch)
        for name, values in kept.items():
            assert np.array_equal(first[name], values)
            assert np.array_equal(again[name], values)

    def test_every_listed_layer_has_values_for_each_sample(self, backend: Backend, batch: Arrays) -> None:
        """What the description lists can be asked for, all at once."""
        names = [layer.name for layer in backend.description.layers]
        values = backend.activations(batch, names)
        assert set(values) == set(names)
        rows = len(next(iter(batch.values())))
        for layer in backend.description.layers:
            assert len(values[layer.name]) == rows
            if layer.shape is not None:
                assert all(a in (None, b) for a, b in zip(layer.shape, values[layer.name].shape, strict=True))

    def test_outputs_and_layers_at_once_are_what_they_are_each_alone(self, backend: Backend, batch: Arrays) -> None:
        """Where a backend has `predict_with`, it gives what `predict` and `activations` give."""
        model = Model(backend)
        names = [layer.name for layer in model.layers]
        outputs, layers = model.predict_with(dict(batch), names)
        assert list(outputs) == [spec.name for spec in model.outputs]
        assert set(layers) == set(names)
        for name, values in backend.predict(batch).items():
            assert relative_error(outputs[name], values) <= CLOSE
        for name, values in backend.activations(batch, names).items():
            assert layers[name].shape == values.shape

    def test_a_layer_that_is_not_there_is_named(self, backend: Backend, batch: Arrays) -> None:
        """`LayerUnavailable` has the name that was asked for."""
        with pytest.raises(LayerUnavailable) as caught:
            backend.activations(batch, ["there is no such layer"])
        assert caught.value.layer == "there is no such layer"

    def test_the_latent_vector_is_a_row_for_each_sample(self, backend: Backend, batch: Arrays) -> None:
        """`Model` finds a latent layer, and no sample's vector equals another's."""
        latent = Model(backend).latent(dict(batch))
        assert latent.dtype == np.float32
        assert latent.ndim == 2
        assert len(np.unique(latent, axis=0)) == len(latent)

    def test_the_gradient_by_an_input_is_what_small_changes_show(self, backend: Backend, batch: Arrays) -> None:
        """The score changes along the gradient as much as its length says; float32 leaves few digits for that."""
        name = next((n for n, values in batch.items() if values.dtype.kind == "f"), None)
        if name is None or backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        output = backend.description.outputs[0].name
        target = np.zeros(len(batch[name]), np.int64)
        question = Question(output, name, target=target)
        gradient, activation = backend.gradient(batch, question)
        assert gradient.shape == batch[name].shape
        assert np.array_equal(activation, batch[name])
        slope = np.sqrt((gradient.astype(np.float64) ** 2).sum())
        assert slope > 0
        step = (gradient / slope).astype(np.float64)
        distance = 1e-3 * max(1.0, float(np.abs(batch[name]).max()))
        up, down = (
            self._score(backend, {**batch, name: (batch[name] + sign * distance * step).astype(batch[name].dtype)})
            for sign in (1, -1)
        )
        assert (up - down) / (2 * distance) == pytest.approx(slope, rel=0.05)

    def test_the_gradient_by_a_layer_has_the_shape_of_its_values(self, backend: Backend, batch: Arrays) -> None:
        """By the latent layer: the gradient, and the very values that `activations` gives."""
        if backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        layer = Model(backend).latent_layer
        gradient, activation = backend.gradient(batch, Question(backend.description.outputs[0].name, layer))
        assert gradient.shape == activation.shape
        assert np.abs(gradient).max() > 0
        assert relative_error(activation, backend.activations(batch, [layer])[layer]) <= CLOSE

    def test_a_gradient_and_its_output_at_once_are_what_they_are_each_alone(
        self, backend: Backend, batch: Arrays
    ) -> None:
        """Where a backend has `gradient_with_output`, it gives what `gradient` and `predict` give."""
        if backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        model = Model(backend)
        layer, output = model.latent_layer, model.outputs[0].name
        gradient, values = model.gradient_with_output(dict(batch), wrt=layer)
        alone = model.gradient(dict(batch), wrt=layer)
        assert relative_error(values, model.predict(dict(batch))[output]) <= CLOSE
        assert relative_error(gradient.gradient, alone.gradient) <= CLOSE
        assert relative_error(gradient.activation, alone.activation) <= CLOSE

    def test_a_gradient_leaves_nothing_behind(self, backend: Backend, batch: Arrays) -> None:
        """Asking twice gives the same, and predictions stay as they were."""
        name = next((n for n, values in batch.items() if values.dtype.kind == "f"), None)
        if name is None or backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        before = backend.predict(batch)
        question = Question(backend.description.outputs[0].name, name)
        first, second = backend.gradient(batch, question), backend.gradient(batch, question)
        assert np.array_equal(first.gradient, second.gradient)
        for output, values in backend.predict(batch).items():
            assert np.array_equal(values, before[output])

    def test_the_gradient_of_a_loss_differs_from_that_of_a_score(self, backend: Backend, batch: Arrays) -> None:
        """Squared errors against what the model says already have no gradient; against something else they have."""
        name = next((n for n, values in batch.items() if values.dtype.kind == "f"), None)
        if name is None or backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        output = backend.description.outputs[0].name
        answer = backend.predict(batch)[output]
        # Another distance for each class: probabilities that are all wrong by the same have no gradient either.
        wrong = answer + np.linspace(1, 2, answer.size, dtype=answer.dtype).reshape(answer.shape)
        asked = Question(output, name, loss="MeanSquaredError", labels=wrong)
        away = backend.gradient(batch, asked).gradient
        there = backend.gradient(batch, replace(asked, labels=answer)).gradient
        assert np.abs(away).max() > 100 * np.abs(there).max()

    def test_what_cannot_be_differentiated_says_so(self, backend: Backend, batch: Arrays) -> None:
        """Where the description says that there are no gradients, asking for one raises that."""
        if not backend.description.differentiable:
            return
        with pytest.raises(GradientUnavailable):
            Model(backend).gradient(dict(batch))

    def test_random_weights_give_other_answers_of_the_same_shape(
        self, backend: Backend, randomised: Backend, batch: Arrays
    ) -> None:
        """The architecture and what is said of it stay; what the model says of the samples does not."""
        assert randomised.description == backend.description
        learned, random = backend.predict(batch), randomised.predict(batch)
        assert {name: values.shape for name, values in random.items()} == {
            name: values.shape for name, values in learned.items()
        }
        assert any(relative_error(random[name], learned[name]) > CLOSE for name in learned)
        assert all(np.isfinite(values).all() for values in random.values())
        layer = Model(backend).latent_layer
        assert randomised.activations(batch, [layer])[layer].shape == backend.activations(batch, [layer])[layer].shape

    def test_random_weights_leave_the_model_as_it_was(self, backend: Backend, batch: Arrays) -> None:
        """Bit for bit, before and after the other is asked, and after it is closed."""
        before = backend.predict(batch)
        other = _randomised(backend, 1)
        for ask in (lambda: None, lambda: other.predict(batch), other.close):
            ask()
            assert all(np.array_equal(values, before[name]) for name, values in backend.predict(batch).items())

    def test_random_weights_repeat_with_their_seed_and_differ_with_another(
        self, backend: Backend, batch: Arrays
    ) -> None:
        """Two made with one seed are one model, in outputs; another seed makes another."""
        first, again, other = (_randomised(backend, seed).predict(batch) for seed in (3, 3, 4))
        assert all(np.array_equal(values, again[name]) for name, values in first.items())
        assert any(not np.array_equal(values, other[name]) for name, values in first.items())

    def test_gradients_know_of_the_random_weights(self, backend: Backend, randomised: Backend, batch: Arrays) -> None:
        """By an input: they differ from the model's own, and hold the value that went in."""
        name = next((n for n, values in batch.items() if values.dtype.kind == "f"), None)
        if name is None or backend.description.differentiable:
            pytest.skip("nothing to differentiate by")
        question = Question(backend.description.outputs[0].name, name, target=np.zeros(len(batch[name]), np.int64))
        learned, random = backend.gradient(batch, question), randomised.gradient(batch, question)
        assert np.array_equal(random.activation, batch[name])
        assert random.gradient.shape == learned.gradient.shape
        assert relative_error(random.gradient, learned.gradient) > CLOSE
        assert np.array_equal(backend.gradient(batch, question).gradient, learned.gradient)

    def test_closing_twice_is_allowed(self, backend: Backend) -> None:
        """Whoever closes need not know whether somebody did."""
        backend.close()
        backend.close()

    def _score(self, backend: Backend, batch: Arrays) -> float:
        spec = backend.description.outputs[0]
        values = backend.predict(batch)[spec.name].astype(np.float64)
        if spec.channel_axis is None or values.ndim == 1 or values.shape[spec.channel_axis] == 1:
            return float(values.sum())
        return float(np.take(values, 0, axis=spec.channel_axis).sum())
