"""Patterns that users write are checked where they are given."""

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors.patterns import compile_pattern, texts


def test_a_good_pattern_is_compiled() -> None:
    assert compile_pattern("relu$", "include").search("net.relu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a(b", r"`include` must be a valid regular expression, but got 'a\(b': .* at character 1"),
        ("*", "nothing to repeat at character 0"),
        ("[", r"re\.escape\(name\)"),
        (3, "takes regular expressions as strings, but got 3"),
        (None, "takes regular expressions as strings, but got None"),
    ],
)
def test_a_bad_pattern_is_refused_with_its_text_and_the_place_in_it(text: object, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        compile_pattern(text, "include")


@pytest.mark.parametrize(
    ("value", "expected"), [(None, ()), ("a", ("a",)), (["a", "b"], ("a", "b")), ((text for text in "ab"), ("a", "b"))]
)
def test_one_or_several_texts_are_read_alike(value: object, expected: tuple[str, ...]) -> None:
    assert texts(value, "include") == expected


@pytest.mark.parametrize("wrong", [3, ["a", 3], [None]])
def test_what_is_no_text_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigurationError, match="`include` takes"):
        texts(wrong, "include")
