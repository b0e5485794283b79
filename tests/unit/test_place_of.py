"""Where somebody's code raised."""

import importlib.util
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, place_of
from cutaway.rules.arguments import number


def raised(path: Path, source: str) -> str:
    """Run a file that raises, as an installed package would, and return the place that is named."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("somebodys", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever the file raises
        spec.loader.exec_module(module)
    return place_of(caught.value)


@pytest.mark.parametrize("folder", ["mine", "torch", "lib/python3.11/site-packages/their_rules"])
@pytest.mark.parametrize(
    "source",
    [
        "1 / 0\n",
        "import numpy\nnumpy.zeros(3).reshape(7)\n",
        "import json\njson.loads('{')\n",
        "from cutaway.rules.arguments import number\nnumber('much', 'threshold')\n",
    ],
)
def test_it_is_their_own_line_also_where_a_library_or_ours_raised(tmp_path: Path, folder: str, source: str) -> None:
    path = tmp_path / folder / "rule.py"
    assert raised(path, source) == f"{path}:{len(source.splitlines())}"


def test_where_only_ours_is_left_it_is_ours() -> None:
    with pytest.raises(ConfigurationError) as caught:
        number("much", "threshold")
    error = caught.value
    assert error.__traceback__ is not None
    # Without the frame of this test.
    error.__traceback__ = error.__traceback__.tb_next
    assert Path(place_of(error).rpartition(":")[0]).name == "arguments.py"
