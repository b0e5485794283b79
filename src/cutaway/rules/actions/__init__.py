"""What is done when a rule fires: requests to the training, and messages to people."""

from cutaway.rules.actions.action import Action
from cutaway.rules.actions.command import Command
from cutaway.rules.actions.delivery import Deliveries
from cutaway.rules.actions.mail import Email
from cutaway.rules.actions.notify import Notify
from cutaway.rules.actions.parsing import parse_action_str, parse_action_words, parse_actions
from cutaway.rules.actions.training import Checkpoint, Dump, ReduceLearningRate, StopTraining
from cutaway.rules.actions.webhook import Webhook

__all__ = [
    "Action",
    "Checkpoint",
    "Command",
    "Deliveries",
    "Dump",
    "Email",
    "Notify",
    "ReduceLearningRate",
    "StopTraining",
    "Webhook",
    "parse_action_str",
    "parse_action_words",
    "parse_actions",
]
