"""NLPSequenceRatio: sequences that consist of one token, such as padding, for the most part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.arguments import Pattern, Words, number, whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.rules.selecting import in_collection, lacking, saved_places, value_at
from cutaway.tensors.reader import TensorReader

__all__ = ["NLPSequenceRatio"]

# Samples and the tokens of each, perhaps by sentence.
_AXES = (2, 3)
_PADDING = 0


@dataclass(eq=False, repr=False, kw_only=True)
class NLPSequenceRatio(Rule):
    """The token sequences that the model is fed are one token, most often padding, for the most part.

    What it sees:
        The share of a token in an input at a step is above the threshold of this token. Only inputs of whole numbers
        (of more than 8 bits) with two or three axes are token sequences; a step that was saved in full tells.

    Why it matters:
        Padding costs as much time and memory as words and teaches nothing. A batch with one long and many short
        sequences is mostly padding; and where the padding is not masked it becomes what the model learns.

    What to try:
        Put sequences of similar length into one batch (bucketing), cut very long ones, or pack several short ones
        into one row. For the token of unknown words: a larger vocabulary, or subword units.

    Needs:
        The collection `inputs`, saved in full at some steps (`include_collections=["inputs"]`). The token 0 is then
        counted at every step by its statistics, other tokens at the steps that were saved in full.

    Parameters:
        tensor_regex: finds the tensors to look at; by default the collection `inputs`.
        token_values: the tokens to count, with commas between them.
        token_thresholds_percent: for each token the share, in percent, above which the rule fires.
    """

    tensor_regex: Pattern = Pattern()
    token_values: Words = Words("0")
    token_thresholds_percent: Words = Words("50")

    def __post_init__(self) -> None:
        super().__post_init__()
        tokens = [_token(one) for one in self.token_values]
        limits = [number(one, "token_thresholds_percent", least=0, most=100) for one in self.token_thresholds_percent]
        if len(tokens) != len(limits) or not tokens:
            raise ConfigurationError(
                "`token_thresholds_percent` must have one number for each of `token_values`, but got "
                f"token_values={','.join(self.token_values)!r}, "
                f"token_thresholds_percent={','.join(self.token_thresholds_percent)!r}."
            )
        self._limits = dict(zip(tokens, limits, strict=True))

    def reset(self) -> None:
        """Forget since when each tensor is known to hold tokens."""
        self._since: dict[str, int] = {}

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the share of every token with its threshold."""
        regex = self.tensor_regex
        names = in_collection(reader, "inputs") if regex is None else list(reader.tensor_names(regex=regex))
        steps = reader.step_window(start, stop)["step"]
        saved: list[int] = steps[saved_places(reader, steps)].tolist()
        since = {name: found for name in names if (found := self._first_tokens(reader, name, saved)) is not None}
        if not since and not self._since:
            raise self._refusal(reader, names, saved)
        self._since.update(since)
        for name, first in since.items():
            shares = self._shares(reader, name, saved)
            if _PADDING in self._limits:
                for block in reader.statistics_blocks([name], max(start, first), stop):
                    for step, share in zip(block.steps.tolist(), block.zero_share[0].tolist(), strict=True):
                        shares.setdefault(step, {})[_PADDING] = share
            if shares:
                yield self._judgement(name, sorted(shares), [shares[step] for step in sorted(shares)])

    def _refusal(
        self, reader: TensorReader, names: list[str], saved: list[int]
    ) -> InsufficientInformationForRuleInvocation:
        if any(value_at(reader, name, step) is not None for name in names for step in saved):
            return InsufficientInformationForRuleInvocation(
                f"needs inputs that are token sequences; {', '.join(names)} held none so far.",
                hint="Choose others with `tensor_regex`.",
            )
        return lacking(reader, [] if self.tensor_regex else ["inputs"], self.tensor_regex, full=True)

    def _first_tokens(self, reader: TensorReader, name: str, saved: list[int]) -> int | None:
        """Return the step from which on a tensor is known to hold tokens."""
        if name in self._since:
            return self._since[name]
        for step in saved:
            value = value_at(reader, name, step)
            if value is not None:
                return step if _are_tokens(value) else None
        return None

    def _shares(self, reader: TensorReader, name: str, saved: list[int]) -> dict[int, dict[int, float]]:
        """Return the shares of the tokens that only values tell of, by step."""
        found: dict[int, dict[int, float]] = {}
        wanted = [token for token in self._limits if token != _PADDING]
        for step in saved if wanted else ():
            value = value_at(reader, name, step)
            if value is not None and value.size:
                found[step] = {token: float((value == token).mean()) for token in wanted}
        return found

    def _worst(self, shares: dict[int, float]) -> int:
        """Return the token that exceeds its threshold most."""
        return max(shares, key=lambda token: 100 * shares[token] - self._limits[token])

    def _judgement(self, name: str, steps: list[int], shares: list[dict[int, float]]) -> Judgement:
        worst = [self._worst(share) for share in shares]
        percent = np.array([100 * share[token] for share, token in zip(shares, worst, strict=True)])
        limits = np.array([self._limits[token] for token in worst])

        def message(i: int) -> str:
            return f"{percent[i]:.3g}% of {name} at step {steps[i]} is token {worst[i]}, more than {limits[i]:g}%."

        def evidence(i: int) -> dict[str, float]:
            return {"token": worst[i], "threshold": float(limits[i])}

        return Judgement.of_one(name, steps, percent > limits, percent, float(limits[0]), message, evidence)


def _are_tokens(value: Array) -> bool:
    """Whether these can be the numbers of words: images may be whole numbers too, but small ones, or with more axes."""
    return value.dtype.kind in "iu" and value.dtype.itemsize > 1 and value.ndim in _AXES


def _token(text: str) -> int:
    return whole(text, "token_values", least=-(2**63))
