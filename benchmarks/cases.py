"""What is measured and the bars it is held to, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmarks.figures import Bar, Side


class Mode(StrEnum):
    """What a tool is asked to keep."""

    STATISTICS = "statistics"  # a few numbers (or a histogram) of every weight, bias and gradient
    TENSORS = "tensors"  # the values of every weight, bias and gradient
    BOTH = "both"
    IDLE = "idle"  # attached, and nothing is ever due


OURS = "cutaway"
# Weights, biases and gradients of each model in float32.
CNN_BYTES = 2 * 4 * 206_922
MLP_BYTES = 2 * 4 * 535_818
# Who else can be asked for the same, best-known peer first.
PEERS = {
    Mode.STATISTICS: ("smdebug", "tensorboard"),
    Mode.TENSORS: ("smdebug", "safetensors"),
    Mode.BOTH: (),
    Mode.IDLE: ("smdebug",),
}


@dataclass(frozen=True)
class Case:
    """One row of the overhead table.

    A triple is a bare, a second bare and a captured stretch in shuffled order. A stretch is a short pause, `lead`
    steps that are not timed, then `steps` that are. The pause lets a background writer finish, so that its work is
    not charged to a bare step; the untimed captured step gives it work again, so that a timed captured step is
    slowed by its writer as it would be in real training.
    """

    key: str
    title: str
    model: str
    mode: Mode
    bar: Bar | None = None
    every: int = 1
    threads: int = 1
    lead: int = 1
    steps: int = 1
    pause: float = 0.005
    triples: int = 500
    # Bytes that one step writes; so much memory is made ready before each stretch and block (`machine.touch_pages`).
    step_bytes: int = 0
    # Steps in one uninterrupted block of the sustained measurement.
    block: int = 100
    with_peers: bool = False


def _cases(
    model: str, title: str, *, statistics: float, tensors: float, step_bytes: int, block: int
) -> tuple[Case, ...]:
    return (
        Case(
            f"{model}-statistics",
            f"{title}: statistics every step",
            model,
            Mode.STATISTICS,
            Bar(statistics),
            block=block,
            with_peers=True,
        ),
        # Ten steps to a stretch: one of them is due, and the median of single steps would never see it.
        Case(
            f"{model}-statistics-10",
            f"{title}: statistics every 10th step",
            model,
            Mode.STATISTICS,
            Bar(1.03),
            every=10,
            lead=0,
            steps=10,
            triples=120,
            block=block,
        ),
        Case(
            f"{model}-tensors",
            f"{title}: full tensors every step",
            model,
            Mode.TENSORS,
            Bar(tensors),
            step_bytes=step_bytes,
            block=block,
            with_peers=True,
        ),
        Case(
            f"{model}-idle",
            f"{title}: attached, nothing due",
            model,
            Mode.IDLE,
            Bar(1.01),
            lead=0,
            pause=0.0,
            block=block,
            with_peers=True,
        ),
        Case(
            f"{model}-statistics-threads2",
            f"{title}: statistics every step, torch threads = 2",
            model,
            Mode.STATISTICS,
            threads=2,
            triples=200,
            block=block,
        ),
    )


CASES: tuple[Case, ...] = (
    *_cases("cnn", "CNN", statistics=1.08, tensors=1.06, step_bytes=CNN_BYTES, block=60),
    *_cases("mlp", "MLP", statistics=1.25, tensors=1.5, step_bytes=MLP_BYTES, block=200),
    Case(
        "mlp-both",
        "MLP: full tensors and statistics every step",
        "mlp",
        Mode.BOTH,
        triples=200,
        step_bytes=MLP_BYTES,
        block=200,
    ),
)

BARS = {
    "write-plain": Bar(0.45, Side.AT_LEAST),
    "write-smdebug": Bar(2.0, Side.AT_LEAST),
    "series-smdebug": Bar(10.0, Side.AT_LEAST),
    "series-safetensors": Bar(10.0, Side.AT_LEAST),
    "scalar": Bar(100.0),
}


def case(key: str) -> Case:
    """The case with this key."""
    return next(one for one in CASES if one.key == key)
