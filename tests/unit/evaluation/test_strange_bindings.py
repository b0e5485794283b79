"""What a run of somebody else names as its binding: only a Python file is opened, and no other file is quoted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cutaway.errors import BindingError
from cutaway.evaluation.reopening import reopen_dataset
from tests.unit.studio.a_population import changed_source, evaluation_of, make

SECRET = "password: hunter2 swordfish"


@pytest.mark.parametrize("entry", ["{folder}/secrets.yaml", "{folder}/secrets", "{folder}", 12, ["a.py"], True])
def test_what_is_no_python_file_is_not_opened(tmp_path: Path, entry: Any) -> None:
    for name in ("secrets", "secrets.yaml"):
        (tmp_path / name).write_text(SECRET)
    named = entry.format(folder=tmp_path) if isinstance(entry, str) else entry
    make(tmp_path, samples=20)
    evaluation = evaluation_of(tmp_path)
    changed_source(evaluation, lambda source: source.update(binding={"entry_file": named}))
    with pytest.raises(BindingError, match="no Python file") as caught:
        reopen_dataset(evaluation)
    assert "hunter2" not in str(caught.value)
