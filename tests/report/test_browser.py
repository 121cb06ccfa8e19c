"""The report in a real browser: the explorer answers, hostile text stays text, nothing is logged, it opens quickly."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from tests.report.browser import needs_browser, opened

from maskov.audit import audit
from maskov.audit import plan as plan_module
from maskov.models import load
from maskov.report.pages import write_report

NASTY = "a <script>document.title='owned'</script> cat <img src=x onerror=document.title='owned'> sat."
TITLE = "en-tiny as a random process"

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audits") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan_module.BUDGETS, "quick", 1.0)
        audit(load("en-tiny"), [NASTY, "the river runs under the old stone bridge."], folder)
    return write_report(folder)


def test_it_opens_at_once_and_logs_nothing(report: Path) -> None:
    with opened(report) as (page, logged):
        started = time.monotonic()
        page.reload()
        assert time.monotonic() - started < 2
        assert page.title() == TITLE
        assert page.locator("#explorer.ready").count() == 1
    assert logged == []
    assert report.stat().st_size < 8 * 2**20


def test_hostile_text_stays_text(report: Path) -> None:
    with opened(report) as (page, logged):
        page.locator("[data-part=chain]").select_option("0")
        told = page.locator("[data-part=text]").inner_text()
        assert "onerror" in told and "<" in told  # as the model's tokenizer spells it
        assert page.locator("img").count() == 0 and page.locator("script").count() == 2
        assert page.title() == TITLE
    assert logged == []


def test_a_script_would_have_been_seen(report: Path) -> None:
    """The twins: the same page without the policy and without escaping is caught by the tests above; with the policy
    a foreign script is stopped and the console says so.
    """
    page = report.read_text(encoding="utf-8").replace("</main>", "<script>document.title='owned'</script></main>")
    held, free = report.with_name("held.html"), report.with_name("free.html")
    held.write_text(page, encoding="utf-8")
    free.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page), encoding="utf-8")
    with opened(free) as (twin, _):
        assert twin.title() == "owned"
    with opened(held) as (twin, logged):
        assert twin.title() == TITLE
    assert any("Content Security Policy" in line for line in logged)


def test_the_slider_moves_through_time(report: Path) -> None:
    with opened(report) as (page, _):
        where, ring = page.locator("[data-part=where]"), page.locator("svg[data-part=map] > circle")
        assert "step 0 " in where.inner_text()
        before = ring.get_attribute("cx"), ring.get_attribute("cy")
        page.locator("[data-part=time]").focus()
        page.keyboard.press("End")
        assert "step 0 " not in where.inner_text()
        assert (ring.get_attribute("cx"), ring.get_attribute("cy")) != before
        assert page.locator("[data-part=text] mark").count() > 0  # what is new is marked
        page.keyboard.press("Home")
        assert "step 0 " in where.inner_text() and page.locator("[data-part=text] mark").count() == 0


def test_hover_and_click_read_a_state(report: Path) -> None:
    with opened(report) as (page, _):
        dot = page.locator('circle[data-chain="1"][data-time="3"]')
        assert not page.locator("[data-part=tip]").is_visible()
        dot.dispatch_event("pointerover")
        assert (
            page.locator("[data-part=tip]").is_visible() and "chain 1" in page.locator("[data-part=tip]").inner_text()
        )
        dot.dispatch_event("click")
        assert "chain 1" in page.locator("[data-part=where]").inner_text()
        assert page.locator("[data-part=time]").input_value() == "3"


def test_a_moment_jumps_to_its_chain_and_step(report: Path) -> None:
    with opened(report) as (page, _):
        button = page.locator("button[data-chain]").last
        chain, step = button.get_attribute("data-chain"), int(button.get_attribute("data-step"))
        button.click()
        told = page.locator("[data-part=where]").inner_text()
        assert f"chain {chain}" in told
        shown = int(re.search(r"step ([\d,]+)", told)[1].replace(",", ""))  # type: ignore[index]
        steps = page.evaluate("JSON.parse(document.getElementById('explorer-data').textContent).chains[0].steps")
        assert shown == min(steps, key=lambda s: abs(s - step))


def test_the_map_answers_the_keyboard(report: Path) -> None:
    with opened(report) as (page, _):
        page.locator("svg[data-part=map]").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("[data-part=time]").input_value() == "1"
        page.keyboard.press("ArrowDown")
        assert page.locator("[data-part=chain]").input_value() == "1"


def test_colours_follow_the_choice(report: Path) -> None:
    with opened(report) as (page, _):
        colours = {}
        for choice in ("temperature", "time"):
            page.locator("[data-part=colour]").select_option(choice)
            colours[choice] = page.locator("[data-part=legend] li").all_inner_texts()
        assert len(colours["temperature"]) > 1 and "first tenth" in colours["time"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(report: Path, scheme: str) -> None:
    """WCAG AA: a contrast of 4.5 for the page's text, in both schemes."""
    with opened(report, color_scheme=scheme) as (page, _):
        read = (
            "e => { const s = getComputedStyle(e); return [s.color, getComputedStyle(document.body).backgroundColor] }"
        )
        for part in ("main p", ".soft", "a[href]"):
            ink, paper = (_luminance(c) for c in page.locator(part).first.evaluate(read))
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, part


def _luminance(colour: str) -> float:
    parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_control_and_figure_has_a_name(report: Path) -> None:
    with opened(report) as (page, _):
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button,select,input,svg[role]')].filter(e => !e.getAttribute('aria-label')"
            " && !e.closest('label') && !e.textContent.trim()).map(e => e.outerHTML.slice(0, 80))"
        )
        assert unnamed == []
        headings = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => e.tagName)")
        assert headings[0] == "H1" and headings.count("H1") == 1


def test_print_hides_the_controls(report: Path) -> None:
    with opened(report) as (page, _):
        page.emulate_media(media="print")
        assert not page.locator(".controls").is_visible()
        assert page.locator("svg[data-part=map]").is_visible()
