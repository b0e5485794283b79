"""A made machine: what two accelerometers on the bearing of a shaft measure in 50 milliseconds. Knows no model.

Each of its four states does to the signal what it does to a real machine:

- healthy: a little imbalance, which every shaft has, and noise.
- imbalance: a heavy spot goes round. One sine a turn, a quarter of a turn later in the second direction. Its force
  grows with the square of the speed, so it is small where the shaft is slow.
- looseness: the bearing's foot lifts and falls back: multiples of the shaft's frequency, and the lower halves cut off.
- bearing: a damaged inner ring. Each ball that rolls over the spall makes the housing ring for a moment, but only
  while the spall passes through the loaded zone, once a turn: a burst. It is stronger under more load.
"""

from dataclasses import dataclass

import numpy as np

LABELS = ["healthy", "imbalance", "looseness", "bearing"]
LENGTH, CHANNELS, RATE = 256, 2, 5120  # values a channel, directions, values a second
WRONG_LABELS = 0.02  # of all recordings, as with real ones

_HEALTHY, _IMBALANCE, _LOOSENESS, _BEARING = range(4)
_TIMES = np.arange(LENGTH) / RATE
_BALLS_PASSED = 5.4  # a turn, over one place of the inner ring
_RINGING = 0.0012  # seconds until the housing has calmed down to a third


@dataclass(frozen=True)
class Recording:
    """One recording, what was true when it was made, and the label that somebody gave it."""

    signal: np.ndarray
    state: int
    label: int
    speed: float
    load: float
    noise: float
    burst: np.ndarray

    @property
    def snr(self) -> float:
        """How far the signal stands above the noise, in decibels."""
        return float(10 * np.log10(max(np.mean(self.signal**2) / self.noise**2 - 1, 1e-3)))

    @property
    def burst_at(self) -> float | None:
        """Where in the recording the burst is strongest, in milliseconds; None where there is none."""
        return float(self.burst.argmax() / RATE * 1000) if self.burst.any() else None


def record(count: int, seed: int) -> list[Recording]:
    """Return recordings of machines in all four states alike, in a random order that the seed decides."""
    random = np.random.default_rng(seed)
    return [_one(int(state), random) for state in random.permutation(np.arange(count) % len(LABELS))]


def _one(state: int, random: np.random.Generator) -> Recording:
    speed = random.uniform(10, 20)  # turns a second
    load = random.uniform(0.3, 1)
    noise = 0.2 * np.exp(random.normal(0, 0.4))
    turns = speed * _TIMES + random.uniform()
    signal = _round(turns, random.uniform(0.1, 0.5) * (speed / 15) ** 2)
    burst = np.zeros(LENGTH)
    if state == _IMBALANCE:
        signal += _round(turns, random.uniform(0.7, 2) * (speed / 15) ** 2)
    elif state == _LOOSENESS:
        signal += _loose(turns, random)
    elif state == _BEARING:
        burst = _loaded_zone(speed, random.uniform(0.2, 0.8) * _TIMES[-1])
        signal += burst[:, None] * _ringing(speed, 4 * load * random.uniform(0.6, 1.2), random)
    signal += noise * random.normal(size=signal.shape)
    wrong = random.uniform() < WRONG_LABELS
    label = (state + int(random.integers(1, len(LABELS)))) % len(LABELS) if wrong else state
    return Recording(signal.astype(np.float32), state, label, 60 * speed, load, float(noise), burst)


def _round(turns: np.ndarray, amplitude: float) -> np.ndarray:
    return amplitude * np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=1)


def _loose(turns: np.ndarray, random: np.random.Generator) -> np.ndarray:
    shares = random.uniform(0.5, 1, size=4) / np.array([1, 1.2, 1.5, 2])
    phases = random.uniform(size=4)
    # Half a turn, one, two and three: a foot that lifts every second time has half the frequency too.
    orders = np.array([0.5, 1, 2, 3])
    beats = (shares * np.sin(2 * np.pi * (np.outer(turns, orders) + phases))).sum(axis=1)
    landed = random.uniform(0.8, 1.8) * np.maximum(beats, -0.2)
    return np.stack([0.3 * landed, landed], axis=1)


def _loaded_zone(speed: float, middle: float) -> np.ndarray:
    """How much of the load lies on the spall: a third of a turn around the middle, and again a turn later."""
    away = (_TIMES - middle) * speed
    away -= np.round(away)
    return np.where(np.abs(away) < 1 / 6, np.cos(3 * np.pi * away) ** 2, 0)


def _ringing(speed: float, strength: float, random: np.random.Generator) -> np.ndarray:
    """Blows at every passing ball, each a decaying oscillation of the housing."""
    tone = random.uniform(800, 1200)
    blows = np.zeros(LENGTH)
    for hit in np.arange(_TIMES[0] - 0.02, _TIMES[-1], 1 / (speed * _BALLS_PASSED)) + random.uniform(0, 0.01):
        # Balls slip a little, so that no two blows are quite as far apart.
        since = _TIMES - hit - random.normal(0, 0.0004)
        blows += np.where(since >= 0, np.exp(-np.maximum(since, 0) / _RINGING) * np.sin(2 * np.pi * tone * since), 0)
    return strength * np.stack([blows, 0.6 * blows], axis=1)
