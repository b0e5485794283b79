"""Settings travel as JSON, what is no setting is refused with the nearest, and patterns are checked."""

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors import ReductionConfig, SaveConfig
from cutaway.tensors.settings import compile_pattern, refuse_unknown, texts


@pytest.mark.parametrize("settings", [ReductionConfig(norms=["l1"]), SaveConfig(save_interval=7)])
def test_what_was_written_is_read_back(settings: ReductionConfig | SaveConfig) -> None:
    assert type(settings).from_json(settings.to_json()) == settings


@pytest.mark.parametrize(("kind", "named"), [(ReductionConfig, "reduction"), (SaveConfig, "save")])
def test_a_text_that_is_no_json_is_refused_by_name(kind: type[ReductionConfig | SaveConfig], named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"A {named} configuration must be JSON"):
        kind.from_json("{")


def test_a_setting_that_there_is_not_is_refused_with_the_nearest() -> None:
    refuse_unknown(["start_step"], ("start_step", "end_step"), "`SaveConfig`")
    with pytest.raises(ConfigurationError, match=r"`SaveConfig` has no setting 'start_stop'.*start_step"):
        refuse_unknown(["start_stop"], ("start_step", "end_step"), "`SaveConfig`")


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
