"""Log levels from the environment, without touching anyone's handlers."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from cutaway.capture.logs import apply_log_level
from cutaway.errors import ConfigurationError

LOGGERS = [logging.getLogger(name) for name in ("cutaway", "tornasole")]


@pytest.fixture(autouse=True)
def _levels_as_before() -> Iterator[None]:
    levels = [logger.level for logger in LOGGERS]
    for logger in LOGGERS:
        logger.setLevel(logging.NOTSET)
    yield
    for logger, level in zip(LOGGERS, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize(
    ("environment", "level"),
    [
        ({}, logging.NOTSET),
        ({"CUTAWAY_LOG_LEVEL": "DEBUG"}, logging.DEBUG),
        ({"CUTAWAY_LOG_LEVEL": " error "}, logging.ERROR),
        ({"CUTAWAY_LOG_LEVEL": "off"}, logging.CRITICAL + 1),
        ({"TORNASOLE_LOG_LEVEL": "INFO"}, logging.INFO),
        ({"SMDEBUG_LOG_LEVEL": "warning"}, logging.WARNING),
        ({"CUTAWAY_LOG_LEVEL": "ERROR", "SMDEBUG_LOG_LEVEL": "DEBUG"}, logging.ERROR),
        ({"CUTAWAY_LOG_LEVEL": "", "SMDEBUG_LOG_LEVEL": "DEBUG"}, logging.DEBUG),
    ],
)
def test_the_first_variable_that_is_set_decides(environment: dict[str, str], level: int) -> None:
    apply_log_level(environment)
    assert LOGGERS[0].level == level


def test_the_seeds_own_logger_is_honoured() -> None:
    LOGGERS[1].setLevel(logging.ERROR)
    apply_log_level({})
    assert LOGGERS[0].level == logging.ERROR


def test_an_unknown_level_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"CUTAWAY_LOG_LEVEL.*'DEBUGG'.*'DEBUG'"):
        apply_log_level({"CUTAWAY_LOG_LEVEL": "debugg"})


def test_no_handler_is_added() -> None:
    before = [list(logger.handlers) for logger in (*LOGGERS, logging.getLogger())]
    apply_log_level({"CUTAWAY_LOG_LEVEL": "DEBUG"})
    assert [list(logger.handlers) for logger in (*LOGGERS, logging.getLogger())] == before
