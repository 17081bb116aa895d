"""The page of a run under a reader's hands: real clicks, keys and pointer moves in a browser."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.python.chromium import Browser, Tab, needs_chromium
from tests.python.report import test_report_runtime as runtime
from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    point,
    trial,
    trials,
    users,
    write_run,
)
from wirelab.report.page import write_page
from wirelab.trial import series

pytestmark = needs_chromium

WORLD = World((REST, GRPC), (14, 150_000), (users(1), users(32)), repeats=3, spread=0.05)
CELLS = "#every-cell table"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with every kind of chart."""
    folder = tmp_path_factory.mktemp("page") / "run"
    return write_page(runtime.write_sampled_run(folder, trials(WORLD))).as_uri()


def data(tab: Tab) -> Any:
    """What the charts draw."""
    return json.loads(tab.evaluate('document.getElementById("data").textContent'))


def column(tab: Tab, number: int) -> list[str]:
    """A column of the table of cells, as it is shown."""
    cells = f"{CELLS} tbody tr:not([hidden]) > :nth-child({number})"
    found: list[str] = tab.evaluate(
        f"[...document.querySelectorAll({json.dumps(cells)})].map(one => one.innerText)"
    )
    return found


def labels(tab: Tab) -> list[str]:
    """What the charts on the first screen are of."""
    found: list[str] = tab.evaluate(
        '[...document.querySelectorAll(".charts svg")].map(one => one.getAttribute("aria-label"))'
    )
    return found


def link(tab: Tab) -> str:
    """The page's address with its choices."""
    found: str = tab.evaluate("location.href")
    return found


def test_the_first_screen_has_answer_badges_and_picture(browser: Browser, page: str) -> None:
    tab = browser.open(page, 1280, 900)
    bottoms = tab.evaluate(
        """[".lead", ".badges", ".charts figure"].map(
        one => document.querySelector(one).getBoundingClientRect().bottom)"""
    )
    assert max(bottoms) <= 900
    assert tab.evaluate('document.querySelector(".lead").textContent').count(".") >= 1
    assert tab.evaluate('getComputedStyle(document.querySelector(".fallback")).display') == "none"
    assert len(labels(tab)) == 2
    assert tab.logged == []


def test_tables_sort_and_filter_and_the_link_keeps_both(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    tab.click("#every-cell summary")
    assert len(column(tab, 1)) == 8
    tab.click(f"{CELLS} th:nth-child(4) button")
    shown = [runtime_number(text) for text in column(tab, 4)]
    assert shown == sorted(shown, reverse=True)
    assert (
        tab.evaluate(f'document.querySelector("{CELLS} th:nth-child(4)").ariaSort') == "descending"
    )
    tab.click(f"{CELLS} th:nth-child(4) button")
    shown = [runtime_number(text) for text in column(tab, 4)]
    assert shown == sorted(shown)
    tab.click("#every-cell .bar input")
    tab.type("grpc 32")
    assert len(column(tab, 1)) == 2
    assert tab.evaluate('document.querySelector("#every-cell .count").textContent') == "2 of 8 rows"
    again = browser.open(link(tab))
    assert column(again, 4) == column(tab, 4)
    assert again.evaluate('document.querySelector("#every-cell details").open') is True
    assert again.evaluate('document.querySelector("#every-cell .bar input").value') == "grpc 32"


def runtime_number(text: str) -> float:
    """``12.3 k/s`` as a number."""
    found = re.match(r"≥? ?([\d.,]+) ?(k|M)?/s", text)
    assert found is not None, text
    factor = {"k": 1e3, "M": 1e6, None: 1.0}[found[2]]
    return float(found[1].replace(",", "")) * factor


def test_a_table_is_copied_as_csv_and_as_markdown(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.call("Browser.grantPermissions", permissions=allowed)
    tab.click("#every-cell summary")
    tab.click('#every-cell button[aria-label^="Copy as CSV"]')
    tab.evaluate("new Promise(done => setTimeout(done, 200))")
    rows = list(csv.DictReader(io.StringIO(tab.evaluate("navigator.clipboard.readText()"))))
    assert [row["stack"] for row in rows] == column(tab, 1)
    assert rows[0]["message"] == "Hello 14 B"
    assert "; " in rows[0]["calls/s"]
    tab.click('#every-cell button[aria-label^="Copy as Markdown"]')
    tab.evaluate("new Promise(done => setTimeout(done, 200))")
    lines = tab.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].startswith("| stack | message | load | calls/s |")
    assert set(lines[1]) == {"|", "-"}
    assert len(lines) == 10


def test_figure_and_message_are_chosen_with_the_keyboard(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    tab.evaluate('document.querySelectorAll(".controls select")[0].focus()')
    tab.press("ArrowDown")
    tab.evaluate('document.querySelectorAll(".controls select")[1].focus()')
    tab.press("ArrowDown")
    assert re.search(r"#figure=response_p50&group=0$", link(tab))
    assert labels(tab) == ["Hello 14 B. Arrow keys read the values."]
    drawn = tab.evaluate('document.querySelector(".charts svg").textContent')
    assert "response p50" in drawn
    again = browser.open(link(tab))
    assert labels(again) == labels(tab)
    assert again.evaluate('document.querySelector(".charts svg").textContent') == drawn


def test_the_pointer_and_the_arrow_keys_read_values(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    place = tab.evaluate(
        """(() => { const b = document.querySelector(".charts svg circle").getBoundingClientRect();
        return [b.left + b.width / 2, b.top + b.height / 2]; })()"""
    )
    assert tab.evaluate('document.querySelector(".tip").hidden') is True
    tab.move(*place)
    shown = tab.evaluate('document.querySelector(".tip").innerText')
    assert tab.evaluate('document.querySelector(".tip").hidden') is False
    assert "successful calls: " in shown
    assert "95 %: " in shown
    assert "3 trials" in shown
    tab.move(2, 2)
    assert tab.evaluate('document.querySelector(".tip").hidden') is True
    tab.evaluate('document.querySelector(".charts svg").focus()')
    texts = set()
    for _ in range(4):
        tab.press("ArrowRight")
        texts.add(tab.evaluate('document.querySelector(".tip").innerText'))
    assert len(texts) == 4
    tab.press("Escape")
    assert tab.evaluate('document.querySelector(".tip").hidden') is True


@pytest.mark.parametrize("view", ["latency", "time", "heat"])
def test_every_view_draws_what_the_data_hold_and_its_link_reopens_it(
    browser: Browser, page: str, view: str
) -> None:
    tab = browser.open(page)
    tab.click(f'.controls [data-control="{view}"]')
    assert f"view={view}" in link(tab)
    (label,) = labels(tab)
    assert label.startswith("Hello 14 B, 1 user")
    cells = [cell for cell in data(tab)["cells"] if cell["setting"] == "Hello 14 B, 1 user"]
    count = tab.evaluate(
        'document.querySelectorAll(".charts svg [opacity], [fill-opacity]").length'
    )
    if view == "latency":
        assert count == sum(len(cell["curves"]) for cell in cells) == 6
    if view == "time":
        assert count == sum(len(cell["lines"]) for cell in cells) == 6
    if view == "heat":
        lines = [line for cell in cells for trial in cell["lines"] for line in trial["v"]]
        assert count == sum(len(line) - 2 for line in lines if line[0] == 0)
    tab.evaluate("""(() => { const s = document.querySelector(".controls select");
        s.value = "1"; s.dispatchEvent(new Event("change")); })()""")
    (label,) = labels(tab)
    assert label.startswith("Hello 14 B, 32 users")
    assert labels(browser.open(link(tab))) == [label]
    tab.click(".stacks button")
    fewer = tab.evaluate(
        'document.querySelectorAll(".charts svg [opacity], [fill-opacity]").length'
    )
    assert fewer > 0
    assert "off=0" in link(tab)
    assert tab.logged == []


@pytest.mark.parametrize(
    ("errors", "span", "opacities"),
    [
        ((0.0, 0.0, 0.0), "from 0/s to 0/s.", {"0.06"}),
        ((5.0, 5.0, 5.0), "from 5.00/s to 5.00/s.", {"0.53"}),
        ((0.0, 5.0, 10.0), "from 0/s to 10.0/s.", {"0.06", "0.53", "1.00"}),
        ((0.0, 1.0, 100.0), "from 0/s to 100/s, by factors.", {"0.06", "1.00"}),
    ],
)
def test_zeros_and_equal_values_have_a_heat_map(
    browser: Browser,
    tmp_path: Path,
    errors: tuple[float, ...],
    span: str,
    opacities: set[str],
) -> None:
    one = trial(point(REST), 0, 0, WORLD)
    folder = write_run(tmp_path / "run", [one])
    over_time = series.Series()
    for second, value in enumerate(errors):
        over_time.add(second * 1_000_000_000, {"errors_per_s": value})
    over_time.open_window(0)
    over_time.write(folder / "trials" / one.id / series.NAME)
    tab = browser.open(f"{write_page(folder).as_uri()}#view=heat&over=errors")
    assert tab.evaluate('document.querySelector("#explorer .note").textContent').endswith(span)
    drawn = tab.evaluate(
        """[...document.querySelectorAll("[fill-opacity]")]
        .map(one => one.getAttribute("fill-opacity"))"""
    )
    assert len(drawn) == 3
    assert set(drawn) == opacities


def _background(tab: Tab) -> int:
    """Brightness of the page, 0 to 765."""
    found = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", found)[:3]))


def test_dark_follows_the_system_until_the_reader_chooses(browser: Browser, page: str) -> None:
    tab = browser.open(page, scheme="dark")
    assert _background(tab) < 120
    tab.click("#tools button")
    assert tab.evaluate('document.querySelector("#tools button").textContent') == "Theme: Light"
    assert _background(tab) > 700
    tab.prefer("light")
    tab.click("#tools button")
    assert _background(tab) < 120
    tab.click("#tools button")
    assert _background(tab) > 700


def test_a_phone_scrolls_down_only(browser: Browser, page: str) -> None:
    tab = browser.open(page, 390, 800)
    tab.evaluate('document.querySelectorAll("details").forEach(one => { one.open = true; })')
    for view in ("load", "latency", "time", "heat"):
        tab.click(f'.controls [data-control="{view}"]')
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, view
        right = tab.evaluate(
            """Math.max(...[...document.querySelectorAll("button, select, input, .charts svg")]
            .map(one => one.getBoundingClientRect().right))"""
        )
        assert right <= 390, view


def test_tab_goes_through_the_page_in_its_order_and_is_seen(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    found = []
    for _ in range(22):
        tab.press("Tab")
        found.append(
            tab.evaluate(
                """(() => { const e = document.activeElement, b = e.getBoundingClientRect();
                const all = [...document.querySelectorAll("*")];
                return [all.indexOf(e), b.width > 0 && b.bottom > 0 && b.top < innerHeight,
                getComputedStyle(e).outlineStyle,
                (e.textContent || e.ariaLabel || "").trim()]; })()"""
            )
        )
    places = [one[0] for one in found]
    assert places == sorted(set(places))
    assert all(seen for _, seen, _, _ in found), found
    assert all(outline != "none" for _, _, outline, _ in found), found
    texts = [one[3] for one in found]
    assert texts[0] == "Skip to the content"
    assert texts[1].startswith("Theme")
    assert "By load" in texts


def test_a_link_of_the_contents_opens_its_section(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    assert tab.evaluate('document.querySelector("#checks details").open') is False
    tab.click('nav a[href="#checks"]')
    assert tab.evaluate('document.querySelector("#checks details").open') is True
    assert link(tab).endswith("#checks")
    assert 0 <= tab.evaluate('document.querySelector("#checks").getBoundingClientRect().top') < 900
    again = browser.open(f"{page}#machine-and-versions")
    assert again.evaluate('document.querySelector("#machine-and-versions details").open') is True


@pytest.mark.parametrize(
    "nonsense",
    [
        "#view=constructor&setting=length&group=__proto__&figure=x&t0=99d~&off=zz&at=%3Cb%3E",
        "#100%",
        "#at=%E0%A4%A&&=",
    ],
)
def test_a_link_with_nonsense_shows_the_page_as_it_is(
    browser: Browser, page: str, nonsense: str
) -> None:
    tab = browser.open(f"{page}{nonsense}")
    assert labels(tab) == labels(browser.open(page))
    assert tab.logged == []


def test_print_shows_what_is_folded(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    tab.evaluate('dispatchEvent(new Event("beforeprint"))')
    assert tab.evaluate('document.querySelectorAll("details:not([open])").length') == 0
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.evaluate('getComputedStyle(document.querySelector(".tools")).display') == "none"
    assert tab.evaluate('getComputedStyle(document.querySelector(".bar")).display') == "none"
    assert _background(tab) > 700
    tab.evaluate('dispatchEvent(new Event("afterprint"))')
    assert tab.evaluate('document.querySelector("#checks details").open') is False


BYTES_MAX, OPENED_CPU_S_MAX = 5_000_000, 2.0
"""Of the page of 1,008 trials. CPU time, because a busy machine's clock measures the others."""


def large_run(folder: Path) -> Path:
    """42 stacks under 8 settings, each in 3 trials: copies of one trial whose rates differ."""
    stacks = [
        f"{binding}@{language}{close}"
        for binding in ("rest", "grpc", "soap")
        for language in ("rust", "go", "java", "python", "node", "dotnet", "cpp")
        for close in ("", "?connection=close")
    ]
    settings = [(size, load) for size in (14, 150_000) for load in (1, 8, 32, 128)]
    one = trial(point(REST), 0, 0, WORLD)
    every = [
        replace(
            one,
            id=f"t-{place}-{number}-{repeat}",
            point=point(stack, size, users(load)),
            repeat=repeat,
            result=replace(
                one.result,
                rate_per_s=load * (1000.0 + 20.0 * place) * (1 + 0.01 * repeat),
                cpu_s=(one.result.cpu_s or 1.0) * (1 + 0.02 * ((place + repeat) % 5)),
            ),
        )
        for place, stack in enumerate(stacks)
        for number, (size, load) in enumerate(settings)
        for repeat in range(3)
    ]
    run = runtime.write_sampled_run(folder, every[:1])
    kept = (run / "trials" / every[0].id / series.NAME).read_bytes()
    write_run(folder, every)
    for each in every:
        (run / "trials" / each.id / series.NAME).write_bytes(kept)
    return run


@pytest.mark.timeout(1200)
def test_the_page_of_1008_trials_is_small_and_opens_fast(browser: Browser, tmp_path: Path) -> None:
    file = write_page(large_run(tmp_path / "run"))
    assert file.stat().st_size <= BYTES_MAX
    tab = browser.open(file.as_uri())
    assert sum(cell["trials"] for cell in data(tab)["cells"]) == 1008
    assert tab.cpu_s() <= OPENED_CPU_S_MAX
    assert tab.logged == []


AUDIT = (Path(__file__).parents[1] / "page_audit.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_names_heads_and_headings_meet_wcag_aa(
    browser: Browser, page: str, scheme: str
) -> None:
    tab = browser.open(page, scheme=scheme)
    tab.evaluate('document.querySelectorAll("details").forEach(one => { one.open = true; })')
    assert tab.evaluate(AUDIT) == []


def test_the_audit_can_fail(browser: Browser, page: str) -> None:
    tab = browser.open(page)
    tab.evaluate(
        """(() => { document.querySelector(".lead").style.color = "#aaa";
        document.querySelector("th").removeAttribute("scope");
        document.querySelector("#tools button").textContent = "";
        document.querySelector("h1").remove(); })()"""
    )
    kinds = {text.split(":")[0].split(" ")[0] for text in tab.evaluate(AUDIT)}
    assert {"contrast", "no", "main"} <= kinds
