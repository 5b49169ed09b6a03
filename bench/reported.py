"""What others found: Mohammed (2012), section 3.4, and spec 01, section 5.3, on the same trees as ours."""

from __future__ import annotations

KS = (20, 40, 60, 80, 100)
CS = (15, 20, 25, 30, 100)  # percent


def _along(xs: tuple[int, ...], *ys: float) -> dict[float, float]:
    return dict(zip(map(float, xs), ys, strict=True))


# Spec 01, 5.3: DR of one run in general mode, ties by column order. By K, at C = 20 %.
RATIO_BY_K = {
    "L 2": _along(KS, 0.012, 0.015, 0.017, 0.022, 0.030),
    "L 4": _along(KS, 0.124, 0.125, 0.130, 0.130, 0.130),
    "L 6": _along(KS, 0.124, 0.125, 0.130, 0.130, 0.130),
    "L 13": _along(KS, 0.124, 0.125, 0.130, 0.130, 0.130),
    "k-anonymity": _along(KS, 0.030, 0.030, 0.030, 0.047, 0.047),
}
# By C, at K = 100.
RATIO_BY_C = {
    "L 2": _along(CS, 0.089, 0.030, 0.005, 0.003, 0.001),
    "L 4": _along(CS, 0.238, 0.130, 0.056, 0.047, 0.017),
    "L 6": _along(CS, 0.238, 0.130, 0.074, 0.047, 0.047),
}

# Percent: what Mohammed reports, and for Adult what spec 01, 5.3 finds with a C4.5-style tree.
BLOOD = {"BE": "22.1", "UE": "44.1", "CE, L 2 and 4": "19.2 to 27.3", "CE, L 6": "about 40"}
ADULT = {
    "BE": ("14.7", ""),
    "UE": ("24.5", "24.4"),
    "CE, L 2": ("15.0 to 15.6", "15.4 to 16.2"),
    "CE, L 4 and 6": ("15.8 to 18.8", "15.6 to 18.5"),
    "CE, no marital status to predict from": ("", "17.8 to 19.5"),
    "CE by C, L 2": ("", "15.8 to 16.3"),
    "CE by C, L 4 and 6": ("", "16.2"),
}
