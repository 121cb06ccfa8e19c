"""The report in a real browser: hostile text stays text, nothing is logged, it opens quickly."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from maskov.audit import audit
from maskov.audit import plan as plan_module
from maskov.models import load
from maskov.report.pages import write_report

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--log-level=0"]
NASTY = "a <script>document.title='owned'</script> cat <img src=x onerror=document.title='owned'> sat."

pytestmark = pytest.mark.skipif(BROWSER is None, reason="NO BROWSER HERE: the report was not opened; install chromium")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audits") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan_module.BUDGETS, "quick", 1.0)
        audit(load("en-tiny"), [NASTY, "the river runs under the old stone bridge."], folder)
    return write_report(folder)


def test_the_page_in_a_browser(report: Path) -> None:
    assert BROWSER is not None
    command = [BROWSER, "--headless", *QUIET, "--dump-dom", f"file://{report}"]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert time.monotonic() - started < 60
    assert "<title>en-tiny as a random process</title>" in done.stdout  # nothing renamed the page
    assert "onerror" in done.stdout and "<img" not in done.stdout
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_script_would_have_been_seen(report: Path) -> None:
    """The twin: the same page without escaping is caught by the test above."""
    assert BROWSER is not None
    page = report.read_text(encoding="utf-8").replace("default-src 'none'", "default-src * 'unsafe-inline'")
    twin = report.with_name("twin.html")
    twin.write_text(page.replace("</main>", "<script>document.title='owned'</script></main>"), encoding="utf-8")
    command = [BROWSER, "--headless", *QUIET, "--dump-dom", f"file://{twin}"]
    assert "<title>owned</title>" in subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
