"""Is this judge fit, and is it still the one it was: an endpoint looked at from outside, and a frozen set of canaries.

`examine` looks and asks, and `fitness` decides; `drift` asks again what a judge was asked, and `comparing` decides.
Only `asking`, `probing` and `drift` talk to an endpoint; what decides is pure.
"""

from judgekit.doctor.canaries import Canary, Flock, canaries
from judgekit.doctor.examine import examine
from judgekit.doctor.findings import Findings

__all__ = ["Canary", "Findings", "Flock", "canaries", "examine"]
