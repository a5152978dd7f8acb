"""Numbers in, numbers out: intervals, comparisons, corrections, agreement, and how many to draw.

One module answers one question. Nothing here knows what a claim or a judge's reply is; the standard library is all it
needs; the same input gives the same output, in any order of the rows unless a function says otherwise.
"""

from judgekit.stats.agreement import (
    Ac1,
    Kappa,
    cohen_kappa,
    cohen_kappa_weighted_sample,
    cross_table,
    gwet_ac1,
    weighted_kappa,
)
from judgekit.stats.balanced import Balanced, balanced_accuracy
from judgekit.stats.confusion import Confusion, judge_vs_human
from judgekit.stats.corrected import (
    Corrected,
    HorvitzThompson,
    Stratum,
    WeightedUnit,
    ht_difference_poisson,
    judge_total,
    stratified_difference,
    stratified_rate,
)
from judgekit.stats.correlation import pearson, spearman
from judgekit.stats.differences import Difference, paired_mean_diff, paired_ratio_diff, unpaired_mean_diff
from judgekit.stats.distributions import norm_ppf, t_ppf, t_two_sided_p
from judgekit.stats.drawing import hash_rank, hash_rank_sample, hash_uniform, neyman_allocation
from judgekit.stats.exact import McNemar, SignFlip, holm, mcnemar, signflip_exact_p, signflip_p
from judgekit.stats.flips import binomial_tail, flip_alarm, flip_rate
from judgekit.stats.intervals import Interval, Mean, cluster_ratio, macro_mean, wilson_interval
from judgekit.stats.planning import mde_paired, n_required_paired
from judgekit.stats.posterior import interval_of_draws, plausible_totals
from judgekit.stats.ranking import Auc, auc
from judgekit.stats.raters import Alpha, FleissKappa, fleiss_kappa, gwet_ac1_raters, krippendorff_alpha
from judgekit.stats.resampling import Bootstrap, bootstrap, cluster_bootstrap, quantile
from judgekit.stats.running import RunningRatio
from judgekit.stats.transferred import Ppi, RoganGladen, ppi_mean, rogan_gladen

__all__ = [
    "Ac1",
    "Alpha",
    "Auc",
    "Balanced",
    "Bootstrap",
    "Confusion",
    "Corrected",
    "Difference",
    "FleissKappa",
    "HorvitzThompson",
    "Interval",
    "Kappa",
    "McNemar",
    "Mean",
    "Ppi",
    "RoganGladen",
    "RunningRatio",
    "SignFlip",
    "Stratum",
    "WeightedUnit",
    "auc",
    "balanced_accuracy",
    "binomial_tail",
    "bootstrap",
    "cluster_bootstrap",
    "cluster_ratio",
    "cohen_kappa",
    "cohen_kappa_weighted_sample",
    "cross_table",
    "fleiss_kappa",
    "flip_alarm",
    "flip_rate",
    "gwet_ac1",
    "gwet_ac1_raters",
    "hash_rank",
    "hash_rank_sample",
    "hash_uniform",
    "holm",
    "ht_difference_poisson",
    "interval_of_draws",
    "judge_total",
    "judge_vs_human",
    "krippendorff_alpha",
    "macro_mean",
    "mcnemar",
    "mde_paired",
    "n_required_paired",
    "neyman_allocation",
    "norm_ppf",
    "paired_mean_diff",
    "paired_ratio_diff",
    "pearson",
    "plausible_totals",
    "ppi_mean",
    "quantile",
    "rogan_gladen",
    "signflip_exact_p",
    "signflip_p",
    "spearman",
    "stratified_difference",
    "stratified_rate",
    "t_ppf",
    "t_two_sided_p",
    "unpaired_mean_diff",
    "weighted_kappa",
    "wilson_interval",
]
