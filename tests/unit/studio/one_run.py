"""A studio over run folders, asked through its HTTP API; and real trainings for it to look at."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastapi.testclient import TestClient
from httpx import Response

from cutaway.studio.serving.app import create_app
from cutaway.studio.the_studio import Studio

SECRET = "hunter2-swordfish"


class Asked:
    """A studio and what it answers about the run that was named."""

    def __init__(self, studio: Studio, client: TestClient) -> None:
        self.studio = studio
        self.client = client

    def id_of(self, name: str) -> str:
        self.studio.index._first_done.wait(60)  # on a busy machine the index's own patience may end before its look
        return next(row.id for row in self.studio.index.table().rows if row.name == name)

    def get(self, run: str, path: str = "", **params: Any) -> Response:
        return self.client.get(f"/api/runs/{self.id_of(run)}{path}", params=_spelled(params))

    def data(self, run: str, path: str = "", **params: Any) -> Any:
        answer = self.get(run, path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def arrow(self, run: str, path: str, **params: Any) -> pa.Table:
        answer = self.get(run, path, **params)
        assert answer.status_code == 200, answer.text
        return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()

    def ask(self, run: str, **request: Any) -> Response:
        return self.client.post(f"/api/runs/{self.id_of(run)}/requests", json=request)


@contextmanager
def studio_of(root: Path) -> Iterator[Asked]:
    """Open a studio over a folder, which keeps nothing outside of it."""
    studio = Studio.open(root)
    try:
        with TestClient(create_app(studio), base_url="http://127.0.0.1") as client:
            yield Asked(studio, client)
    finally:
        studio.close()


def train(path: Path, *, sick: bool = False, steps: int = 12) -> None:
    """Train a tiny model for real: three epochs, each with an evaluation; a sick one has NaN in it from the middle."""
    import torch

    from cutaway.torch import Hook, SaveConfig

    torch.manual_seed(7)
    torch.use_deterministic_algorithms(mode=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1)
    hook = Hook(
        path,
        include_collections=["weights", "biases", "gradients", "losses", "relu_outputs"],
        save_config=SaveConfig(save_interval=5),
        rules=["ExplodingTensor"],
    )
    with hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({"lr": 0.1, "api_key": SECRET, "logging": {"password": SECRET, "level": "debug"}})
        for step in range(steps):
            training = step % 4 != 3
            hook.set_mode("TRAIN" if training else "EVAL")
            hook.set_epoch(step // 4)
            ids = [8 * step + i for i in range(8)]
            hook.set_samples(ids, subset="training" if training else "test")
            inputs, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            if training:
                loss.backward()
                optimizer.step()
            hook.save_scalar("score", float("nan") if sick and step > steps // 2 else float(step))
            hook.save_sample_values(ids, subset="training" if training else "test", hard=[float(i) for i in range(8)])
            if sick and step == steps // 2:
                with torch.no_grad():
                    model[0].weight[0, 0] = float("nan")


def _spelled(params: dict[str, Any]) -> dict[str, Any]:
    """`from` and `to` are words of Python or of people: `first` and `last` here."""
    return {{"first": "from", "last": "to"}.get(name, name): value for name, value in params.items()}
