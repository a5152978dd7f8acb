"""Asking a judge: backends, the store, retries, cassettes. Nothing here knows what a claim is.

`Judge` is the whole of it from outside: typed questions go in, typed answers come out, each asked and paid for once.
"""

from judgekit.judge.budget import Budget
from judgekit.judge.judge import Judge

__all__ = ["Budget", "Judge"]
