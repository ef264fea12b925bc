"use strict";
// Compares two texts line by line, and shows which lines were removed and which were added.

const MOST_CELLS = 4e6;  // of the table below: beyond it a changed part is shown as a whole

// Returns the lines of both texts in order: {kind: " ", "-" or "+", text, from, to}, with line numbers.
function differenceOf(before, after) {
  const a = before.trimEnd().split("\n"), b = after.trimEnd().split("\n");
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const rows = a.length - start - end, columns = b.length - start - end;
  const lines = [];
  const same = (i, j) => lines.push({kind: " ", text: a[i], from: i + 1, to: j + 1});
  const taken = i => lines.push({kind: "-", text: a[i], from: i + 1});
  const added = j => lines.push({kind: "+", text: b[j], to: j + 1});
  for (let i = 0; i < start; ++i) same(i, i);
  if (rows * columns > MOST_CELLS) {
    for (let i = 0; i < rows; ++i) taken(start + i);
    for (let j = 0; j < columns; ++j) added(start + j);
  } else {
    // longest[i * width + j]: how many lines the rests from i and from j have in common, in order.
    const width = columns + 1, longest = new Uint32Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; --i)
      for (let j = columns - 1; j >= 0; --j)
        longest[i * width + j] = a[start + i] === b[start + j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    let i = 0, j = 0;
    while (i < rows || j < columns) {
      if (i < rows && j < columns && a[start + i] === b[start + j]) same(start + i++, start + j++);
      else if (j === columns || (i < rows && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) taken(start + i++);
      else added(start + j++);
    }
  }
  for (let k = end; k > 0; --k) same(a.length - k, b.length - k);
  return lines;
}

// Leaves out lines that are the same and far from any change: each such run becomes {kind: "...", count}.
function shortened(lines, context = 4) {
  const isNear = lines.map(() => false);
  lines.forEach((line, index) => {
    if (line.kind === " ") return;
    for (let k = Math.max(0, index - context); k <= Math.min(lines.length - 1, index + context); ++k) isNear[k] = true;
  });
  const kept = [];
  lines.forEach((line, index) => {
    if (isNear[index]) kept.push(line);
    else if (kept.at(-1)?.kind === "...") ++kept.at(-1).count;
    else kept.push({kind: "...", count: 1});
  });
  return kept;
}

const countOf = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

function showDifference(element, before, after) {
  const lines = shortened(differenceOf(before, after));
  const added = lines.filter(line => line.kind === "+").length, taken = lines.filter(line => line.kind === "-").length;
  element.replaceChildren(...lines.map(line => {
    const row = document.createElement("span");
    row.className = "line " + ({"-": "taken", "+": "added", "...": "gap"}[line.kind] ?? "");
    const number = document.createElement("span");
    number.className = "numbers";
    number.setAttribute("aria-hidden", "true");
    number.textContent = `${String(line.from ?? "").padStart(4)} ${String(line.to ?? "").padStart(4)} `;
    row.append(number, line.kind === "..." ? `${countOf(line.count, "line")} that both have` : `${line.kind} ${line.text}`);
    return row;
  }));
  return added + taken === 0 ? "Both are the same." : `${countOf(added, "line")} added, ${countOf(taken, "line")} removed.`;
}
