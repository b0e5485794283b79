"""cleanlab's normalized margin, and what it would prune: `python -m benchmarks.labels.margins JOB RESULT`.

It runs in an environment of its own. JOB names a file with probabilities out of fold, labels, and which of these are
wrong.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np


def main(arguments: list[str]) -> None:
    """Score and write the answer."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.metrics import average_precision_score

    job = json.loads(arguments[0])
    with np.load(job["folds"]) as file:
        chances, labels, wrong = (file[name] for name in ("chances", "labels", "wrong"))
    quality = get_label_quality_scores(labels, chances, method="normalized_margin")
    issues = find_label_issues(labels, chances)
    answer = {
        "precision": float(average_precision_score(wrong, -quality)) if wrong.any() else None,
        "issues": np.flatnonzero(issues).tolist(),
        "version": version("cleanlab"),
    }
    Path(arguments[1]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
