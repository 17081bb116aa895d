// What WCAG 2.2 AA asks of a page and a script can check: a list of faults.
(() => {
const found = [];
const parse = text => text.match(/[\d.]+/g).map(Number);
const part = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const luminance = rgb => 0.2126 * part(rgb[0] / 255) + 0.7152 * part(rgb[1] / 255) + 0.0722 * part(rgb[2] / 255);
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let checked = 0;
for (let node; node = texts.nextNode();) {
  const element = node.parentElement;
  if (!node.data.trim() || element.closest("script, .spoken, [hidden], option") || !element.getClientRects().length) continue;
  const style = getComputedStyle(element), size = parseFloat(style.fontSize);
  const ink = parse(element.closest("svg") ? style.fill : style.color);
  const [a, b] = [luminance(ink), luminance(behind(element))].sort((x, y) => y - x);
  const large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
  checked += 1;
  if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5))
    found.push(`contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
}
if (checked < 300) found.push(`only ${checked} texts were checked`);
const name = e => e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent.trim();
for (const e of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
  if (!name(e)) found.push(`no name: ${e.outerHTML.slice(0, 80)}`);
  const box = e.getBoundingClientRect();
  if (e.matches("button:not(.sort), input, select, summary, nav a") && box.height && box.height < 24) found.push(`low: ${e.outerHTML.slice(0, 80)}`);
  if (e.matches("a, button, summary, [role=img]") && e.querySelector("a[href], button, input, select")) found.push(`nested: ${e.outerHTML.slice(0, 80)}`);
}
for (const e of document.querySelectorAll("th")) if (!e.scope) found.push(`no scope: ${e.textContent}`);
for (const e of document.querySelectorAll("td")) if (!e.closest("tr").querySelector("th[scope=row]")) found.push("a row without a head");
for (const e of document.querySelectorAll("svg"))
  if (!e.closest("[aria-hidden=true]") && !(e.getAttribute("role") && name(e))) found.push(`no name: ${e.outerHTML.slice(0, 80)}`);
if (document.documentElement.lang !== "en") found.push("no lang");
if (!document.title) found.push("no title");
if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) found.push("main or h1");
let level = 0;
for (const e of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
  const own = Number(e.tagName[1]);
  if (own > level + 1) found.push(`heading ${e.textContent} skips a level`);
  level = own;
}
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
if (new Set(ids).size !== ids.length) found.push("an id twice");
for (const e of document.querySelectorAll("[aria-labelledby]"))
  if (!document.getElementById(e.getAttribute("aria-labelledby"))) found.push("a label that is not there");
return found;
})()
