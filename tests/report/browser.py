"""A real headless browser for tests: which one, and a page that keeps what it logs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
# Set where the suite must not pass without a browser.
REQUIRED = bool(os.environ.get("MASKOV_BROWSER_REQUIRED"))

needs_browser = pytest.mark.skipif(
    BROWSER is None and not REQUIRED, reason="NO BROWSER HERE: pages were not opened; install chromium"
)


@contextmanager
def opened(file: Path, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """The page of a file, and the list of everything that it logs or fails at."""
    from playwright.sync_api import sync_playwright

    assert BROWSER is not None, "a browser is required here and none was found"
    logged: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 900}, **options)
        page.on("console", lambda message: logged.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: logged.append(f"error: {error}"))
        page.on("request", lambda request: logged.extend([] if request.url.startswith("file:") else [request.url]))
        page.goto(f"file://{file}")
        yield page, logged
        browser.close()
