"""Binds recordings of a machine's vibration: 256 values in each of two directions, and the state it was in.

`machine.py` makes them from a seed: nothing is downloaded, and what is true of each recording is known.
"""

import numpy as np
from machine import CHANNELS, LABELS, LENGTH, RATE, Recording, record

from cutaway.dataset import (
    DatasetMetadataType,
    DataStateType,
    LeapDataType,
    LeapGraph,
    MetricDirection,
    PreprocessResponse,
    leap_binder,
    tensorleap_custom_metric,
    tensorleap_custom_visualizer,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_metadata,
    tensorleap_preprocess,
)

COUNTS = {DataStateType.training: 1600, DataStateType.validation: 400, DataStateType.test: 400}


@tensorleap_preprocess()
def preprocess() -> list[PreprocessResponse]:
    """Make the recordings of each subset from a seed of its own."""
    return [
        PreprocessResponse(length=count, data=record(count, seed), state=state)
        for seed, (state, count) in enumerate(COUNTS.items())
    ]


@tensorleap_input_encoder("vibration", channel_dim=-1)
def vibration(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The recording as the model gets it: times, directions, in g."""
    return subset.data[index].signal


@tensorleap_gt_encoder("state")
def state(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The label that the recording was given, one-hot. One in 50 is wrong, as labels are."""
    return np.eye(len(LABELS), dtype=np.float32)[subset.data[index].label]


@tensorleap_metadata("machine", DatasetMetadataType.float)
def machine(index: int, subset: PreprocessResponse) -> dict[str, float]:
    """How the machine ran: `machine_rpm` (turns a minute) and `machine_load` (from 0 to 1)."""
    one: Recording = subset.data[index]
    return {"rpm": one.speed, "load": one.load}


@tensorleap_metadata("signal", DatasetMetadataType.float)
def signal(index: int, subset: PreprocessResponse) -> dict[str, float]:
    """What is measured of it: `signal_snr` (decibels), `signal_rms`, and `signal_crest`: peak against rms."""
    one: Recording = subset.data[index]
    rms = float(np.sqrt(np.mean(one.signal**2)))
    return {"snr": one.snr, "rms": rms, "crest": float(np.abs(one.signal).max()) / rms}


@tensorleap_metadata("burst_at", DatasetMetadataType.float)
def burst_at(index: int, subset: PreprocessResponse) -> float | None:
    """Where the burst of a damaged bearing is strongest, in milliseconds; empty where there is none."""
    return subset.data[index].burst_at


@tensorleap_metadata("true_state", DatasetMetadataType.string)
def true_state(index: int, subset: PreprocessResponse) -> str:
    """The state that the machine was made in. Whoever has only labels does not know it."""
    return LABELS[subset.data[index].state]


@tensorleap_custom_metric("margin", direction=MetricDirection.Upward)
def margin(state: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """How far the labelled state is ahead of the best of the others: below 0 the answer differs from the label."""
    right = (state * prediction).sum(axis=1)
    best_other = (prediction - 2 * state).max(axis=1)
    return (right - best_other).astype(np.float32)


def heat_of_trace(vibration: np.ndarray) -> np.ndarray:
    """Lay a heat map as `trace` lays the signal: one value a time and direction."""
    heat = vibration.reshape(LENGTH, -1).astype(np.float32)
    return np.repeat(heat, CHANNELS, axis=1) if heat.shape[1] == 1 else heat


@tensorleap_custom_visualizer("trace", LeapDataType.Graph, heatmap_function=heat_of_trace)
def trace(vibration: np.ndarray) -> LeapGraph:
    """Both directions over 50 milliseconds."""
    duration = 1000 * (LENGTH - 1) / RATE
    return LeapGraph(vibration.astype(np.float32), x_label="ms", y_label="g", x_range=(0.0, duration))


@tensorleap_custom_visualizer("spectrum", LeapDataType.Graph)
def spectrum(vibration: np.ndarray) -> LeapGraph:
    """How strong each frequency is, in both directions."""
    strengths = np.abs(np.fft.rfft(vibration * np.hanning(LENGTH)[:, None], axis=0)) * 4 / LENGTH
    return LeapGraph(strengths.astype(np.float32), x_label="Hz", y_label="g", x_range=(0.0, RATE / 2))


leap_binder.add_prediction("prediction", LABELS)
