"""Writes the vocabulary and trains a small network on the binding's own training subset.

    python train_model.py

writes `vocabulary.txt` and `model.onnx`. Seeds are fixed: the files that lie here came from it.
"""

import os
from collections import Counter
from pathlib import Path

# One thread adds up in one order.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from sentences import LABELS, LONGEST, Sentence, read_sentences
from torch import Tensor, nn

HERE = Path(__file__).parent
EPOCHS = 30
# A word that training has less often than this is unknown: the model could only learn it by heart.
OFTEN = 4


def write_vocabulary(sentences: list[Sentence]) -> int:
    """Write the words of the training subset by their number, and return how many tokens there are."""
    counts = Counter(word for one in sentences if one.subset == "training" for word in one.words)
    common = sorted((word for word, count in counts.items() if count >= OFTEN), key=lambda word: (-counts[word], word))
    tokens = ["<padding>", "<unknown>", *common]
    (HERE / "vocabulary.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return len(tokens)


class Sentences(nn.Module):
    """Three words at a time, and the mean over all places of a sentence."""

    def __init__(self, vocabulary: int, width: int = 16, units: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.phrases = nn.Conv1d(width, units, 3, padding=1)
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(units, len(LABELS))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return one probability for each package."""
        return torch.softmax(self.scores(tokens), dim=1)

    def scores(self, tokens: Tensor) -> Tensor:
        """Return what the probabilities are made of."""
        there = (tokens > 0).unsqueeze(1).to(torch.float32)
        phrases = torch.relu(self.phrases(self.embedding(tokens).transpose(1, 2)))
        pooled = (phrases * there).sum(dim=2) / there.sum(dim=2)
        return self.head(self.dropout(pooled))


def train(network: Sentences, tokens: Tensor, labels: Tensor) -> None:
    """Train; one word in ten is made unknown each time, so that the network learns what an unknown word means."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.02)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(tokens)).split(64):
            batch = tokens[rows]
            hidden = (torch.rand(batch.shape) < 0.1) & (batch > 0)
            optimizer.zero_grad()
            scores = network.scores(batch.masked_fill(hidden, 1))
            nn.functional.cross_entropy(scores, labels[rows], label_smoothing=0.05).backward()
            optimizer.step()


def main() -> None:
    """Write both files and print how good the network is."""
    vocabulary = write_vocabulary(read_sentences())
    from leap_binder import package, preprocess, tokens

    arrays = {
        subset.state.name: (
            torch.tensor(np.stack([tokens(one, subset) for one in subset.sample_ids])),
            torch.tensor(np.stack([package(one, subset) for one in subset.sample_ids])).argmax(dim=1),
        )
        for subset in preprocess()
    }
    torch.manual_seed(0)
    network = Sentences(vocabulary)
    train(network, *arrays["training"])
    network.eval()
    for name, (x, y) in arrays.items():
        print(f"{name}: {(network(x).argmax(dim=1) == y).float().mean():.1%} of {len(y):,} right")
    save(network)


def save(network: Sentences) -> None:
    """Write `model.onnx`, for batches of any size."""
    batch = torch.export.Dim("batch", min=1, max=4096)
    example = torch.ones(2, LONGEST, dtype=torch.int64)
    program = torch.export.export(network, (example,), dynamic_shapes={"tokens": {0: batch}})
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # where on this machine the code lies is nobody's business
    torch.onnx.export(
        program,
        f=HERE / "model.onnx",
        input_names=["tokens"],
        output_names=["prediction"],
        external_data=False,
        verbose=False,
    )


if __name__ == "__main__":
    main()
