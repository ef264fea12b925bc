"use strict";
// Draws the best speed-up so far over the attempts, beside PyTorch's own speed.

function drawChart(figure, attempts) {
  const timed = attempts.filter(each => each.verdict.accepted && each.verdict.speedup);
  figure.hidden = timed.length === 0;
  if (figure.hidden) return;
  const width = 720, height = 200, left = 44, bottom = 26, top = 12;
  const last = Math.max(1, attempts.length - 1);
  const highest = 1.15 * Math.max(1, ...timed.map(each => each.verdict.speedup));
  const x = number => left + (width - left - 12) * number / last;
  const y = speedup => height - bottom - (height - bottom - top) * speedup / highest;
  const make = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  let best = 0, path = "";
  for (const each of timed) {
    if (each.verdict.speedup <= best) continue;
    path += path ? `H${x(each.number)}V${y(each.verdict.speedup)}` : `M${x(each.number)} ${y(each.verdict.speedup)}`;
    best = each.verdict.speedup;
  }
  const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `The best kernel is ${best.toFixed(2)} times as fast as PyTorch.`});
  svg.append(
    make("line", {class: "axis", x1: left, x2: width - 12, y1: y(0), y2: y(0)}),
    make("line", {class: "eager", x1: left, x2: width - 12, y1: y(1), y2: y(1)}),
    make("text", {x: left + 4, y: y(1) - 5}, "PyTorch"),
    make("text", {x: 4, y: y(best) + 4}, `${best.toFixed(2)}×`),
    make("text", {x: left, y: height - 8}, "attempt 1"),
    make("text", {x: width - 12, y: height - 8, "text-anchor": "end"}, `attempt ${attempts.length}`),
    make("path", {class: "best", d: path + `H${x(last)}`}));
  for (const each of timed) {
    const dot = make("circle", {class: "dot", cx: x(each.number), cy: y(each.verdict.speedup), r: 4});
    dot.append(make("title", {}, `attempt ${each.number + 1}: ${each.verdict.speedup.toFixed(2)} times as fast`));
    svg.append(dot);
  }
  figure.replaceChildren(svg);
}
