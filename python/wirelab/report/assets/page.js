// What makes the page interactive: tables that sort, filter and copy, links that hold the choices, and
// the theme; charts.js stands before it where there are charts. It loads nothing, and the page is whole
// without it.

const root = document.documentElement;
root.classList.add("with-script");

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const live = make("div", {class: "spoken", role: "status", "aria-live": "polite"});
const say = text => { live.textContent = text; };

// ---- Choices in the link: "#checks", or "#at=checks&figure=rate&t3=2d~grpc".

const choices = {};

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function readLink() {
  for (const key of Object.keys(choices)) delete choices[key];
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) choices.at = decoded(hash);
  else for (const [key, value] of new URLSearchParams(hash)) choices[key] = value;
}

function choose(key, value) {
  if (value === "" || value === null || value === undefined) delete choices[key];
  else choices[key] = String(value);
  const keys = Object.keys(choices);
  const plain = keys.length === 1 && keys[0] === "at";
  const hash = plain ? encodeURIComponent(choices.at) : new URLSearchParams(choices).toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

function openSection(anchor) {
  const target = anchor && document.getElementById(anchor);
  if (!target) return;
  for (let part = target; part; part = part.parentElement)
    if (part.tagName === "DETAILS") part.open = true;
  const fold = target.querySelector(":scope > details.fold");
  if (fold) fold.open = true;
  target.scrollIntoView();
}

// ---- Copying

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    const area = make("textarea", {readonly: "", "aria-label": what});
    area.value = text;
    const close = make("button", {type: "button", onclick: () => dialog.close()}, "Close");
    const dialog = make("dialog", {"aria-label": `${what}: copy it from here`},
      make("p", {}, `${what}: copy it from here.`), area, make("p", {}, close));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }
}

const asCsv = rows => rows.map(row => row.map(value => {
  // A spreadsheet must not take a value for a formula.
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(value) ? `'${value}` : value;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}).join(",")).join("\n") + "\n";

const asMarkdown = rows => rows.map((row, at) => {
  const line = `| ${row.map(value => value.replaceAll("|", "\\|")).join(" | ")} |`;
  return at ? line : `${line}\n|${row.map(() => "---|").join("")}`;
}).join("\n") + "\n";

// ---- Numbers

const FACTORS = {
  "/s": 1, "k/s": 1e3, "M/s": 1e6, ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12,
  B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
};

// The number that a cell starts with, in the smallest unit; null where it starts with none.
function numberIn(text) {
  const found = /^(?:all |good |at least )?[≥~]?\s*([−+-]?)([\d,]+(?:\.\d+)?)\s*([kM]?\/s|[µnm]?s|min|h|[kMGT]?B)?(?![\w@])/.exec(text);
  if (!found) return null;
  const value = Number(found[2].replaceAll(",", "")) * (FACTORS[found[3]] ?? 1);
  return "−-".includes(found[1]) && found[1] ? -value : value;
}

// ---- Tables

function cellText(cell) {
  const parts = [...cell.querySelectorAll(".below")].map(part => part.textContent.trim());
  const copyOf = cell.cloneNode(true);
  for (const part of copyOf.querySelectorAll(".below, button")) part.remove();
  return [copyOf.textContent.trim(), ...parts].join("; ").replace(/\s+/g, " ");
}

function equipTable(table, index) {
  const heads = [...table.querySelectorAll("thead th")];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const names = heads.map(head => head.textContent.trim() || "name");
  const key = `t${index}`;
  const label = table.caption?.textContent
    || table.closest("section")?.querySelector("h2")?.textContent || "table";
  let sorted = null;
  let words = "";

  function remember() {
    const way = sorted ? `${sorted.column}${sorted.down ? "d" : "u"}` : "";
    choose(key, way || words ? `${way}~${words}` : "");
  }
  function sort(column, down) {
    sorted = {column, down};
    const keyed = rows.map((row, at) => {
      const text = row.cells[column].textContent.trim();
      return {row, at, text, number: numberIn(text)};
    });
    const numeric = keyed.filter(one => one.number !== null).length * 2 > keyed.length;
    keyed.sort((a, b) => {
      if (numeric) {
        if (a.number === null || b.number === null)
          return (a.number === null) - (b.number === null) || a.at - b.at;
        return (down ? b.number - a.number : a.number - b.number) || a.at - b.at;
      }
      const order = a.text.localeCompare(b.text, "en", {numeric: true});
      return (down ? -order : order) || a.at - b.at;
    });
    body.append(...keyed.map(one => one.row));
    order.value = `${column}.${down ? "d" : "u"}`;
    heads.forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }
  function unsort() {
    sorted = null;
    order.value = "";
    body.append(...rows);
    heads.forEach(head => head.removeAttribute("aria-sort"));
  }
  function filter(text) {
    words = text;
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const has = row.textContent.toLowerCase();
      row.hidden = !parts.every(part => has.includes(part));
      shown += !row.hidden;
    }
    count.textContent = parts.length ? `${shown} of ${rows.length} rows` : "";
  }
  const matrix = () => [names, ...[...body.rows].filter(row => !row.hidden)
    .map(row => [...row.cells].map(cellText))];

  const count = make("span", {class: "count", "aria-live": "polite"});
  const bar = make("div", {class: "bar", role: "group", "aria-label": `Tools: ${label}`}, count);
  if (rows.length > 5) {
    const input = make("input", {
      type: "search", placeholder: "Filter rows", "aria-label": `Filter rows: ${label}`,
      oninput: () => { filter(input.value); remember(); },
    });
    bar.append(input);
    table.filterInput = input;
  }
  // On a phone a long table is a list without heads to click.
  const order = make("select", {class: "narrow", "aria-label": `Sort: ${label}`, onchange: () => {
    const [column, way] = order.value.split(".");
    if (order.value) sort(Number(column), way === "d"); else unsort();
    remember();
  }}, make("option", {value: ""}, "Sort by …"));
  names.forEach((name, column) => order.append(
    make("option", {value: `${column}.u`}, `${name} ↑`), make("option", {value: `${column}.d`}, `${name} ↓`)));
  if (rows.length > 1 && table.classList.contains("long")) bar.append(order);
  for (const [name, form] of [["Markdown", asMarkdown], ["CSV", asCsv]])
    bar.append(make("button", {
      type: "button", "aria-label": `Copy as ${name}: ${label}`,
      onclick: () => copy(form(matrix()), `${label}, as ${name}`),
    }, `Copy ${name}`));
  table.closest(".sheet").prepend(bar);

  if (rows.length > 1) heads.forEach((head, column) => {
    const button = make("button", {type: "button", class: "sort", onclick: () => {
      sort(column, sorted?.column === column ? !sorted.down : head.classList.contains("number"));
      remember();
      say(`${label}: sorted by ${names[column]}, ${sorted.down ? "descending" : "ascending"}`);
    }}, names[column]);
    head.replaceChildren(button);
  });

  return () => {
    const [way = "", ...rest] = (choices[key] ?? "").split("~");
    const found = /^(\d+)([ud])$/.exec(way);
    if (found && Number(found[1]) < heads.length) sort(Number(found[1]), found[2] === "d");
    else if (sorted) unsort();
    words = rest.join("~");
    if (table.filterInput) table.filterInput.value = words;
    filter(words);
  };
}

// ---- Theme

function themeButton() {
  const names = {"": "Automatic", light: "Light", dark: "Dark"};
  const button = make("button", {type: "button"});
  function set(theme) {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    button.textContent = `Theme: ${names[theme]}`;
  }
  let stored = "";
  try { stored = localStorage.getItem("wirelab-theme") ?? ""; } catch { /* not kept, then */ }
  set(stored in names ? stored : "");
  button.addEventListener("click", () => {
    const order = Object.keys(names);
    const next = order[(order.indexOf(root.dataset.theme ?? "") + 1) % order.length];
    set(next);
    try { localStorage.setItem("wirelab-theme", next); } catch { /* not kept, then */ }
  });
  return button;
}

// ---- Start

const updates = [];
document.body.append(live);
const tools = document.getElementById("tools");
tools.append(themeButton(), make("button", {type: "button", onclick: () => copy(location.href, "Link to this view")}, "Copy link"));
tools.hidden = false;
document.querySelectorAll(".sheet table").forEach((table, index) => updates.push(equipTable(table, index)));
const stored = document.getElementById("data");
if (stored) updates.push(explorer(document.getElementById("explorer"), JSON.parse(stored.textContent)));

function follow() {
  readLink();
  for (const update of updates) update();
  openSection(choices.at);
}
addEventListener("hashchange", follow);
for (const fold of document.querySelectorAll("details.fold"))
  fold.querySelector("summary").addEventListener("click", () => {
    const id = fold.parentElement.id;
    // The state before the click: it opens now.
    if (!fold.open) choose("at", id); else if (choices.at === id) choose("at", "");
  });
for (const link of document.querySelectorAll('a[href^="#"]'))
  link.addEventListener("click", event => {
    const anchor = link.getAttribute("href").slice(1);
    if (anchor === "content") return;
    event.preventDefault();
    choose("at", anchor);
    openSection(anchor);
    const title = document.getElementById(anchor)?.querySelector("summary, h2");
    title?.setAttribute("tabindex", title.tagName === "SUMMARY" ? "0" : "-1");
    title?.focus({preventScroll: true});
  });
addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll("details:not([open])")) {
    closed.dataset.closed = "";
    closed.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-closed]")) {
    delete opened.dataset.closed;
    opened.open = false;
  }
});
follow();
