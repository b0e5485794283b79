"""`python -m benchmarks.population.gpu`: the map of a million samples on a GPU.

Apart from the rest, since machines with a GPU often have nothing else: it needs torch, numpy, pyarrow and Cutaway's
source on the path. Prints seconds, with and without imports, and trustworthiness; ends with 1 if a bar was missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch

from benchmarks.population.judging import trustworthiness

ROWS, WIDTH, CLASSES = 1_000_000, 128, 10
# The factors by which samples of a class differ, and how wide the layer behind them is.
FACTORS, HIDDEN = 8, 64
SECONDS = 30.0


def main(arguments: list[str] | None = None) -> int:
    """Make latent vectors, map them, print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.population.gpu", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many samples (default: a million)")
    parser.add_argument("--repeats", type=int, default=3, help="how many maps; the first has the start of the device")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    latents = latents_like_a_classifiers(options.rows, device=device)
    begin = time.perf_counter()
    from cutaway.analysis.mapping import make_map

    importing = time.perf_counter() - begin
    seconds, positions = [], []
    for _ in range(options.repeats):
        begin = time.perf_counter()
        positions.append(make_map(latents, device=device).positions)
        seconds.append(time.perf_counter() - begin)
    trust = trustworthiness(latents, positions[:1], device=device)[0]
    found = {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "rows": options.rows,
        "width": WIDTH,
        "importing": importing,
        "seconds": seconds,
        "trustworthiness": trust,
        "equal": all(np.array_equal(positions[0], one) for one in positions[1:]),
        "peak_gpu_gb": torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else None,
    }
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0 if max(seconds) <= SECONDS else 1


def latents_like_a_classifiers(rows: int, *, device: str, seed: int = 0) -> np.ndarray:
    """Vectors as a classifier's last hidden layer has them: ten classes, each a bent sheet of a few factors, rectified.

    Neither a cloud without neighbourhoods nor ten balls: most units are silent, and samples between two classes exist.
    """
    random = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, device=device)

    labels = torch.randint(CLASSES, (rows,), generator=random, device=device)
    factors = normal(rows, FACTORS)
    bends = normal(CLASSES, FACTORS, HIDDEN) / FACTORS**0.5
    centres, out = normal(CLASSES, HIDDEN), normal(HIDDEN, WIDTH) / HIDDEN**0.5
    hidden = torch.empty(rows, HIDDEN, device=device)
    for one in range(CLASSES):
        mine = labels == one
        hidden[mine] = (factors[mine] @ bends[one] + 2 * centres[one]).relu()
    latents = (hidden @ out + 0.05 * normal(rows, WIDTH)).relu()
    return np.asarray(latents.cpu().numpy())


if __name__ == "__main__":
    sys.exit(main())
