"""The same ten kinds of networks in Keras, with weights that make every answer vary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

__all__ = ["ARCHITECTURES", "answers", "input_gradient", "make"]

Batch = Mapping[str, np.ndarray]
Tensor = Any


def mlp() -> keras.Model:
    return keras.Sequential(
        [keras.Input((20,), name="x"), layers.Dense(32, "tanh"), layers.Dropout(0.2), layers.Dense(10, "softmax")]
    )


def cnn() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((16, 16, 3), name="x"),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(12, 3),
            layers.LeakyReLU(0.1),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


def residual(x: Tensor, width: int, stride: int = 1) -> Tensor:
    y = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
    y = layers.ReLU()(layers.BatchNormalization()(y))
    y = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(y))
    short = x if stride == 1 else layers.Conv2D(width, 1, stride)(x)
    return layers.ReLU()(layers.Add()([y, short]))


def resnet() -> keras.Model:
    x = picture = keras.Input((16, 16, 3), name="x")
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(8, 7, 2, padding="same", use_bias=False)(x)))
    x = layers.MaxPooling2D(3, 2, padding="same")(x)
    x = residual(residual(x, 8), 16, 2)
    return keras.Model(picture, layers.Dense(5)(layers.GlobalAveragePooling2D()(x)))


def inverted(x: Tensor, width: int, stride: int) -> Tensor:
    y = layers.ReLU(6.0)(layers.BatchNormalization()(layers.Conv2D(16, 1, use_bias=False)(x)))
    y = layers.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(y)
    y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
    y = layers.BatchNormalization()(layers.Conv2D(width, 1, use_bias=False)(y))
    return layers.Add()([x, y]) if stride == 1 else y


def mobilenet() -> keras.Model:
    x = picture = keras.Input((16, 16, 3), name="x")
    x = layers.Activation("hard_swish")(layers.Conv2D(8, 3, 2, padding="same")(x))
    x = inverted(inverted(x, 8, 1), 12, 2)
    return keras.Model(picture, layers.Dense(5)(layers.GlobalAveragePooling2D()(x)))


def unet() -> keras.Model:
    picture = keras.Input((16, 16, 3), name="x")
    skip = layers.Conv2D(8, 3, padding="same", activation="relu")(picture)
    bottom = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.MaxPooling2D()(skip))
    raised = layers.Conv2DTranspose(8, 2, 2)(bottom)
    raised = layers.Add()([raised, layers.UpSampling2D(interpolation="bilinear")(layers.MaxPooling2D()(skip))])
    return keras.Model(picture, layers.Conv2D(2, 1)(layers.Concatenate()([skip, raised])))


def lstm() -> keras.Model:
    sequence = keras.Input((7, 6), name="x")
    x = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(sequence)
    return keras.Model(sequence, layers.Dense(3)(layers.LSTM(8)(x)))


def attend(x: Tensor, heads: int) -> Tensor:
    width = x.shape[-1]
    x = layers.Add()([x, layers.MultiHeadAttention(heads, width // heads)(*[layers.LayerNormalization()(x)] * 2)])
    y = layers.Dense(width)(layers.Dense(2 * width, "silu")(layers.LayerNormalization()(x)))
    return layers.Add()([x, y])


def encoder() -> keras.Model:
    sequence = keras.Input((7, 6), name="x")
    x = attend(attend(layers.Dense(16)(sequence), 4), 4)
    return keras.Model(sequence, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


def vit() -> keras.Model:
    picture = keras.Input((16, 16, 3), name="x")
    x = layers.Reshape((16, 16))(layers.Conv2D(16, 4, 4)(picture))
    x = layers.LayerNormalization()(attend(x, 2))
    return keras.Model(picture, layers.Dense(5)(layers.GlobalAveragePooling1D()(x)))


def two_inputs() -> keras.Model:
    picture, numbers = keras.Input((16, 16, 3), name="picture"), keras.Input((5,), name="numbers")
    seen = layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3, 2, activation="relu")(picture))
    both = layers.Concatenate()([seen, layers.Dense(8, "tanh")(numbers)])
    return keras.Model([picture, numbers], layers.Dense(3)(both))


def two_outputs() -> keras.Model:
    picture = keras.Input((16, 16, 3), name="x")
    x = layers.ELU()(layers.BatchNormalization()(layers.Conv2D(8, 3, 2)(picture)))
    seen = layers.Flatten()(layers.AveragePooling2D(2)(x))
    outputs = [layers.Dense(4, "softmax", name="classes")(seen), layers.Dense(2, "sigmoid", name="box")(seen)]
    return keras.Model(picture, outputs)


ARCHITECTURES: dict[str, Callable[[], keras.Model]] = {
    "MLP": mlp,
    "CNN": cnn,
    "ResNet": resnet,
    "MobileNet": mobilenet,
    "U-Net": unet,
    "LSTM": lstm,
    "transformer encoder": encoder,
    "ViT": vit,
    "two inputs": two_inputs,
    "two outputs": two_outputs,
}


def make(name: str) -> tuple[keras.Model, Callable[[int], Batch]]:
    """Return a network whose weights and running statistics are all random, and a maker of batches for it."""
    keras.utils.set_random_seed(0)
    model = ARCHITECTURES[name]()
    rng = np.random.default_rng(0)
    for weight in model.weights:
        if "seed" in weight.path:
            continue
        noise = 0.3 * rng.standard_normal(weight.shape)
        weight.assign(weight.numpy() + (np.abs(noise) if "variance" in weight.path else noise).astype(np.float32))
    shapes = {tensor.name: tensor.shape[1:] for tensor in model.inputs}

    def batch(rows: int) -> Batch:
        rng = np.random.default_rng(rows)
        return {key: rng.standard_normal((rows, *shape)).astype(np.float32) for key, shape in shapes.items()}

    return model, batch


def answers(model: keras.Model, batch: Batch) -> list[np.ndarray]:
    """What Keras itself says: every output."""
    given = model(_given(batch), training=False)
    return [np.asarray(one) for one in (given if isinstance(given, (list, tuple)) else [given])]


def input_gradient(model: keras.Model, batch: Batch) -> np.ndarray:
    """What Keras itself says: the gradient of the predicted class's score by the first input."""
    tensors = [tf.constant(values) for values in batch.values()]
    with tf.GradientTape() as tape:
        tape.watch(tensors[0])
        given = model(tensors if len(tensors) > 1 else tensors[0], training=False)
        output = given[0] if isinstance(given, (list, tuple)) else given
        summed = tf.reduce_sum(output, axis=list(range(1, len(output.shape) - 1)))
        score = tf.reduce_sum(tf.gather(summed, tf.argmax(summed, 1), batch_dims=1))
    return np.asarray(tape.gradient(score, tensors[0]))


def _given(batch: Batch) -> Any:
    values = list(batch.values())
    return values if len(values) > 1 else values[0]
