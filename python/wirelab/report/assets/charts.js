// The interactive charts: figures by load, the latency distribution, values over time, a heat map.
// Their data are those of explorer.py. page.js follows, and its functions are used here.

const SVG = "http://www.w3.org/2000/svg";

function draw(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

function digits(value) {
  if (!value) return "0";
  const size = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  const places = Math.max(0, 2 - size);
  return value.toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places});
}

const STEPS = {
  "1/s": [[1e6, "M/s"], [1e3, "k/s"], [1, "/s"]],
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
  B: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  "": [[1, ""]],
};
const stepOf = (value, unit) =>
  STEPS[unit].find(([divisor]) => value >= divisor * 0.9995) ?? STEPS[unit].at(-1);
function quantity(value, unit) {
  const [divisor, name] = stepOf(Math.abs(value), unit);
  return `${digits(value / divisor)}${name.startsWith("/") || !name ? "" : " "}${name}`;
}

const H = 300, LEFT = 62, RIGHT = 14, TOP = 30, BOTTOM = 46;

function niceTicks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map(one => one * power).find(one => one >= rough * 0.999);
  const ticks = [];
  for (let at = Math.ceil(low / size) * size; at <= high * 1.0001; at += size) ticks.push(at);
  return ticks;
}

// A scale from values to pixels: logarithmic where values differ by more than 20.
function scale(values, from, to, {log = null, zero = true} = {}) {
  const positive = values.filter(value => value > 0);
  let low = Math.min(...(log === false ? values : positive.length ? positive : [1]));
  let high = Math.max(...values, low);
  const isLog = log ?? (low > 0 && high / low > 20);
  let at, ticks;
  if (isLog) {
    low /= 1.2; high *= 1.25;
    const span = Math.log(high / low);
    at = value => from + (to - from) * Math.log(Math.max(value, low) / low) / span;
    ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const one of high / low > 2000 ? [1] : [1, 3]) {
        const tick = one * 10 ** power;
        if (tick >= low && tick <= high) ticks.push(tick);
      }
  } else {
    if (zero) low = Math.min(0, low);
    high += (high - low) * 0.08 || 1;
    at = value => from + (to - from) * (value - low) / (high - low);
    ticks = niceTicks(low, high);
  }
  return {at, ticks, isLog};
}

const tickText = value => {
  const text = digits(value);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
};

const PANEL = 420;

// A chart with axes. `marks` gather what the pointer and the arrow keys find.
class Chart {
  constructor(title, {width = PANEL, height = H} = {}) {
    this.width = width;
    this.right = width - RIGHT;
    this.height = height;
    this.bottom = height - BOTTOM;
    this.marks = [];
    this.at = -1;
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // A chart that is alone in its row keeps the size of its letters.
    this.svg.style.maxWidth = `${Math.round(1.3 * width)}px`;
    this.svg.setAttribute("tabindex", "0");
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", `${title}. Arrow keys read the values.`);
    this.title = title;
    draw(this.svg, "text", {x: 4, y: 15, class: "title"}, title);
    fit(this.svg.lastChild, width - 8);
    this.focus = draw(this.svg, "circle", {r: 7, fill: "none", stroke: "var(--ink)", visibility: "hidden"});
    this.svg.addEventListener("pointermove", event => this.point(event));
    this.svg.addEventListener("pointerdown", event => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.svg.addEventListener("blur", () => this.leave());
    this.svg.addEventListener("keydown", event => this.key(event));
    this.figure = make("figure", {}, this.svg);
  }
  axes(x, y, xLabel, yLabel, xText = tickText, yText = tickText) {
    const {bottom, right} = this;
    for (const tick of y.ticks) {
      const at = y.at(tick);
      draw(this.svg, "line", {x1: LEFT, x2: right, y1: at, y2: at, stroke: "var(--grid)"});
      draw(this.svg, "text", {x: LEFT - 6, y: at + 4, "text-anchor": "end"}, yText(tick));
    }
    let last = -99;
    for (const tick of x.ticks) {
      const at = x.at(tick), text = xText(tick);
      if (at - last < 7 * text.length + 8) continue;
      last = at;
      draw(this.svg, "line", {x1: at, x2: at, y1: bottom, y2: bottom + 4, stroke: "var(--axis)"});
      draw(this.svg, "text", {x: at, y: bottom + 17, "text-anchor": "middle"}, text);
    }
    draw(this.svg, "line", {x1: LEFT, x2: right, y1: bottom, y2: bottom, stroke: "var(--axis)"});
    draw(this.svg, "text", {x: (LEFT + right) / 2, y: this.height - 8, "text-anchor": "middle"}, xLabel);
    draw(this.svg, "text", {x: -(TOP + bottom) / 2, y: 13, transform: "rotate(-90)", "text-anchor": "middle"}, yLabel);
  }
  mark(x, y, text) { this.marks.push({x, y, text}); }
  finish() {
    this.marks.sort((a, b) => a.x - b.x || a.y - b.y);
    this.svg.append(this.focus);
    return this.figure;
  }
  point(event) {
    const box = this.svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * this.width / box.width;
    const y = (event.clientY - box.top) * this.width / box.width;
    let best = -1, least = 60 ** 2;
    this.marks.forEach((mark, at) => {
      const away = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (away < least) { least = away; best = at; }
    });
    if (best < 0) this.leave(); else this.show(best);
  }
  show(at) {
    this.at = at;
    const mark = this.marks[at], box = this.svg.getBoundingClientRect(), by = box.width / this.width;
    this.focus.setAttribute("cx", mark.x);
    this.focus.setAttribute("cy", mark.y);
    this.focus.setAttribute("visibility", "visible");
    tip.textContent = mark.text;
    tip.hidden = false;
    const left = box.left + mark.x * by + 14, top = box.top + mark.y * by - tip.offsetHeight - 10;
    tip.style.left = `${Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }
  leave() {
    this.at = -1;
    this.focus.setAttribute("visibility", "hidden");
    tip.hidden = true;
  }
  key(event) {
    const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    if (event.key === "Escape") return this.leave();
    if (!(event.key in steps) || !this.marks.length) return;
    event.preventDefault();
    const count = this.marks.length;
    const next = this.at < 0 ? (steps[event.key] > 0 ? 0 : count - 1)
      : (this.at + steps[event.key] + count) % count;
    this.show(next);
    say(this.marks[next].text.replaceAll("\n", ", "));
  }
}
let tip;

// A text that is wider than its place is set in smaller letters.
function fit(element, room) {
  const width = 7.4 * element.textContent.length;
  if (width > room) {
    element.setAttribute("textLength", room);
    element.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}

// Charts at a time: thousands make a browser slow.
const PANELS_MAX = 24;

const SHAPES = {
  o: (x, y) => ["circle", {cx: x, cy: y, r: 4.2}],
  s: (x, y) => ["rect", {x: x - 4, y: y - 4, width: 8, height: 8}],
  "^": (x, y) => ["polygon", {points: `${x},${y - 5} ${x + 5},${y + 4} ${x - 5},${y + 4}`}],
  D: (x, y) => ["polygon", {points: `${x},${y - 5.5} ${x + 5.5},${y} ${x},${y + 5.5} ${x - 5.5},${y}`}],
  v: (x, y) => ["polygon", {points: `${x},${y + 5} ${x + 5},${y - 4} ${x - 5},${y - 4}`}],
  P: (x, y) => ["path", {d: `M${x - 1.7} ${y - 5}h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z`}],
  X: (x, y) => ["path", {d: `M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9`}],
};

function explorer(place, data) {
  // The lines of a trial: [number of the quantity, number of its times, value, value, ...].
  for (const cell of data.cells)
    cell.lines = cell.lines.map(({t, v}) => v.map(([q, times, ...values]) => ({q, t: t[times], v: values})));
  const views = [["load", "By load"], ["latency", "Latency distribution (CCDF)"],
    ["time", "Over time"], ["heat", "Heat map over time"]];
  const hasLoad = data.cells.length > 0;
  const hasCurves = data.cells.some(cell => cell.curves.length);
  const hasLines = data.cells.some(cell => cell.lines.length);
  const usable = {load: hasLoad, latency: hasCurves, time: hasLines, heat: hasLines};
  const settings = [...new Set(data.cells.map(cell => cell.setting))];
  const seen = new Set(data.cells.flatMap(c => c.lines.flatMap(lines => lines.map(line => line.q))));
  const figure = () => data.figures.find(one => one.name === choices.figure)
    ?? data.figures.find(one => one.name === data.first) ?? data.figures[0];
  const view = () => views.some(([name]) => name === choices.view && usable[name]) ? choices.view : "load";
  // A number in the link that one of the list has, else none.
  const numbered = (list, text) => /^\d+$/.test(text ?? "") && Number(text) < list.length ? Number(text) : null;
  const group = () => numbered(data.groups, choices.group);
  const setting = () => numbered(settings, choices.setting) ?? 0;
  const quantityOf = () => data.quantities.findIndex((one, at) => one.name === choices.over && seen.has(at));
  const over = () => quantityOf() >= 0 ? quantityOf() : Math.min(...seen);
  const off = () => new Set((choices.off ?? "").split(".").filter(Boolean).map(Number));
  const shown = cell => !off().has(cell.stack);
  const ink = (stack, letter = "c") => `var(--${letter}${data.stacks[stack].colour})`;

  function chooser(label, key, options, current) {
    const select = make("select", {onchange: () => { choose(key, select.value); show(); }});
    for (const [value, text] of options) select.append(make("option", {value}, text));
    select.value = current;
    return make("label", {}, label, select);
  }
  const controls = make("div", {class: "controls", role: "group", "aria-label": "What the charts show"});
  const legend = make("div", {class: "stacks", role: "group", "aria-label": "Stacks shown"});
  const charts = make("div", {class: "charts"});
  const note = make("p", {class: "note"});
  let exported = [];

  function showControls() {
    const held = document.activeElement?.dataset?.control;
    controls.replaceChildren(make("span", {class: "choices", role: "group", "aria-label": "Chart"},
      ...views.filter(([name]) => usable[name]).map(([name, text]) => make("button", {
        type: "button", "aria-pressed": String(view() === name), "data-control": name,
        onclick: () => { choose("view", name === "load" ? "" : name); show(); },
      }, text))));
    if (view() === "load") {
      controls.append(chooser("Figure", "figure", data.figures.map(one => [one.name, one.title]), figure().name));
      if (data.groups.length > 1) {
        const every = [["", "all"], ...data.groups.map((one, at) => [String(at), one.title])];
        controls.append(chooser("Message", "group", every, String(group() ?? "")));
      }
    } else {
      const list = settings.map((one, at) => [String(at), one]);
      controls.append(chooser("Setting", "setting", list, String(setting())));
      if (view() !== "latency") {
        const list = data.quantities.map((one, at) => [one.name, one.title, at]).filter(([, , at]) => seen.has(at));
        controls.append(chooser("Figure", "over", list, data.quantities[over()].name));
      }
    }
    controls.append(make("button", {
      type: "button", "data-control": "csv",
      onclick: () => copy(asCsv(exported), "Values of the charts, as CSV"),
    }, "Copy CSV"));
    if (held) controls.querySelector(`[data-control="${held}"]`)?.focus();
  }
  function showLegend() {
    const held = document.activeElement?.dataset?.stack;
    legend.replaceChildren(...data.stacks.map((stack, at) => {
      const sample = document.createElementNS(SVG, "svg");
      for (const [name, value] of Object.entries({class: "mark", viewBox: "0 0 36 16", "aria-hidden": "true"}))
        sample.setAttribute(name, value);
      draw(sample, "path", {d: "M1 8h34", stroke: ink(at), "stroke-width": 1.6, "stroke-dasharray": stack.dash});
      symbol(sample, 18, 8, at);
      return make("button", {
        type: "button", "aria-pressed": String(!off().has(at)), "data-stack": at,
        onclick: () => {
          const hidden = off();
          if (!hidden.delete(at)) hidden.add(at);
          choose("off", [...hidden].sort((a, b) => a - b).join("."));
          show();
        },
      }, sample, make("b", {}, stack.letter), stack.name);
    }));
    if (held) legend.querySelector(`[data-stack="${held}"]`)?.focus();
  }
  function symbol(svg, x, y, stack, hollow = false) {
    const [tag, attributes] = SHAPES[data.stacks[stack].marker](x, y);
    draw(svg, tag, {...attributes, stroke: ink(stack), "stroke-width": 1.5, fill: hollow ? "var(--paper)" : ink(stack)});
  }
  function curve(svg, stack, points, width = 1.6, opacity = 1) {
    const path = points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    draw(svg, "path", {d: path, fill: "none", stroke: ink(stack), "stroke-width": width, opacity, "stroke-dasharray": data.stacks[stack].dash});
  }

  function byLoad() {
    const at = data.figures.indexOf(figure()), {unit, title, better} = figure();
    exported = [["message", "load", "stack", title, "low", "high", "unit", "trials"]];
    const every = data.groups.map((_, at) => at);
    const chosen = group() === null ? every.slice(0, PANELS_MAX) : [group()];
    note.textContent = `Points: estimates over the trials. Bars: 95 % intervals. `
      + `${better === "higher" ? "Higher" : "Lower"} is better.`
      + (data.cells.some(cell => cell.bound) ? " Hollow points: the client was the limit, so they are lower bounds." : "")
      + (chosen.length < every.length && group() === null ? ` ${PANELS_MAX} of ${every.length} messages are shown; choose one above.` : "");
    for (const number of chosen) {
      const cells = data.cells.filter(cell => cell.group === number && cell.figures[at] && shown(cell));
      for (const cell of cells) exported.push([data.groups[number].title, String(cell.x),
        data.stacks[cell.stack].name, ...[0, 1, 2].map(one => String(cell.figures[at][one] ?? "")), unit, String(cell.trials)]);
      if (cells.length) charts.append(loadPanel(data.groups[number], cells, at, unit, title));
    }
  }
  function words(cell, at, unit, title) {
    const [estimate, low, high] = cell.figures[at];
    const interval = low === undefined ? "no interval" : `95 %: ${quantity(low, unit)} to ${quantity(high, unit)}`;
    return `${data.stacks[cell.stack].name}\n${cell.setting}\n${title}: ${cell.bound ? "at least " : ""}${quantity(estimate, unit)}\n`
      + `${interval}, ${cell.trials} trial${cell.trials === 1 ? "" : "s"}`;
  }
  function loadPanel(group, cells, at, unit, title) {
    const loads = [...new Set(cells.map(cell => cell.x))].sort((a, b) => a - b);
    const values = cells.flatMap(cell => cell.figures[at]);
    const middle = [...values].sort((a, b) => a - b)[values.length >> 1];
    const [divisor, name] = stepOf(middle, unit);
    const axis = [title, {"/s": "per s", "k/s": "thousands per s", "M/s": "millions per s"}[name] ?? name].filter(Boolean).join(", ");
    if (loads.length < 2) return dots(group, cells, at, unit, title, divisor, axis);
    const chart = new Chart(group.title);
    const y = scale(values.map(value => value / divisor), chart.bottom, TOP);
    const x = scale(loads, LEFT + 18, chart.right - 18, {log: loads[0] > 0 && loads.at(-1) / loads[0] > 3, zero: false});
    x.ticks = loads;
    chart.axes(x, y, group.axis, axis);
    const stacks = [...new Set(cells.map(cell => cell.stack))];
    stacks.forEach((stack, place) => {
      const own = cells.filter(cell => cell.stack === stack).sort((a, b) => a.x - b.x);
      // Next to each other, so that intervals do not hide each other.
      const aside = (place - (stacks.length - 1) / 2) * Math.min(5, 30 / stacks.length);
      const points = own.map(cell => [x.at(cell.x) + aside, y.at(cell.figures[at][0] / divisor)]);
      curve(chart.svg, stack, points);
      own.forEach((cell, number) => {
        const [px, py] = points[number], [, low, high] = cell.figures[at];
        if (low !== undefined) {
          const ends = [low, high].map(value => y.at(value / divisor));
          draw(chart.svg, "path", {d: `M${px} ${ends[0]}V${ends[1]}M${px - 3} ${ends[0]}h6M${px - 3} ${ends[1]}h6`, stroke: ink(stack), "stroke-width": 1.3});
        }
        symbol(chart.svg, px, py, stack, cell.bound);
        chart.mark(px, py, words(cell, at, unit, title));
      });
    });
    return chart.finish();
  }
  function dots(group, cells, at, unit, title, divisor, axis) {
    const ROW = 34, height = TOP + ROW * cells.length + BOTTOM;
    const chart = new Chart(group.title, {height});
    const x = scale(cells.flatMap(cell => cell.figures[at]).map(value => value / divisor), 20, chart.right);
    const {bottom} = chart;
    let last = -99;
    for (const tick of x.ticks) {
      const px = x.at(tick), text = tickText(tick);
      draw(chart.svg, "line", {x1: px, x2: px, y1: TOP, y2: bottom, stroke: "var(--grid)"});
      if (px - last < 7 * text.length + 8) continue;
      last = px;
      draw(chart.svg, "text", {x: px, y: bottom + 17, "text-anchor": "middle"}, text);
    }
    draw(chart.svg, "text", {x: chart.width / 2, y: height - 8, "text-anchor": "middle"}, axis);
    cells.forEach((cell, row) => {
      const py = TOP + ROW * row + 23, [estimate, low, high] = cell.figures[at];
      const px = x.at(estimate / divisor);
      draw(chart.svg, "text", {x: 8, y: py - 9}, data.stacks[cell.stack].name);
      fit(chart.svg.lastChild, chart.width - 20);
      if (low !== undefined) {
        const ends = [low, high].map(value => x.at(value / divisor));
        draw(chart.svg, "path", {d: `M${ends[0]} ${py}H${ends[1]}M${ends[0]} ${py - 3}v6M${ends[1]} ${py - 3}v6`, stroke: ink(cell.stack), "stroke-width": 1.3});
      }
      symbol(chart.svg, px, py, cell.stack, cell.bound);
      chart.mark(px, py, words(cell, at, unit, title));
    });
    return chart.finish();
  }

  // One chart has the width of the page, and letters as large as those of small ones.
  const wide = height => ({width: Math.max(340, Math.min(1200, charts.clientWidth || 340)), height});
  const inSetting = () => {
    return data.cells.filter(cell => cell.setting === settingName() && shown(cell));
  };
  const settingName = () => settings[setting()];

  function latency() {
    const cells = inSetting();
    exported = [["setting", "stack", "trial", "percentile", "response time, ns"]];
    note.textContent = "How many calls took longer than a time: one line per trial, both axes by factors. "
      + "Lines end where a trial has too few calls.";
    const every = cells.flatMap(cell => cell.curves.flat()).filter(Boolean);
    if (!every.length) { note.textContent = "No trial of this setting has a distribution."; return; }
    const [divisor, unit] = stepOf([...every].sort((a, b) => a - b)[every.length >> 1], "ns");
    const above = data.percentiles.map(one => 100 - one);
    const longest = Math.max(...cells.flatMap(cell => cell.curves.map(one => one.length)));
    const chart = new Chart(settingName(), wide(340));
    const x = scale(every.map(value => value / divisor), LEFT + 4, chart.right, {log: true});
    const y = scale([100, above[longest - 1]], chart.bottom, TOP, {log: true});
    y.ticks = y.ticks.filter(tick => Math.abs(Math.log10(tick) % 1) < 1e-9);
    const share = value => `${Number(value.toPrecision(6))} %`;
    chart.axes(x, y, `response time, ${unit}`, "calls that took longer", tickText, share);
    for (const cell of cells) cell.curves.forEach((values, trial) => {
      const points = values.map((value, at) => [value, above[at], data.percentiles[at]]).filter(([value]) => value);
      curve(chart.svg, cell.stack, points.map(([value, rest]) => [x.at(value / divisor), y.at(rest)]), 1.3, 0.85);
      for (const [value, rest, percentile] of points) {
        const stack = data.stacks[cell.stack].name;
        exported.push([cell.setting, stack, String(trial + 1), String(percentile), String(value)]);
        chart.mark(x.at(value / divisor), y.at(rest), `${stack}, trial ${trial + 1}\np${percentile}: ${quantity(value, "ns")}\n`
          + `${share(rest)} of calls took longer`);
      }
    });
    charts.append(chart.finish());
  }

  // The chosen quantity of each trial of the setting: [cell, number of the trial, times, values].
  const linesOf = cells => cells.flatMap(cell => cell.lines.flatMap((lines, trial) =>
    lines.filter(line => line.q === over()).map(line => ({cell, trial: trial + 1, t: line.t, v: line.v}))));

  function overTime() {
    const {title, unit} = data.quantities[over()], lines = linesOf(inSetting());
    exported = [["setting", "stack", "trial", "seconds", title, "unit"]];
    note.textContent = "One line per trial. The shaded part is the measured window; the warm-up is left of it.";
    if (!lines.length) { note.textContent = "No trial of this setting has this figure over time."; return; }
    const every = lines.flatMap(line => line.v);
    const [divisor, name] = stepOf(Math.max(...every), unit);
    const times = lines.flatMap(line => line.t);
    const chart = new Chart(`${settingName()}: ${title}`, wide(340));
    const x = scale([Math.min(0, ...times), ...times], LEFT, chart.right, {log: false, zero: false});
    const y = scale(every.map(value => value / divisor), chart.bottom, TOP, unit === "ns" ? {} : {log: false});
    const [from, to] = [x.at(0), Math.min(chart.right, x.at(Math.max(...lines.map(line => line.cell.window))))];
    draw(chart.svg, "rect", {x: from, y: TOP, width: Math.max(0, to - from), height: chart.bottom - TOP, fill: "var(--window)"});
    chart.axes(x, y, "seconds since the window opened", [title, name].filter(Boolean).join(", "));
    for (const {cell, trial, t, v} of lines) {
      curve(chart.svg, cell.stack, t.map((at, one) => [x.at(at), y.at(v[one] / divisor)]), 1.3, 0.85);
      t.forEach((at, one) => {
        const stack = data.stacks[cell.stack].name;
        exported.push([cell.setting, stack, String(trial), String(at), String(v[one]), unit]);
        chart.mark(x.at(at), y.at(v[one] / divisor), `${stack}, trial ${trial}\n${at} s: ${quantity(v[one], unit)}`);
      });
    }
    charts.append(chart.finish());
  }

  function heat() {
    const {title, unit} = data.quantities[over()], lines = linesOf(inSetting());
    exported = [["setting", "stack", "trial", "seconds", title, "unit"]];
    if (!lines.length) { note.textContent = "No trial of this setting has this figure over time."; return; }
    const every = lines.flatMap(line => line.v);
    const low = Math.min(...every), high = Math.max(...every);
    // Zeros, such as those of failed calls, have no factor; they look like the lowest other value.
    const least = Math.min(high, ...every.filter(value => value > 0)), byFactors = high / least > 20;
    note.textContent = `One row per trial, time to the right; the stronger the colour, the higher: from ${quantity(low, unit)} `
      + `to ${quantity(high, unit)}${byFactors ? ", by factors" : ""}.`;
    const ROW = Math.max(7, Math.min(22, 480 / lines.length)), height = TOP + ROW * lines.length + BOTTOM;
    const chart = new Chart(`${settingName()}: ${title}`, wide(height));
    const times = lines.flatMap(line => line.t);
    const x = scale([Math.min(0, ...times), ...times], LEFT, chart.right, {log: false, zero: false});
    const strength = value => high === low ? (high ? 0.5 : 0) : byFactors
      ? Math.log(Math.max(value, least) / least) / Math.log(high / least) : (value - low) / (high - low);
    chart.axes(x, {at: Number, ticks: []}, "seconds since the window opened", "");
    let before = -1;
    lines.forEach(({cell, trial, t, v}, row) => {
      const top = TOP + ROW * row;
      if (cell.stack !== before) {
        before = cell.stack;
        draw(chart.svg, "text", {x: LEFT - 8, y: top + 11, "text-anchor": "end", "font-weight": 650}, data.stacks[cell.stack].letter);
        draw(chart.svg, "line", {x1: LEFT - 30, x2: chart.right, y1: top, y2: top, stroke: "var(--axis)"});
      }
      t.forEach((at, one) => {
        const from = one ? (t[one - 1] + at) / 2 : at - ((t[1] ?? at + 0.1) - at) / 2;
        const to = one + 1 < t.length ? (at + t[one + 1]) / 2 : 2 * at - from;
        const left = Math.max(LEFT, x.at(from));
        const width = Math.max(0.6, Math.min(chart.right, x.at(to)) - left);
        draw(chart.svg, "rect", {x: left.toFixed(1), y: top + 0.5, width: width.toFixed(1), height: ROW - 1, fill: ink(cell.stack), "fill-opacity": (0.06 + 0.94 * strength(v[one])).toFixed(2)});
        const stack = data.stacks[cell.stack].name;
        exported.push([cell.setting, stack, String(trial), String(at), String(v[one]), unit]);
        chart.mark(left + width / 2, top + ROW / 2, `${stack}, trial ${trial}\n${at} s: ${quantity(v[one], unit)}`);
      });
    });
    charts.append(chart.finish());
  }

  function show() {
    charts.replaceChildren();
    charts.style.maxWidth = "";
    tip.hidden = true;
    showControls();
    showLegend();
    ({load: byLoad, latency, time: overTime, heat})[view()]();
    charts.style.maxWidth = view() === "load" && charts.children.length === 1 ? "760px" : "";
  }
  let width = 0;
  addEventListener("resize", () => {
    if (view() !== "load" && charts.clientWidth !== width) show();
    width = charts.clientWidth;
  });
  tip = make("div", {class: "tip", hidden: ""});
  document.body.append(tip);
  place.append(controls, legend, charts, note);
  place.hidden = false;
  return show;
}
