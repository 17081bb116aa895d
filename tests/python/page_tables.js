// Cells of the tables of a page that are not below their headings, and classes that a cell, a row
// or a table shares with another element.
(() => {
const seen = {tables: 0, cells: 0, cards: 0, misplaced: [], unnamed: [], shared: []};
for (const closed of document.querySelectorAll("details")) closed.open = true;
const text = element => element.textContent.trim().replace(/\s+/g, " ");
const isShown = element => element.checkVisibility();
const lead = element => {
  const content = getComputedStyle(element, "::before").content;
  return content === "none" || content === "normal" ? "" : content.replace(/^"|"$/g, "");
};
// Each cell with the number of its column; a cell may span rows and columns.
function place(rows) {
  const taken = [], placed = [];
  rows.forEach((row, line) => {
    let column = 0;
    for (const cell of row.cells) {
      while (taken[line]?.[column]) column++;
      placed.push([cell, column]);
      for (let y = line; y < line + cell.rowSpan; y++)
        for (let x = column; x < column + cell.colSpan; x++) (taken[y] ??= [])[x] = true;
      column += cell.colSpan;
    }
  });
  return placed;
}
for (const table of document.querySelectorAll("table")) {
  if (!isShown(table)) continue;
  const rows = [...table.rows];
  const isHead = row => [...row.cells].every(cell => cell.tagName === "TH" && cell.scope !== "row");
  const heads = [...(table.tHead?.rows ?? rows.slice(0, 1).filter(isHead))];
  const body = rows.filter(row => !heads.includes(row) && isShown(row));
  if (!heads.length || !body.length) { if (body.length) seen.misplaced.push("a table without headings"); continue; }
  seen.tables += 1;
  const named = place(heads.slice(-1)).map(([head]) => head);
  const below = named.some(isShown);
  for (const [cell, column] of place(body)) {
    const head = named[column];
    const name = `${text(head ?? table).slice(0, 30)}: ${text(cell).slice(0, 40)}`;
    if (!head) { seen.misplaced.push(name); continue; }
    const [c, h] = [cell.getBoundingClientRect(), head.getBoundingClientRect()];
    seen.cells += 1;
    if (below) {
      const right = named[column + cell.colSpan - 1].getBoundingClientRect().right;
      if (Math.abs(c.left - h.left) > 1 || Math.abs(c.right - right) > 1 || c.top < h.bottom - 1)
        seen.misplaced.push(name);
    } else if (cell.tagName === "TD") {
      // A list: each value is next to the name of its column.
      seen.cards += 1;
      if (lead(cell) !== text(head) && lead(cell) !== head.firstChild?.textContent.trim())
        seen.unnamed.push(`${name} has "${lead(cell)}"`);
      const row = cell.parentElement.getBoundingClientRect();
      if (c.left < row.left - 1 || c.right > row.right + 1) seen.misplaced.push(name);
    }
  }
}
const parts = "table, caption, thead, tbody, tfoot, tr, th, td, colgroup, col";
for (const element of document.querySelectorAll(parts))
  for (const one of element.classList)
    for (const other of document.getElementsByClassName(one))
      if (!other.matches(parts)) seen.shared.push(`${one}: ${element.tagName} and ${other.tagName}`);
return seen;
})()
