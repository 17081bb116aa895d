"""The questionnaire of a survey in a real browser, from the first click to the CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.python.chromium import Browser, needs_chromium
from wirelab.cli import main
from wirelab.survey.answers import columns, read_answers
from wirelab.survey.kit import Kit, write_kit
from wirelab.survey.score import score

pytestmark = needs_chromium

DRIVER = r"""
// What two participants do: one solves everything, one gives a part up.
window.confirm = () => true;
const seen = {over: [], small: [], messages: [], titles: [], alerts: []};
window.alert = text => seen.alerts.push(text);
const by = id => document.getElementById(id);
function look() {
  const over = document.documentElement.scrollWidth - innerWidth;
  seen.titles.push(document.querySelector("h1").textContent);
  if (over > 0) seen.over.push([document.querySelector("h1").textContent, over]);
  const targets = "main button, main input:not([type=radio]), main select, main .scale label";
  for (const target of document.querySelectorAll(targets))
    if (target.getBoundingClientRect().height < 24) seen.small.push(target.outerHTML);
}
function complain() { seen.messages.push(document.querySelector(".message").textContent); }
function person(occupation, gives, answer) {
  look();
  by("begin").click(); complain();
  by("occupation").value = occupation;
  by("begin").click();
  for (let library = 0; library < 2; library++) {
    for (let part = 0; part < 2; part++) {
      look(); by("start").click(); look();
      by("code").value = "wrong"; by("solved").click(); complain();
      if (gives === library * 2 + part) { by("give-up").click(); continue; }
      const name = orderOf(state.current.participant)[library];
      by("code").value = KIT.codes[name][part].toUpperCase() + " ";
      by("solved").click();
    }
    look(); by("answered").click(); complain();
    KIT.items.forEach((_, at) =>
      document.querySelector(`[name=q${at + 1}][value="${answer(library, at)}"]`).click());
    // A reload in the middle of a task loses nothing.
    state = stored(); show();
    by("answered").click();
  }
  look(); by("next").click();
}
person("developer", -1, (library, at) => library ? 1 : 3);
person("student", 2, (library, at) => at % 5);
({...seen, csv: csv()})
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_two_participants_from_the_first_click_to_the_csv(width: int, tmp_path: Path) -> None:
    kit = Kit.draw(2, seed=4)
    write_kit(tmp_path / "kit", kit)
    page = tmp_path / "kit" / "index.html"
    with Browser(tmp_path / "profile") as browser:
        tab = browser.open(page.as_uri(), width)
        seen = tab.evaluate(DRIVER)
    assert tab.logged == []
    assert not seen["over"], seen["over"]
    assert not seen["small"], seen["small"]
    assert not seen["alerts"], seen["alerts"]
    assert seen["messages"][0] == "Please choose an occupation."
    assert seen["messages"][1].startswith("This is not the code of this part.")
    assert "Statement 1 has no answer yet." in seen["messages"]
    assert seen["titles"][-1] == "Thank you"
    rows = list(csv.DictReader(seen["csv"].splitlines()))
    assert tuple(rows[0]) == columns()
    first, second = ({"http": "grpc", "grpc": "http"}[one] for one in kit.orders)
    assert [row["task"] for row in rows] == [kit.orders[0], first, kit.orders[1], second]
    assert [row["q1"] for row in rows] == ["3", "1", "0", "0"]
    assert [(row["part1"], row["part2"]) for row in rows[2:]] == [
        ("solved", "solved"),
        ("given up", "solved"),
    ]
    saved = tmp_path / "answers.csv"
    saved.write_text(seen["csv"], encoding="utf-8")
    found = score(read_answers([saved]))
    assert found.participants == 2
    assert main(["survey", "score", str(saved)]) == 0
