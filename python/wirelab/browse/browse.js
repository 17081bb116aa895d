// Refreshes the pages of `wirelab browse`. All text is set as text, never as HTML.
"use strict";

const PERIOD_MS = 2000;
const SLOW_MS = 6000;
const main = document.querySelector("main");

async function fetched(path) {
  const reply = await fetch(path, { cache: "no-store" });
  if (!reply.ok) throw new Error(`${path}: status ${reply.status}`);
  return reply.json();
}

function notice(text) {
  const shown = main.querySelector('[data-field="notice"]');
  if (shown.textContent !== text) shown.textContent = text;
  shown.hidden = text === "";
}

// Lines after the first stand below it, smaller.
function setLines(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren();
  text.split("\n").forEach((line, at) => {
    if (at === 0) return node.append(line);
    const below = document.createElement("span");
    below.className = "below";
    below.textContent = line;
    node.append(below);
  });
}

function setStatus(node, status) {
  if (node.dataset.status === status) return;
  node.dataset.status = status;
  node.textContent = status;
}

async function refreshIndex() {
  const { runs } = await fetched("/runs.json");
  const rows = [...main.querySelectorAll("tr[data-id]")];
  const ids = rows.map((row) => row.dataset.id);
  const same = ids.length === runs.length && runs.every((run) => ids.includes(run.id));
  if (!same) {
    // A reload would clear the choice.
    if (!main.querySelector("input:checked")) return location.reload();
    notice("The list has changed. Reload the page to see it. This clears your choice.");
  }
  for (const run of runs) {
    const row = rows.find((one) => one.dataset.id === run.id);
    if (!row) continue;
    setStatus(row.querySelector('[data-field="status"]'), run.status);
    for (const name of ["trials", "result", "experiment", "started"])
      setLines(row.querySelector(`[data-field="${name}"]`), run[name]);
  }
}

function cellRow(cell, heads) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = cell.name;
  row.append(name);
  [cell.trials, ...cell.figures].forEach((text, at) => {
    const column = document.createElement("td");
    column.className = "number";
    column.dataset.head = heads[at + 1];
    const value = document.createElement("div");
    setLines(value, text);
    column.append(value);
    row.append(column);
  });
  return row;
}

async function refreshRun() {
  const { id } = main.dataset;
  const state = await fetched(`/state/${id}`);
  if (state.status === "finished") return location.replace(`/report/${id}`);
  if (state.status !== "under way") return location.reload();
  const field = (name) => main.querySelector(`[data-field="${name}"]`);
  const bar = main.querySelector("progress");
  // The number of trials became known, or the first record could be read.
  if (!field("cells") || !field("progress") || (!bar && state.planned)) return location.reload();
  field("progress").textContent = state.progress;
  field("failed").textContent = state.failed ? `, ${state.failed} failed` : "";
  field("left").textContent = state.left ? `, ${state.left}` : "";
  field("current").textContent = state.current || "—";
  if (bar) {
    bar.max = state.planned;
    bar.value = Math.min(state.done, state.planned);
  }
  const body = field("cells");
  const heads = [...body.closest("table").querySelectorAll("thead th")].map((th) => th.textContent);
  body.replaceChildren(...state.cells.map((cell) => cellRow(cell, heads)));
}

const PAGES = { index: refreshIndex, run: refreshRun };
const refresh = PAGES[main.dataset.page];

async function loop() {
  let pause = PERIOD_MS;
  if (!document.hidden) {
    try {
      await refresh();
      if (main.dataset.silent) notice("");
      delete main.dataset.silent;
    } catch {
      pause = SLOW_MS;
      main.dataset.silent = "yes";
      notice("The server does not answer. The page shows the last known state.");
    }
  }
  setTimeout(loop, pause);
}

const live = main.dataset.page === "index" || main.dataset.status === "under way";
if (refresh && live) setTimeout(loop, PERIOD_MS);
