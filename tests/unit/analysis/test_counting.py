"""How far a long piece of work is, as it is told."""

import time

import pytest

from cutaway.analysis.counting import Counter
from cutaway.evaluation.progress import Progress


def test_the_last_step_is_always_told_and_others_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    heard: list[Progress] = []
    counter = Counter(heard.append, 100, "steps", "layout")
    for _ in range(100):
        now[0] += 0.01
        counter.advance()
    assert heard[-1].done == heard[-1].total == 100
    assert 8 <= len(heard) <= 12
    assert (heard[0].stage, heard[0].unit) == ("layout", "steps")
    assert heard[4].eta is not None


def test_nobody_listening_is_fine() -> None:
    Counter(None, 2, "steps").advance(2)
