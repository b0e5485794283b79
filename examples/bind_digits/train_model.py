"""Trains two small networks on the binding's own training subset and saves them in three formats.

    python train_model.py

writes `model.pt2` and `model.onnx` (one network in PyTorch; channels first) and `model.h5` (one in Keras; channels
last). Seeds are fixed: the files that lie here came from it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

# One thread adds up in one order.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from leap_binder import digit, image, preprocess

if TYPE_CHECKING:
    from torch import nn

HERE = Path(__file__).parent
EPOCHS = 60


def arrays() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return images and one-hot digits of each subset, as the binding's encoders give them."""
    return [
        (
            np.stack([image(index, subset) for index in range(subset.length)]),
            np.stack([digit(index, subset) for index in range(subset.length)]),
        )
        for subset in preprocess()
    ]


def train_torch(subsets: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Train the PyTorch network and write `model.pt2` and `model.onnx`."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 12, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(12 * 4 * 4, 24),
        nn.ReLU(),
        nn.Linear(24, 10),
        nn.Softmax(dim=1),
    )
    (x, y), *_, (x_test, y_test) = [(torch.tensor(x).movedim(-1, 1), torch.tensor(y)) for x, y in subsets]
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = -(y[rows] * torch.log(network(x[rows]) + 1e-7)).sum(dim=1).mean()
            loss.backward()
            optimizer.step()
    network.eval()
    right = (network(x_test).argmax(dim=1) == y_test.argmax(dim=1)).float().mean()
    print(f"PyTorch: {right:.1%} of the test subset right")

    # A clone: of a slice the file would keep all that it was cut from.
    batch = torch.export.Dim("batch", min=1, max=4096)
    program = torch.export.export(named_network(network), (x[:2].clone(),), dynamic_shapes={"image": {0: batch}})
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # where on this machine the code lies is nobody's business
    torch.export.save(program, HERE / "model.pt2")
    torch.onnx.export(
        program,
        f=HERE / "model.onnx",
        input_names=["image"],
        output_names=["prediction"],
        external_data=False,
        verbose=False,
    )


def named_network(network: "nn.Module") -> "nn.Module":
    """Wrap a network so that its input is called `image`, as the binding's is."""
    from torch import Tensor, nn

    class Digits(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = network

        def forward(self, image: Tensor) -> Tensor:
            return self.layers(image)

    return Digits().eval()


def train_keras(subsets: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Train the Keras network and write `model.h5`."""
    import keras

    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [
            keras.Input((8, 8, 1), name="image"),
            keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dense(10, activation="softmax", name="prediction"),
        ]
    )
    (x, y), *_, (x_test, y_test) = subsets
    network.compile(keras.optimizers.Adam(3e-3), loss="categorical_crossentropy", metrics=["accuracy"])
    network.fit(x, y, batch_size=64, epochs=EPOCHS, verbose=0)
    print(f"Keras: {network.evaluate(x_test, y_test, verbose=0)[1]:.1%} of the test subset right")
    network.save(HERE / "model.h5")


if __name__ == "__main__":
    subsets = arrays()
    train_torch(subsets)
    train_keras(subsets)
