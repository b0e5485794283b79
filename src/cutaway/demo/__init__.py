"""The demo: trains small networks on scikit-learn's digits, here, and tells what was seen of them.

Prints nothing: `cutaway demo` hands in where its lines go and prints what `tell` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutaway.trial.summary import Facts

__all__ = ["tell"]


def tell(epochs: int, say: Callable[[str], None], *, seeds: int) -> Facts:
    """Train a healthy network, one with a sick layer and one on wrong labels; return what was seen of each.

    Wrong labels are planted, found and fixed once for each of so many `seeds`.
    """
    from cutaway.demo.labels import fix_labels, what_fixing_bought
    from cutaway.demo.seen import what_it_saw, what_rules_say
    from cutaway.demo.training import labelled_digits, one_thread, train, train_sick

    with one_thread():
        trained = train(epochs, say)
        sick = train_sick(say)
        planted, fixed = fix_labels(labelled_digits(), say, seeds)
        labels = what_fixing_bought(planted, fixed)
    return {
        **what_it_saw(trained),
        "watched": what_rules_say(trained.run),
        "sick": what_rules_say(sick),
        "labels": labels,
    }
