"""Rules: a second pair of eyes on a training, live or afterwards. One file per rule in `built_in/`."""

from cutaway.rules.actions.command import Command
from cutaway.rules.actions.mail import Email
from cutaway.rules.actions.notify import Notify
from cutaway.rules.actions.training import Checkpoint, Dump, ReduceLearningRate, StopTraining
from cutaway.rules.actions.webhook import Webhook
from cutaway.rules.invoker import invoke_rule
from cutaway.rules.judgement import Judgement
from cutaway.rules.required_tensors import RequiredTensors
from cutaway.rules.rule import Rule

__all__ = [
    "Checkpoint",
    "Command",
    "Dump",
    "Email",
    "Judgement",
    "Notify",
    "ReduceLearningRate",
    "RequiredTensors",
    "Rule",
    "StopTraining",
    "Webhook",
    "invoke_rule",
]
