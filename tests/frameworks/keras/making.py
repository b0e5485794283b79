"""Small Keras models of the kinds that people bring, with weights moved away from where they began."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
from keras import layers

__all__ = ["ARCHITECTURES", "Judge", "batch_for", "cnn", "perturbed", "two_inputs"]


def seeded(make: Callable[[], Any]) -> Callable[[], Any]:
    """Let a model begin with the same weights each time: with some its softmax is so sure that gradients are noise."""

    @wraps(make)
    def made() -> Any:
        keras.utils.set_random_seed(0)
        return make()

    return made


def perturbed(model: Any, seed: int = 3) -> Any:
    """Return the model with every weight changed, so that every output and gradient depends on its sample."""
    random = np.random.default_rng(seed)
    model.set_weights(
        [
            w + 0.2 * np.abs(random.normal(size=w.shape)).astype(w.dtype) if w.dtype.kind == "f" else w
            for w in model.get_weights()
        ]
    )
    return model


def batch_for(specs: Any, rows: int = 4, seed: int = 5) -> dict[str, np.ndarray]:
    """Return different rows for each input: numbers of words for whole numbers, else between 0 and 1."""
    random = np.random.default_rng(seed)
    return {
        spec.name: (
            random.integers(1, 20, (rows, *(size or 6 for size in spec.shape[1:])))
            if "int" in spec.dtype
            else random.random((rows, *(size or 6 for size in spec.shape[1:])))
        ).astype(spec.dtype)
        for spec in specs
    }


@seeded
def mlp() -> Any:
    """Dense layers, compiled."""
    model = keras.Sequential(
        [
            keras.Input((6,), name="facts"),
            layers.Dense(9, activation="relu", name="hidden"),
            layers.Dropout(0.5, name="drop"),
            layers.Dense(3, name="logits"),
            layers.Softmax(name="classes"),
        ],
        name="mlp",
    )
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


@seeded
def cnn() -> Any:
    """Convolutions, a normalisation and pooling."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 3), name="image"),
            layers.Conv2D(4, 3, activation="relu", name="conv"),
            layers.BatchNormalization(name="norm"),
            layers.MaxPooling2D(name="pool"),
            layers.Flatten(name="flat"),
            layers.Dropout(0.5, name="drop"),
            layers.Dense(5, activation="softmax", name="classes"),
        ],
        name="cnn",
    )


@seeded
def resnet() -> Any:
    """Short cuts around convolutions with normalisations, and a depthwise convolution."""
    x = image = keras.Input((12, 12, 3), name="image")
    x = layers.Conv2D(6, 3, padding="same", use_bias=False)(x)
    for _ in range(2):
        y = layers.Conv2D(6, 3, padding="same")(layers.ReLU()(layers.BatchNormalization()(x)))
        x = layers.Add()([x, layers.DepthwiseConv2D(3, padding="same", activation="relu6")(y)])
    return keras.Model(image, layers.Dense(4)(layers.GlobalAveragePooling2D()(x)), name="resnet")


@seeded
def unet() -> Any:
    """An output for each pixel."""
    image = keras.Input((8, 8, 1), name="image")
    down = layers.Conv2D(4, 3, padding="same", activation="relu")(image)
    low = layers.Conv2D(8, 3, padding="same", activation="relu")(layers.MaxPooling2D()(down))
    up = layers.Conv2DTranspose(4, 2, strides=2)(low)
    both = layers.Concatenate()([layers.UpSampling2D()(low), up, down])
    return keras.Model(image, layers.Conv2D(3, 1, activation="softmax", name="mask")(both), name="unet")


@seeded
def lstm() -> Any:
    """Recurrent layers on numbers of words, with a mask."""
    return keras.Sequential(
        [
            keras.Input((7,), name="words"),
            layers.Embedding(20, 6, mask_zero=True, name="embedded"),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True), name="both_ways"),
            layers.GRU(5, name="gru"),
            layers.Dense(1, activation="sigmoid", name="positive"),
        ],
        name="lstm",
    )


@seeded
def transformer() -> Any:
    """An encoder block, on sequences of any length."""
    x = steps = keras.Input((None, 6), name="steps")
    y = layers.MultiHeadAttention(2, 3)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(6)(layers.Dense(8, activation="gelu")(x))]))
    return keras.Model(steps, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)), name="transformer")


@seeded
def two_inputs() -> Any:
    """Two inputs, two outputs, a model within the model, and a layer that is used twice."""
    image, facts = keras.Input((8, 8, 3), name="image"), keras.Input((4,), name="facts")
    stem = keras.Sequential(
        [keras.Input((8, 8, 3)), layers.Conv2D(3, 3, padding="same", activation="relu", name="inner")], name="stem"
    )
    pooled = layers.GlobalMaxPooling2D(name="pooled")(layers.Add(name="short_cut")([stem(image), image]))
    shared = layers.Dense(5, activation="tanh", name="shared")
    once = shared(layers.Concatenate(name="merged")([pooled, facts]))
    twice = shared(layers.Dense(7, name="widen")(once))
    features = layers.Multiply(name="features")([once, twice])
    outputs = [layers.Dense(4, activation="softmax", name="kind")(features), layers.Dense(1, name="size")(features)]
    return keras.Model([image, facts], outputs, name="two_inputs")


@keras.saving.register_keras_serializable("tests")
class Judge(keras.Model):
    """A model with a `call` of its own."""

    def __init__(self, units: int = 6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.hidden = layers.Dense(units, activation="tanh", name="hidden")
        self.drop = layers.Dropout(0.5, name="drop")
        self.head = layers.Dense(3, name="head")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Run the layers, the first of them twice."""
        once = self.hidden(inputs)
        return self.head(self.drop(self.hidden(once), training=training))

    def get_config(self) -> dict[str, Any]:
        """Say what `__init__` takes."""
        return {**super().get_config(), "units": self.units}


ARCHITECTURES: dict[str, Callable[[], Any]] = {
    "mlp": mlp,
    "cnn": cnn,
    "resnet": resnet,
    "unet": unet,
    "lstm": lstm,
    "transformer": transformer,
    "two_inputs": two_inputs,
}
