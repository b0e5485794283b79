"""Sentences that made people stop, and must not come back: in what Cutaway prints, shows and documents."""

from __future__ import annotations

import re

__all__ = ["old_sentences"]

# Each as a pattern over text in which every stretch of white space is one space.
OLD = (
    r"the training closed it",
    r"no rule has looked at it yet",
    r"The model cannot be asked\.",
    r"but not asked, since its samples",
    r"no file brings it back",
    r"Ask the training\b(?! (to|for)\b)",
    r"What was asked of the training",
    r">What was asked<",
    r"Reason, which the run keeps",
    r"if it should be said",
    r"[Ss]amples of [^.]{0,60}are not known",
    r"nearest are labelled",
    r"as 1 of them is",
    r"a linear fit without it",
    r"is against its label",
    r"more likely wrong than right",
    r"training has its share",
    r"they do not suffice",
    r"which models know by heart",
    r"Nobody has looked",
    r"(?<=\}) taken for",
    r"(?<=\d) taken for (?=[\d{])",
    r"(?<=[\d}]) answers\b(?! =)",
    r"[\">]by ratio\b",
    r"Against the loss",
    r"could be chance",
    r"\bbought (?=[-+{\u2212])",
)
_BETWEEN_STRINGS = re.compile(r"""(["'])\s*\n\s*[a-zA-Z]?\1""")


def old_sentences(text: str) -> list[str]:
    """Return the old sentences in a text, also where the source of a program breaks them into several strings."""
    plain = re.sub(r"\s+", " ", _BETWEEN_STRINGS.sub("", text))
    return [found[0] for pattern in OLD for found in re.finditer(pattern, plain)]
