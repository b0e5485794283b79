"""Trains a small network on digits of which every tenth training label is wrong, and evaluates it into the same run.

`cutaway fix` runs this again with corrections. Three lines make that work: the one that asks for corrected labels, the
one that asks how much each sample counts, 0 where it is too doubtful to learn from, and the one that takes the seed
from the environment.
"""

import os

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import cutaway.torch as smd
from cutaway.dataset import Dataset, corrected, sample_weights
from cutaway.evaluation import evaluate

torch.manual_seed(int(os.environ.get("CUTAWAY_SEED", "0")))
digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
images = torch.tensor(digits.images[order, None] / 16, dtype=torch.float32)
truth = torch.tensor(digits.target[order])
training, validation = slice(0, 1000), slice(1000, None)

# What a careless labeller leaves behind: every tenth label is that of another digit.
labels = truth[training].clone()
chance = np.random.default_rng(1)
wrong = torch.tensor(chance.choice(len(labels), len(labels) // 10, replace=False))
labels[wrong] = (labels[wrong] + torch.tensor(chance.integers(1, 10, len(wrong)))) % 10

labels = corrected(labels, subset="training", ids=None)
weights = torch.from_numpy(sample_weights(len(labels)))

model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
criterion = nn.CrossEntropyLoss(reduction="none")
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
with smd.Hook(name="digits") as hook:
    hook.register_module(model)
    hook.register_loss(criterion)
    hook.register_optimizer(optimizer)
    loader = hook.samples(DataLoader(TensorDataset(images[training], labels, weights), batch_size=32, shuffle=True))
    hook.set_mode(smd.modes.TRAIN)
    for _ in range(20):
        for batch, answers, weight in loader:
            optimizer.zero_grad()
            (weight * criterion(model(batch), answers)).mean().backward()
            optimizer.step()

model.eval()
dataset = Dataset.join(
    Dataset.from_arrays(images[training].numpy(), labels.numpy(), channel_dim=1),
    Dataset.from_arrays(images[validation].numpy(), truth[validation].numpy(), subset="validation", channel_dim=1),
)
evaluate(dataset, model, hook)
print(f"{int((labels != truth[training]).sum())} wrong training labels; run {hook.out_dir}")
