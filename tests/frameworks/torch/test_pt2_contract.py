"""Exported files fulfil the contract of backends, with an open and with a fixed batch size."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.frameworks.torch.pt2 import open_pt2
from cutaway.models.backend import Arrays, Backend
from cutaway.testing.models import BackendContract
from tests.frameworks.torch.exporting import exported
from tests.frameworks.torch.networks import BATCHES, CNN, MLP, Encoder, Recurrent, TwoAnswers, TwoInputs, UNet


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pt2")


class FileContract(BackendContract):
    kind = MLP
    fixed = False

    @pytest.fixture
    def backend(self, files: Path) -> Backend:
        return open_pt2(exported(self.kind, files, fixed=self.fixed), trust=False, custom_layers={})

    @pytest.fixture
    def batch(self) -> Arrays:
        return BATCHES[self.kind]


class TestFileOfMLP(FileContract):
    kind = MLP


class TestFileOfCNN(FileContract):
    kind = CNN


class TestFileOfCNNWithFixedBatch(FileContract):
    kind, fixed = CNN, True


@pytest.mark.slow
class TestFileOfEncoder(FileContract):
    kind = Encoder


class TestFileOfRecurrent(FileContract):
    kind = Recurrent


class TestFileOfTwoInputs(FileContract):
    kind = TwoInputs


class TestFileOfTwoAnswers(FileContract):
    kind = TwoAnswers


class TestFileOfUNet(FileContract):
    kind = UNet
