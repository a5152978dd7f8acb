"""How far out is that: quantiles and tails of the normal, Student's t and the fair coin."""

from __future__ import annotations

from math import atan, erfc, exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

from judgekit.errors import InputError
from judgekit.stats.inputs import level

_NORMAL = NormalDist()
#: From here on t is taken as normal: the two differ by less than 1e-6.
_AS_NORMAL = 1e7
_TINY = 1e-300
_CLOSE = 1e-15
_SETTLED = 1e-13
_STEPS = 10_000


def norm_ppf(p: float) -> float:
    """The standard normal value below which a share p lies. Vectors: `norm_ppf`. InputError: p not inside (0, 1)."""
    return _NORMAL.inv_cdf(level("p", p))


def norm_sf(z: float) -> float:
    """The chance of a standard normal value above z, in [0, 1]."""
    return erfc(z / sqrt(2)) / 2  # as NormalDist.cdf, but exact far out


def t_ppf(p: float, *, df: float) -> float:
    """Student's t value with df degrees of freedom (any positive number) below which a share p lies.

    Vectors: `t_ppf`. InputError: p not inside (0, 1), df not positive. Newton's method on the upper tail, begun at
    the normal quantile: the tail is convex and the start lies left of the root, so every step stays left of it.
    """
    _positive(df)
    if level("p", p) < 0.5:  # noqa: PLR2004  # the lower half mirrors the upper
        return -_upper_quantile(p, df)
    return _upper_quantile(1 - p, df)


def t_sf(t: float, *, df: float) -> float:
    """The chance of a t value above `t`, in [0, 1]. InputError: df not positive."""
    _positive(df)
    tail = _upper_tail(abs(t), df)
    return tail if t >= 0 else 1 - tail


def t_two_sided_p(t: float, *, df: float) -> float:
    """The chance of a t value as far from 0 as `t` or farther, in [0, 1]. Vectors: `t_two_sided_p`."""
    _positive(df)
    return min(1.0, 2 * _upper_tail(abs(t), df))


def coin_tail(k: int, *, n: int) -> tuple[float, float]:
    """Of n throws of a fair coin: the chance of k heads or fewer, and of exactly k. Summed in whole numbers."""
    ways = total = 1
    for heads in range(k):
        ways = ways * (n - heads) // (heads + 1)
        total += ways
    return total / 2**n, ways / 2**n


def _positive(df: float) -> None:
    if not df > 0:
        raise InputError(f"df is {df}; t needs more than 0 degrees of freedom")


def _upper_quantile(q: float, df: float) -> float:
    """The t value that a share q <= 1/2 exceeds."""
    t = -_NORMAL.inv_cdf(q)
    if df >= _AS_NORMAL:
        return t
    log_scale = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    for _ in range(_STEPS):
        density = exp(log_scale - (df + 1) / 2 * log1p(t * t / df))
        step = (_upper_tail(t, df) - q) / density
        t += step
        if step <= _SETTLED * (1 + t):  # a step back is rounding, too
            break
    return t


def _upper_tail(t: float, df: float) -> float:
    """The chance of a t value above t >= 0: half the incomplete beta at df / (df + t^2)."""
    if df >= _AS_NORMAL:
        return norm_sf(t)
    if df == 1:
        return 0.5 - atan(t) / pi if t < 1 else atan(1 / t) / pi
    a, b = df / 2, 0.5
    ratio = t * t / df
    if ratio == 0:
        return 0.5
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) - a * log1p(ratio) + b * (log(ratio) - log1p(ratio))
    x = 1 / (1 + ratio)
    if x < (a + 1) / (a + b + 2):
        return exp(log_front) * _beta_fraction(a, b, x) / a / 2
    return (1 - exp(log_front) * _beta_fraction(b, a, ratio / (1 + ratio)) / b) / 2


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta, by Lentz's method. Source: DLMF 8.17.22."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _away_from_zero(1 + part * d)
            c = _away_from_zero(1 + part / c)
            value *= c * d
        if abs(c * d - 1) <= _CLOSE:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_half_width(se: float, *, df: float, conf: float) -> float:
    """Half the width of the t interval around an estimate with that standard error."""
    return t_ppf((1 + level("conf", conf)) / 2, df=df) * se


def z_half_width(variance: float, *, conf: float) -> float:
    """Half the width of the normal interval around an estimate with that variance."""
    return norm_ppf((1 + level("conf", conf)) / 2) * sqrt(variance)
