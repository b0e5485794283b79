"""How far colours are apart to the eye: CAM02-UCS, as people see them and as those see them who lack a kind of cones.

After Luo, Cui and Li (2006) and Machado, Oliveira and Fernandes (2009, severity 1.0), with the surroundings of sRGB: an
average surround, a white of 64 lux and a background of 20 %. Colours are arrays whose last axis is red, green and blue
from 0 to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "PETROFF",
    "VISIONS",
    "appearance",
    "contrast",
    "least_distances",
    "linear",
    "luminance",
    "rgb_of",
    "seen",
    "ucs",
]

Floats = npt.NDArray[np.float64]

# The ten of Petroff (2021), "Accessible Color Sequences for Data Visualization".
PETROFF = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
# What is left of linear red, green and blue.
VISIONS: dict[str, Floats] = {
    "everybody": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_CAT02 = np.array([[0.7328, 0.4296, -0.1624], [-0.7036, 1.6975, 0.0061], [0.0030, 0.0136, 0.9834]])
_HPE = np.array([[0.38971, 0.68898, -0.07868], [-0.22981, 1.18340, 0.04641], [0.0, 0.0, 1.0]])
_TO_CONES = _HPE @ np.linalg.inv(_CAT02)
# The average surround: impact, chromatic induction and degree of adaptation.
_C, _NC, _F = 0.69, 1.0, 1.0
_D65 = (95.047, 100.0, 108.883)
_ADAPTING = 64 / np.pi / 5
_BACKGROUND = 20.0


def rgb_of(colour: str) -> Floats:
    """Return red, green and blue of `#rrggbb`."""
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])


def linear(rgb: npt.ArrayLike) -> Floats:
    """Return light from sRGB."""
    rgb = np.asarray(rgb, float)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(rgb: npt.ArrayLike) -> Floats:
    """Return the relative luminance."""
    return np.asarray(linear(rgb) @ _XYZ[1])


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG has it, from 1 to 21."""
    dark, light = sorted(float(luminance(rgb_of(each))) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


def appearance(
    xyz: npt.ArrayLike,
    white: npt.ArrayLike = _D65,
    adapting: float = _ADAPTING,
    background: float = _BACKGROUND,
) -> tuple[Floats, Floats, Floats]:
    """Return lightness J, colourfulness M and hue h in degrees of CIECAM02, in an average surround."""
    white = np.asarray(white, float)
    k = 1 / (5 * adapting + 1)
    level = 0.2 * k**4 * 5 * adapting + 0.1 * (1 - k**4) ** 2 * (5 * adapting) ** (1 / 3)
    n = background / white[1]
    induction = 0.725 * (1 / n) ** 0.2
    degree = _F * (1 - np.exp((-adapting - 42) / 92) / 3.6)
    gains = degree * white[1] / (_CAT02 @ white) + 1 - degree

    def responses(given: Floats) -> Floats:
        cones = (given @ _CAT02.T * gains) @ _TO_CONES.T
        part = (level * np.abs(cones) / 100) ** 0.42
        return np.asarray(np.sign(cones) * 400 * part / (27.13 + part) + 0.1)

    def achromatic(cones: Floats) -> Any:
        return (2 * cones[..., 0] + cones[..., 1] + cones[..., 2] / 20 - 0.305) * induction

    cones = responses(np.asarray(xyz, float))
    red, green, blue = cones[..., 0], cones[..., 1], cones[..., 2]
    a, b = red - 12 * green / 11 + blue / 11, (red + green - 2 * blue) / 9
    hue = np.arctan2(b, a)
    lightness = 100 * np.maximum(achromatic(cones) / achromatic(responses(white)), 0) ** (_C * (1.48 + np.sqrt(n)))
    eccentricity = (np.cos(hue + 2) + 3.8) / 4
    t = 50000 / 13 * _NC * induction * eccentricity * np.hypot(a, b) / (red + green + 21 * blue / 20)
    chroma = t**0.9 * np.sqrt(lightness / 100) * (1.64 - 0.29**n) ** 0.73
    return lightness, chroma * level**0.25, np.degrees(hue) % 360


def ucs(light: npt.ArrayLike) -> Floats:
    """Return the places of colours, given as linear light, in CAM02-UCS: distances there are differences to the eye."""
    lightness, colourfulness, hue = appearance(100 * np.asarray(light, float) @ _XYZ.T)
    radius = np.log1p(0.0228 * colourfulness) / 0.0228
    angle = np.radians(hue)
    return np.stack([1.7 * lightness / (1 + 0.007 * lightness), radius * np.cos(angle), radius * np.sin(angle)], -1)


def seen(rgb: npt.ArrayLike, vision: str) -> Floats:
    """Return the places in CAM02-UCS of what somebody sees of colours."""
    light = np.clip(linear(rgb) @ VISIONS[vision].T, 0, 1)
    # Through the bytes of a screen, as a picture that simulates it would go.
    shown = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return ucs(linear(shown))


def least_distances(colours: npt.ArrayLike) -> dict[str, float]:
    """Return for each vision how far those two of the colours are apart that are nearest to each other."""
    found = {}
    for vision in VISIONS:
        places = seen(colours, vision)
        apart = np.linalg.norm(places[:, None] - places, axis=-1)
        found[vision] = float(apart[np.triu_indices(len(places), 1)].min())
    return found
