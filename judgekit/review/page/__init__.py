"""The review page: one HTML file to fill in with a browser, without a server, and the file that it hands back."""

from judgekit.review.page.reading import read
from judgekit.review.page.writing import write

__all__ = ["read", "write"]
