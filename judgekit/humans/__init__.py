"""What human labels say of a judged run: numbers from records. Pure: no network, no clock, no files."""

from judgekit.humans.agreement import (
    MEASURES,
    Agreement,
    Ceiling,
    Measure,
    Pair,
    Rated,
    agreement_of,
    ceiling_of,
    pairs_of,
)
from judgekit.humans.calibration import Bin, Calibration, Guess, calibration_of
from judgekit.humans.checked import NOT_SUPPORTED, TOO_COARSE, Checked, Share, is_share, shares_of
from judgekit.humans.corrected import CorrectedScore, Estimate, corrected_score
from judgekit.humans.outcome import (
    Disagreement,
    Outcome,
    agreements,
    at_odds,
    calibration,
    is_supported,
    weights_of,
)
from judgekit.humans.planning import Spread, labels_to_halve
from judgekit.humans.splitting import Splitting, WholeAnswer, splitting_of
from judgekit.humans.transferred import Transferred, transferred

__all__ = [
    "MEASURES",
    "NOT_SUPPORTED",
    "TOO_COARSE",
    "Agreement",
    "Bin",
    "Calibration",
    "Ceiling",
    "Checked",
    "CorrectedScore",
    "Disagreement",
    "Estimate",
    "Guess",
    "Measure",
    "Outcome",
    "Pair",
    "Rated",
    "Share",
    "Splitting",
    "Spread",
    "Transferred",
    "WholeAnswer",
    "agreement_of",
    "agreements",
    "at_odds",
    "calibration",
    "calibration_of",
    "ceiling_of",
    "corrected_score",
    "is_share",
    "is_supported",
    "labels_to_halve",
    "pairs_of",
    "shares_of",
    "splitting_of",
    "transferred",
    "weights_of",
]
