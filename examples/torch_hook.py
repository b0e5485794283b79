"""A plain PyTorch training loop, and the two lines that let Cutaway see into it: they are marked.

While it runs, look into it from a second terminal: cutaway tensors torch_hook --follow
"""

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import cutaway

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
loader = DataLoader(TensorDataset(images, torch.tensor(digits.target)), batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Conv2d(1, 32, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Conv2d(32, 64, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(64 * 8 * 8, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 60

with cutaway.attach(model, optimizer, criterion) as hook:  # ours: everything inside is recorded
    print(f"Recording into {hook.out_dir}", flush=True)
    loader = hook.samples(loader)  # ours, if you want to know which samples were in each step
    for epoch in range(epochs):
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}", flush=True)
