"""A log judged in waves of batches: all that can be asked now goes out together, and the next wave follows the answers.

Not to be taken for `batch`, which takes a log into a run's folder, whichever way the judge is asked.
"""

from judgekit.waves.intake import bring_in
from judgekit.waves.office import Office
from judgekit.waves.parcels import BATCHES, Parcel, Parcels
from judgekit.waves.passes import judge_in_waves, judge_the_rest
from judgekit.waves.posting import Posting

__all__ = ["BATCHES", "Office", "Parcel", "Parcels", "Posting", "bring_in", "judge_in_waves", "judge_the_rest"]
