"""What somebody's code prints is kept up to a limit."""

import sys
import threading

import pytest

from cutaway.dataset.printed import PRINTED_LIMIT, captured_prints


def test_prints_are_kept_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with captured_prints() as printed:
        print("inside")
    print("outside")
    assert printed.text == "inside\n"
    assert capsys.readouterr().out == "outside\n"


def test_a_gigabyte_is_counted_and_not_kept() -> None:
    chunk = "x" * 2**20
    with captured_prints() as printed:
        for _ in range(1024):
            sys.stdout.write(chunk)
    assert printed.dropped == 2**30 - PRINTED_LIMIT
    assert len(printed.text) < PRINTED_LIMIT + 100
    assert printed.text.endswith(f"... and {printed.dropped:,} more characters.\n")


def test_an_error_inside_gives_the_stream_back() -> None:
    before = sys.stdout
    kept = []

    def fail() -> None:
        with captured_prints() as printed:
            kept.append(printed)
            print("before")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert sys.stdout is before
    assert kept[0].text == "before\n"


def test_captures_may_lie_in_each_other_and_end_in_any_order() -> None:
    before = sys.stdout
    outer, inner = captured_prints(), captured_prints()
    first, second = outer.__enter__(), inner.__enter__()
    print("to the inner")
    outer.__exit__(None, None, None)
    print("still to the inner")
    inner.__exit__(None, None, None)
    assert sys.stdout is before
    assert (first.text, second.text) == ("", "to the inner\nstill to the inner\n")


def test_threads_share_the_log_and_nothing_is_lost() -> None:
    with captured_prints() as printed:
        threads = [threading.Thread(target=lambda: [sys.stdout.write("x" * 100) for _ in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert printed.dropped + PRINTED_LIMIT == 4 * 500 * 100


def test_the_stream_looks_like_one() -> None:
    with captured_prints():
        assert not sys.stdout.isatty()
        assert sys.stdout.encoding == "utf-8"
        assert sys.stdout.writable()
        sys.stdout.flush()
