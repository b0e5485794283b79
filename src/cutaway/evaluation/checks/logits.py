"""A model that ends in a softmax, and a loss that takes logits: it learns slowly, and its loss is not what it says.

What a loss says is read in its source, where `from_logits=True` stands; it is not called for that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cutaway.arrays import Array
from cutaway.dataset.calling import defined_at, own_name
from cutaway.dataset.functions import Function
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.evaluation.defaults import are_probabilities, loss_of_training
from cutaway.models import SavedTraining

__all__ = ["judge_loss_of_logits", "judge_training_of_logits"]

FROM_LOGITS = "from_logits"
WHY = "Each row lies within 0 to 1 and sums to 1, so a softmax is there already"


def judge_loss_of_logits(
    sheet: Sheet, row: tuple[str, str], function: Function, given: Mapping[str, Sequence[Array]]
) -> None:
    """Tell of a loss that takes logits and is given probabilities; `given` has the batches of each prediction."""
    line = _line_of_logits(function)
    softmax = next((name for name, batches in given.items() if _are_all_probabilities(batches)), None)
    if line is None or softmax is None:
        return
    sheet.find(
        "function-logits",
        "warning",
        f"Loss {row[1]!r} takes logits, but {softmax!r} holds probabilities. {WHY}",
        f"Set `from_logits=False`{f' in {line}' if line else ''}, or end the model without its softmax.",
        row=row,
        place=line or function.place,
    )


def judge_training_of_logits(
    sheet: Sheet, row: tuple[str, str], training: SavedTraining, answers: Sequence[Array]
) -> None:
    """Tell of a model that was trained with a loss of logits, and answers with probabilities."""
    name = loss_of_training(training) or ""
    if not name.startswith("Categorical") or not name.endswith("FromLogits") or not _are_all_probabilities(answers):
        return
    sheet.find(
        "model-logits",
        "warning",
        f"The model was trained with a loss that takes logits, but output {row[1]!r} holds probabilities. {WHY}",
        "Compile it with `from_logits=False`, or end it without its softmax, and train it again.",
        row=row,
    )


def _are_all_probabilities(batches: Sequence[Array]) -> bool:
    return bool(batches) and all(
        values.ndim == 2 and values.shape[1] > 1 and are_probabilities(values) for values in batches
    )


def _line_of_logits(function: Function) -> str | None:
    """Return the file and line where a loss says that it takes logits, empty where no line does; None if it does not.

    The loss may be made in its own body, or in a line of its file that it uses by name.
    """
    if own_name(function.function).endswith(FROM_LOGITS) or getattr(function.function, FROM_LOGITS, False) is True:
        return ""
    path, _, first = (defined_at(function.function) or function.place).rpartition(":")
    try:
        module = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    body = next((node for node in ast.walk(module) if first.isdigit() and _begins_at(node, int(first))), None)
    if body is None:
        return None
    used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    made = [one for one in module.body if isinstance(one, ast.Assign) and used & set(_names(one.targets))]
    found = next((line for node in (body, *made) for line in _lines_in(node)), None)
    return None if found is None else f"{path}:{found}"


def _begins_at(node: ast.AST, line: int) -> bool:
    """Whether a function begins in a line; one that is decorated begins with its first decorator."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return line in (node.lineno, *(one.lineno for one in node.decorator_list[:1]))
    return isinstance(node, ast.Lambda) and node.lineno == line


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _lines_in(node: ast.AST) -> list[int]:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    given = [keyword for call in calls for keyword in call.keywords if keyword.arg == FROM_LOGITS]
    return [one.value.lineno for one in given if isinstance(one.value, ast.Constant) and one.value.value is True]
