"""A real, headless Chromium for tests of pages.

Without one the tests that ask for it are skipped and say so; where JUDGEKIT_NEEDS_BROWSER is set, as in `.ci/run`, they
fail instead: a green CI is not a skipped one.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATH = next(filter(None, map(shutil.which, _NAMES)), None)
_MISSING = "no Chromium here, so no page is tried in a browser; install one (Debian: apt-get install chromium)"


def skip_without_browser() -> None:
    """For the top of a module that uses `chromium`: one line in the summary, however many tests it has."""
    if _PATH is None and not os.environ.get("JUDGEKIT_NEEDS_BROWSER"):
        pytest.skip(_MISSING, allow_module_level=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser, closed after the module's last test."""
    assert _PATH, _MISSING
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - as slow as the browser, and only for it

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_PATH)
        yield browser
        browser.close()


class Visit:
    """One page, opened from its file; whatever it did that a page must not do is in `wrongs`, and so are its questions,
    which are answered with OK, or with Cancel when `agrees` is set to False."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        self.wrongs: list[str] = []
        self.agrees = True
        page.set_default_timeout(5_000)
        page.on("dialog", self._answer)
        page.on("pageerror", lambda error: self.wrongs.append(f"error {error}"))
        page.on("console", lambda line: self.wrongs.append(f"{line.type} {line.text}"))
        page.on("popup", lambda other: self.wrongs.append(f"popup {other.url}"))
        page.on("request", lambda request: self._asked(request.url))
        self.file = path.as_uri()
        page.goto(self.file)

    def _answer(self, dialog: Any) -> None:
        self.wrongs.append(f"dialog {dialog.message or dialog.type}")
        if self.agrees:
            dialog.accept()
        else:
            dialog.dismiss()

    def _asked(self, url: str) -> None:
        if url != self.file and not url.startswith("blob:"):
            self.wrongs.append(f"request {url}")

    def begin(self, reviewer: str = "Ada") -> None:
        self.page.get_by_role("textbox", name="Your name").fill(reviewer)
        self.page.keyboard.press("Enter")
        self.page.locator("#guide").wait_for(state="hidden")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).text_content()

    def pressed(self) -> list[str]:
        """The names of all choices that are made, as a screen reader says them."""
        return re.findall(r'button "([^"]*)" \[pressed\]', self.page.locator("body").aria_snapshot())

    def download(self, folder: Path) -> Path:
        with self.page.expect_download() as found:
            self.page.get_by_role("button", name="Download").click()
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path


@contextmanager
def visit(browser: Any, path: Path, *, first: str = "", frozen: bool = False, **context: Any) -> Iterator[Visit]:
    """A page in a browser profile of its own; at the end nothing may have gone wrong.

    `first` is a script that runs before the page's own. `frozen`: the page's clock goes on only when it is told to.
    """
    profile = browser.new_context(**context)
    if first:
        profile.add_init_script(first)
    if frozen:
        profile.clock.install(time=0)
        profile.clock.pause_at(1)
    there = Visit(profile.new_page(), path)
    yield there
    profile.close()
    assert there.wrongs == []
