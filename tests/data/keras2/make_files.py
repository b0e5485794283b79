"""Wrote the files of this folder with Keras 2 (tf_keras 2.21 on tensorflow-cpu 2.21); they are kept as it wrote them.

Run it in an environment that has `tf-keras`: `python make_files.py`. For each model `answers.npz` has a batch for each
input, what Keras 2 predicts for it, and the gradient of the first output's sum by the first input that has one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
import tf_keras as keras

HERE = Path(__file__).parent
layers = keras.layers


def mlp() -> keras.Model:
    """A Sequential model without an InputLayer of its own, compiled, with a normalisation and an `Activation`."""
    model = keras.Sequential(
        [
            layers.Dense(12, activation="relu", input_shape=(6,), kernel_regularizer="l2", name="hidden"),
            layers.BatchNormalization(name="norm"),
            layers.Dropout(0.4),
            layers.Dense(5, name="latent", kernel_initializer=keras.initializers.GlorotNormal(seed=3)),
            layers.LeakyReLU(alpha=0.2),
            layers.Dense(3, name="head"),
            layers.Activation("softmax", name="probabilities"),
        ],
        name="mlp",
    )
    model.compile(optimizer=keras.optimizers.Adam(0.003), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def cnn_batch_of_one() -> keras.Model:
    """A convolutional model that was saved with a batch size of one."""
    return keras.Sequential(
        [
            layers.Conv2D(4, 3, strides=2, activation="relu", batch_input_shape=(1, 28, 28, 1), name="conv"),
            layers.DepthwiseConv2D(3, padding="same", activation="relu6", name="depthwise"),
            layers.SeparableConv2D(4, 3, name="separable"),
            layers.Conv2DTranspose(4, 2, strides=2, name="up"),
            layers.MaxPooling2D(name="pool"),
            layers.GlobalAveragePooling2D(name="mean"),
            layers.Dense(10, activation="softmax", name="digits"),
        ],
        name="cnn_batch_of_one",
    )


def lstm() -> keras.Model:
    """Recurrent layers of every kind on word numbers."""
    return keras.Sequential(
        [
            layers.Embedding(20, 6, input_length=7, mask_zero=True, name="words"),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True), name="both_ways"),
            layers.GRU(5, return_sequences=True, recurrent_activation="hard_sigmoid", name="gru"),
            layers.LSTM(5, name="lstm"),
            layers.Dense(1, activation="sigmoid", name="positive"),
        ],
        name="lstm",
    )


def attention() -> keras.Model:
    """A layer that takes a tensor by name, normalisations, and sequences of any length."""
    steps = keras.Input((None, 6), name="steps")
    mixed = layers.MultiHeadAttention(2, 3, name="attend")(steps, value=steps)
    x = layers.LayerNormalization(name="norm")(layers.Add(name="added")([steps, mixed]))
    x = layers.SpatialDropout1D(0.2, name="drop")(layers.Conv1D(4, 2, activation="gelu", name="conv")(x))
    return keras.Model(
        steps, layers.Dense(2, name="out")(layers.GlobalAveragePooling1D(name="mean")(x)), name="attention"
    )


def two_inputs() -> keras.Model:
    """A functional model with two inputs, two outputs, a nested model, a layer used twice, and a short cut."""
    image = keras.Input((8, 8, 3), name="image")
    facts = keras.Input((4,), name="facts")
    inner_input = keras.Input((8, 8, 3))
    inner = layers.Conv2D(4, 3, padding="same", activation="relu", name="inner_conv")(inner_input)
    inner_model = keras.Model(inner_input, layers.Conv2D(3, 1, name="inner_mix")(inner), name="stem")
    mixed = layers.Add(name="short_cut")([inner_model(image), image])
    pooled = layers.GlobalMaxPooling2D(name="pooled")(mixed)
    shared = layers.Dense(6, activation="tanh", name="shared")
    twice = shared(layers.Concatenate(name="merged")([pooled, facts, layers.Dense(6, name="facts_dense")(facts)]))
    again = layers.Dense(13, name="widen")(twice)
    features = layers.Multiply(name="features")([twice, shared(again)])
    kind = layers.Dense(4, activation="softmax", name="kind")(features)
    size = layers.Dense(1, name="size")(features)
    model = keras.Model([image, facts], [kind, size], name="two_inputs")
    model.compile(
        optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss={"kind": "categorical_crossentropy", "size": "mse"}
    )
    return model


def answers(model: keras.Model, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the batch, the predictions and one gradient, under names that begin with the model's."""
    inputs = {name: tf.constant(values) for name, values in batch.items()}
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        given = list(inputs.values())
        rows = 1 if model.inputs[0].shape[0] == 1 else len(given[0])
        parts = [
            model(part if len(part) > 1 else part[0], training=False)
            for start in range(0, len(given[0]), rows)
            for part in [[one[start : start + rows] for one in given]]
        ]
        parts = [part if isinstance(part, list) else [part] for part in parts]
        outputs = [tf.concat(sides, axis=0) for sides in zip(*parts, strict=True)]
        score = tf.reduce_sum(outputs[0][:, 0])
    kept = {f"{model.name}/input/{name}": values for name, values in batch.items()}
    kept |= {f"{model.name}/output/{i}": values.numpy() for i, values in enumerate(outputs)}
    first = next(name for name, values in batch.items())
    gradient = tape.gradient(score, inputs[first]) if batch[first].dtype.kind == "f" else None
    if gradient is not None:
        kept[f"{model.name}/gradient"] = gradient.numpy()
    return kept


def main() -> None:
    """Write every file; weights are moved away from their initial values, so that each of them matters."""
    random = np.random.default_rng(7)
    batches = {
        "mlp": {"hidden_input": random.normal(size=(4, 6)).astype("float32")},
        "cnn_batch_of_one": {"conv_input": random.random((3, 28, 28, 1)).astype("float32")},
        "lstm": {"words_input": random.integers(1, 20, (4, 7)).astype("float32")},
        "attention": {"steps": random.normal(size=(4, 5, 6)).astype("float32")},
        "two_inputs": {
            "image": random.random((3, 8, 8, 3)).astype("float32"),
            "facts": random.normal(size=(3, 4)).astype("float32"),
        },
    }
    kept = {}
    for make in (mlp, cnn_batch_of_one, lstm, attention, two_inputs):
        model = make()
        model.set_weights([w + 0.1 * np.abs(random.normal(size=w.shape)) for w in model.get_weights()])
        model.save(HERE / f"{make.__name__}.h5", save_format="h5")
        kept |= answers(model, batches[make.__name__])
    np.savez_compressed(HERE / "answers.npz", **kept)


if __name__ == "__main__":
    main()
