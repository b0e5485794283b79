"""Settings travel as JSON, and what is no setting is refused with the nearest."""

import pytest

from cutaway.errors import ConfigurationError
from cutaway.tensors import ReductionConfig, SaveConfig
from cutaway.tensors.settings import refuse_unknown


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
