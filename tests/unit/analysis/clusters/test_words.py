"""How a cluster reads in a line."""

from __future__ import annotations

from cutaway.analysis.clusters.words import ClassShare, ClusterWords, Rate, Trait


def _words(
    size: int = 412,
    classes: tuple[ClassShare, ...] = (),
    errors: Rate | None = None,
    loss: Rate | None = None,
    traits: tuple[Trait, ...] = (),
) -> str:
    return ClusterWords(0, size, classes, classes[0].share if classes else None, errors, loss, traits).words


def _trait(column: str, kind: str = "number", value: str | None = None, figure: str = "mean") -> Trait:
    return Trait(column, kind, value, figure, 0.41, 0.22, "higher", 0.5, 0.3, 412)


def test_all_parts_make_one_line() -> None:
    line = _words(
        classes=(ClassShare("4", 396, 396 / 412), ClassShare("9", 16, 16 / 412)),
        errors=Rate(31 / 412, 0.012, 412, differs=True),
        loss=Rate(0.31, 0.04, 412, differs=True),
        traits=(_trait("metadata.brightness"), _trait("metadata.site", "category", "north")),
    )
    assert line == (
        "412 samples, 96 % of them 4; error 7.5 % (elsewhere 1.2 %); mean loss 0.31 (elsewhere 0.04); "
        "brightness 0.41 against 0.22; site north in 41 % against 22 %."
    )


def test_classes_are_told_down_to_a_tenth() -> None:
    assert _words(6, (ClassShare("4", 6, 1.0),)) == "6 samples, all of them 4."
    mixed = (ClassShare("4", 51, 0.51), ClassShare("9", 44, 0.44), ClassShare("7", 5, 0.05))
    assert _words(100, mixed) == "100 samples, 51 % of them 4, 44 % 9."
    assert _words(100, tuple(ClassShare(str(one), 5, 0.05) for one in range(20))) == "100 samples, of 20 classes."


def test_a_share_is_never_rounded_to_none_or_all() -> None:
    nearly = (ClassShare("4", 9999, 0.9999), ClassShare("9", 1, 0.0001))
    assert _words(10_000, nearly, Rate(0.0004, 0.0, 10_000, differs=True)) == (
        "10,000 samples, over 99 % of them 4; error under 0.1 % (elsewhere 0 %)."
    )


def test_few_samples_are_told_in_counts_and_an_unclear_difference_is_called_so() -> None:
    assert _words(6, errors=Rate(2 / 6, 0.008, 6, differs=False)) == (
        "6 samples; 2 of 6 wrong (elsewhere 0.8 %, no clear difference)."
    )
    assert _words(1, errors=Rate(0.0, float("nan"), 1, differs=False)) == "1 sample; 0 of 1 wrong."


def test_a_loss_that_does_not_differ_is_left_out() -> None:
    assert _words(loss=Rate(0.3, 0.2, 412, differs=False)) == "412 samples."


def test_medians_are_called_so_yes_is_said_and_only_the_strongest_are_told() -> None:
    assert _words(traits=(_trait("size", figure="median"),)) == "412 samples; size median 0.41 against 0.22."
    assert _words(traits=(_trait("metadata.blurred", "yes-no"),)) == "412 samples; blurred yes in 41 % against 22 %."
    assert _words(traits=tuple(_trait(name) for name in "abcde")).count("against") == 3


def test_a_column_is_told_once_by_its_strongest_value() -> None:
    north, south = (_trait("site", "category", value) for value in ("north", "south"))
    assert _words(traits=(north, south)) == "412 samples; site north in 41 % against 22 %."
