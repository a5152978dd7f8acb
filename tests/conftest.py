"""Settings of the test run."""

from browser import chromium
from hypothesis import HealthCheck, settings

# The same examples every time, however slow or busy the machine is: a red run then always means the code.
settings.register_profile("judgekit", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("judgekit")

__all__ = ["chromium"]
