"""Live modules fulfil the contract of backends."""

from __future__ import annotations

import pytest

from cutaway.frameworks.torch.model import wrap
from cutaway.models.backend import Arrays, Backend
from cutaway.testing.models import BackendContract
from tests.frameworks.torch.networks import BATCHES, CNN, MLP, Encoder, Recurrent, TwoAnswers, TwoInputs, UNet, seeded


class LiveContract(BackendContract):
    kind = MLP

    @pytest.fixture
    def backend(self) -> Backend:
        return wrap(seeded(self.kind).train(), example=BATCHES[self.kind])

    @pytest.fixture
    def batch(self) -> Arrays:
        return BATCHES[self.kind]


class TestLiveMLP(LiveContract):
    kind = MLP


class TestLiveCNN(LiveContract):
    kind = CNN


class TestLiveEncoder(LiveContract):
    kind = Encoder


class TestLiveRecurrent(LiveContract):
    kind = Recurrent


class TestLiveTwoInputs(LiveContract):
    kind = TwoInputs


class TestLiveTwoAnswers(LiveContract):
    kind = TwoAnswers


class TestLiveUNet(LiveContract):
    kind = UNet
