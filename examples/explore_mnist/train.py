"""Trains a small network on MNIST with the hook attached, and evaluates it into the same run: runs/mnist."""

import time
from pathlib import Path

import torch
from leap_binder import read_mnist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import cutaway.torch as smd
from cutaway.dataset import load_entry
from cutaway.evaluation import evaluate

torch.manual_seed(0)
mnist = read_mnist()


def subset(images: str, digits: str) -> TensorDataset:
    """Return images from 0 to 1 with one channel, and the digits that they show."""
    return TensorDataset(torch.tensor(mnist[images]).unsqueeze(1) / 255, torch.tensor(mnist[digits]).long())


training, validation = subset("x_train", "y_train"), subset("x_test", "y_test")
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10),
)  # fmt: skip
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

began = time.monotonic()
with smd.Hook("runs/mnist") as hook:
    hook.register_module(model)
    hook.register_loss(criterion)
    hook.register_optimizer(optimizer)
    for _ in range(2):
        hook.set_mode(smd.modes.TRAIN)
        model.train()
        for images, digits in hook.samples(DataLoader(training, batch_size=64, shuffle=True)):
            optimizer.zero_grad()
            criterion(model(images), digits).backward()
            optimizer.step()
        hook.set_mode(smd.modes.EVAL)
        model.eval()
        with torch.no_grad():
            for images, digits in DataLoader(validation, batch_size=500):
                scores = model(images)
                criterion(scores, digits)
                hook.save_scalar("accuracy", (scores.argmax(1) == digits).float().mean().item())
print(f"trained in {time.monotonic() - began:.0f} s", flush=True)

began = time.monotonic()
dataset = load_entry(Path(__file__).parent).dataset()
evaluate(dataset, model, "runs/mnist", batch_size=500)
print(f"evaluated in {time.monotonic() - began:.0f} s", flush=True)
