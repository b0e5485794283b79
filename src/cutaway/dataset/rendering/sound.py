"""Sound as a WAV file: 16 bits a value, as every browser plays it."""

from __future__ import annotations

import io
import wave

import numpy as np

from cutaway.dataset.visualizer_classes import LeapAudio

__all__ = ["wav_bytes"]


def wav_bytes(value: LeapAudio) -> bytes:
    """Return the bytes of a WAV file; floats beyond -1 and 1 are cut off.

    >>> wav_bytes(LeapAudio(np.zeros(4, np.float32), 8000))[:4]
    b'RIFF'
    """
    data = value.data[:, np.newaxis] if value.data.ndim == 1 else value.data
    values = data if data.dtype == np.int16 else (np.clip(data, -1.0, 1.0) * 32767.0).round()
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(data.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(int(value.sample_rate))
        writer.writeframes(np.ascontiguousarray(values, "<i2").tobytes())
    return file.getvalue()
