"""Rules: a second pair of eyes on a training, live or afterwards. One file per rule in `built_in/`."""

from cutaway.rules.invoker import invoke_rule
from cutaway.rules.judgement import Judgement
from cutaway.rules.required_tensors import RequiredTensors
from cutaway.rules.rule import Rule

__all__ = ["Judgement", "RequiredTensors", "Rule", "invoke_rule"]
