"""Is this judge fit, and is it still the one it was: an endpoint looked at from outside, and a frozen set of canaries.

`examine` looks and asks; `judge_of_judge` in `fitness` decides; `again` compares a judge with an earlier answer of
its own. Only `probing` and `asking` talk to an endpoint; the rest is pure.
"""

from judgekit.doctor.canaries import Canary, Flock, canaries
from judgekit.doctor.examine import examine
from judgekit.doctor.findings import Findings

__all__ = ["Canary", "Findings", "Flock", "canaries", "examine"]
