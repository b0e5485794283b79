"""Who asks for changes gets all of them once, or is told to list again."""

from cutaway.studio.index.gathering import MOST_KEPT, Changes


def test_changes_come_once_and_in_their_order() -> None:
    changes = Changes()
    assert changes.since(0) == []
    changes.note("listed", "a")
    changes.note("state", "a", "running")
    assert [(one.number, one.what, one.state) for one in changes.since(0)] == [
        (1, "listed", None),
        (2, "state", "running"),
    ]
    assert [one.number for one in changes.since(1)] == [2]
    assert changes.since(changes.last) == []
    assert changes.since(99) == []


def test_who_asks_too_late_is_told_to_list_again() -> None:
    changes = Changes()
    for i in range(MOST_KEPT + 10):
        changes.note("listed", str(i))
    (told,) = changes.since(3)
    assert (told.number, told.what, told.run) == (changes.last, "listed", None)
    assert len(changes.since(10)) == MOST_KEPT
