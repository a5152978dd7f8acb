"""What if judge and humans saw different units: corrections that lean on more than the draw.

Neither is the default. Rogan-Gladen carries a calibration from another run and is right only if the judge errs there
as it does here; prediction-powered inference takes labelled and unlabelled units as draws from one population, and
its intervals under-cover with few labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.stats.distributions import norm_ppf, z_half_width
from judgekit.stats.inputs import FEWEST, NEEDS_TWO, finite, level, same_length, share

_LEAST_YOUDEN = 0.2

#: The reason for refusing a judge that hardly tells the two classes apart.
BLUNT = "sens + spec - 1 is below 0.2"


class RoganGladen(NamedTuple):
    """A transferred estimate and its interval, all in [0, 1]; None with a reason when refused."""

    estimate: float | None
    lo: float | None
    hi: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ppi:
    """A prediction-powered mean. `lam` in [0, 1] is how far the judge is trusted: 0 not at all, 1 in full (PPI).

    Nothing is clipped to [0, 1]. The numbers are None, with a reason, below two labelled and one unlabelled unit.
    """

    lam: float | None
    estimate: float | None
    se: float | None = None
    lo: float | None = None
    hi: float | None = None
    reason: str | None = None


def rogan_gladen(
    *, p: float, spec: float, sens: float, n: int, m_neg: int, m_pos: int, conf: float = 0.95
) -> RoganGladen:
    """The true share behind a judge's share `p` of n units, given its errors on labelled units of another run.

    `sens` is the share of `m_pos` truly supported units that it called supported, `spec` of `m_neg` unsupported ones
    called unsupported. Refused when sens + spec - 1 is below 0.2. Clustering of the units is ignored. Vectors:
    `rogan_gladen`. InputError: a share outside [0, 1], a size below 1.
    Source: Rogan and Gladen 1978; the interval is that of Lee et al. (arXiv 2511.21140).
    """
    for name, value in (("p", p), ("spec", spec), ("sens", sens)):
        share(name, value)
    for name, size in (("n", n), ("m_neg", m_neg), ("m_pos", m_pos)):
        if size < 1:
            raise InputError(f"{name} is {size}; it takes at least one unit")
    z = norm_ppf((1 + level("conf", conf)) / 2)
    wide, negatives, positives = n + z * z, m_neg + 2, m_pos + 2
    smooth_p = (n * p + z * z / 2) / wide
    smooth_spec, smooth_sens = (m_neg * spec + 1) / negatives, (m_pos * sens + 1) / positives
    youden = smooth_spec + smooth_sens - 1
    if sens + spec - 1 < _LEAST_YOUDEN or youden <= 0:
        return RoganGladen(None, None, None, BLUNT)
    theta = (smooth_p + smooth_spec - 1) / youden
    from_spec = smooth_spec * (1 - smooth_spec) / negatives
    from_sens = smooth_sens * (1 - smooth_sens) / positives
    centre = theta + 2 * z * z * (theta * from_sens - (1 - theta) * from_spec)
    half = z / youden * sqrt(smooth_p * (1 - smooth_p) / wide + (1 - theta) ** 2 * from_spec + theta**2 * from_sens)
    return RoganGladen(_clipped((p + spec - 1) / (sens + spec - 1)), _clipped(centre - half), _clipped(centre + half))


def ppi_mean(
    *,
    y: Sequence[float],
    f_labeled: Sequence[float],
    f_unlabeled: Sequence[float],
    lam: float | None = None,
    alpha: float = 0.05,
) -> Ppi:
    """The mean human value, from few human labels and many judge values.

    `y` and `f_labeled` are human and judge on the same units, `f_unlabeled` the judge on the others. `lam` 1 is PPI,
    0 ignores the judge, None chooses the least variance (PPI++). Vectors: `ppi_mean`. InputError: lengths that
    differ, values that are not finite, lam outside [0, 1].
    Source: Angelopoulos et al. 2023 (Science 382:669; PPI++: arXiv 2311.01453), variances with n as divisor.
    """
    level("alpha", alpha)
    n, rest = same_length({"y": y, "f_labeled": f_labeled}), len(f_unlabeled)
    human, judge, others = finite("y", y), finite("f_labeled", f_labeled), finite("f_unlabeled", f_unlabeled)
    if n < FEWEST or not rest:
        return Ppi(lam=lam, estimate=None, reason=NEEDS_TWO)
    weight = _best_lam(human, judge, others) if lam is None else share("lam", lam)
    errors = [value - weight * guess for value, guess in zip(human, judge, strict=True)]
    estimate = weight * fsum(others) / rest + fsum(errors) / n
    variance = weight**2 * _variance(others) / rest + _variance(errors) / n
    half = z_half_width(variance, conf=1 - alpha)
    return Ppi(lam=weight, estimate=estimate, se=sqrt(variance), lo=estimate - half, hi=estimate + half)


def _best_lam(human: list[float], judge: list[float], others: list[float]) -> float:
    """cov(y, f) / ((1 + n/N) var f), clipped; 0 when the judge is constant. var f: of all units, divisor less 1."""
    n = len(human)
    mean_human, mean_judge = fsum(human) / n, fsum(judge) / n
    shared = fsum((y - mean_human) * (f - mean_judge) for y, f in zip(human, judge, strict=True)) / n
    every = judge + others
    spread = _variance(every) * len(every) / (len(every) - 1)
    return _clipped(shared / ((1 + n / len(others)) * spread)) if spread else 0.0


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / len(values)


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))
