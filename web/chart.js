"use strict";
// Draws the best speed-up so far over the attempts, beside PyTorch's own speed and others that the verdicts name.

function drawChart(figure, attempts) {
  const timed = attempts.filter(each => each.verdict.accepted && each.verdict.speedup);
  figure.hidden = timed.length === 0;
  if (figure.hidden) return;
  const width = Math.min(960, figure.clientWidth || 720), height = 240, left = 44, right = 190, bottom = 26, top = 12;
  const last = Math.max(1, attempts.length - 1);
  const fastest = timed.reduce((best, each) => each.verdict.speedup > best.verdict.speedup ? each : best).verdict;
  const others = otherSpeeds(fastest);
  // A speed far above the best kernel stands at the upper edge, so that the kernels keep most of the height.
  const highest = 1.15 * Math.max(1, fastest.speedup, ...others.map(each => Math.min(each.speedup, 2 * fastest.speedup)));
  const x = number => left + (width - left - right) * number / last;
  const y = speedup => height - bottom - (height - bottom - top) * Math.min(speedup, highest) / highest;
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
  const lines = [{name: "best kernel", speedup: best, kind: "named"}, {name: "PyTorch", speedup: 1, kind: "eager"},
    ...others.map(each => ({...each, kind: "other"}))];
  const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": [`The best kernel is ${best.toFixed(2)} times as fast as PyTorch.`,
      ...others.map(each => `${each.name}: ${each.speedup.toFixed(2)} times.`)].join(" ")});
  const edge = width - right;
  svg.append(
    ...ticksUpTo(highest).flatMap(tick => [make("line", {class: "axis", x1: left, x2: edge, y1: y(tick), y2: y(tick)}),
      make("text", {x: left - 6, y: y(tick) + 4, "text-anchor": "end"}, `${Number(tick.toPrecision(3))}×`)]),
    ...lines.filter(each => each.kind !== "named").map(each =>
      make("line", {class: each.kind, x1: left, x2: edge, y1: y(each.speedup), y2: y(each.speedup)})),
    ...apart(lines.map(each => y(each.speedup)), top, height - bottom).map((at, index) => {
      const {name, speedup, kind} = lines[index];
      return make("text", {class: kind, x: edge + 8, y: at + 4}, `${name}: ${speedup.toFixed(2)}×${speedup > highest ? ", above" : ""}`);
    }),
    make("text", {x: left, y: height - 8}, "attempt 1"),
    make("text", {x: edge, y: height - 8, "text-anchor": "end"}, `attempt ${attempts.length}`),
    make("path", {class: "best", d: path + `H${x(last)}`}));
  for (const each of timed) {
    const dot = make("circle", {class: "dot", cx: x(each.number), cy: y(each.verdict.speedup), r: 4});
    dot.append(make("title", {}, `attempt ${each.number + 1}: ${each.verdict.speedup.toFixed(2)} times as fast`));
    svg.append(dot);
  }
  figure.replaceChildren(svg);
}

// Returns 0 and up to five round numbers below `highest`.
function ticksUpTo(highest) {
  const power = 10 ** Math.floor(Math.log10(highest / 5));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => highest / each <= 5);
  return Array.from({length: Math.floor(highest / step) + 1}, (_, index) => index * step);
}

// Moves the heights of labels apart, so that none covers another. All stay between `top` and `bottom`.
function apart(heights, top, bottom, distance = 15) {
  const order = heights.map((_, index) => index).sort((a, b) => heights[a] - heights[b]);
  const moved = [...heights];
  let free = top;
  for (const index of order) free = (moved[index] = Math.max(heights[index], free)) + distance;
  let limit = bottom;
  for (const index of order.reverse()) limit = (moved[index] = Math.min(moved[index], limit)) - distance;
  return moved;
}

// Returns the other ways to do the task that a verdict names, each by its speed against PyTorch's.
function otherSpeeds({reference_ms, baselines, speed_of_light}) {
  const named = [["eager", baselines?.eager?.median], ["torch.compile", baselines?.torch_compile?.median],
    ["speed of light", speed_of_light?.ms]];
  return named.filter(([, ms]) => ms > 0).map(([name, ms]) => ({name, speedup: reference_ms.median / ms}));
}

// Returns a chart of [[step, value], ...]. say(text) tells the value under the pointer, or the last one.
function curveOf(name, points, say) {
  const width = 360, height = 130, left = 8, right = 52, top = 10, bottom = 20;
  points = points.filter(([, value]) => Number.isFinite(value));
  const make = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const shown = value => Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1)
    : String(Number(value.toPrecision(3)));
  const brief = value => Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-2) ? value.toExponential(0)
    : String(Number(value.toPrecision(3)));
  const steps = points.map(([step]) => step), values = points.map(([, value]) => value);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const lowest = Math.min(...values), highest = Math.max(...values), span = highest - lowest || 1;
  const x = step => left + (width - left - right) * (last > first ? (step - first) / (last - first) : 0.5);
  const y = value => height - bottom - (height - bottom - top) * (highest > lowest ? (value - lowest) / span : 0.5);
  const told = index => `${shown(values[index])} at step ${steps[index]}`;
  const end = points.length - 1;
  const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: "0",
    "aria-label": end < 0 ? `${name} has no values` : `${name}: ${told(0)}, ${told(end)}; between ${shown(lowest)} and ${shown(highest)}`});
  if (end < 0) return svg;
  const dot = make("circle", {class: "dot", r: 3.5});
  let at = end;
  const mark = index => {
    at = Math.max(0, Math.min(end, index));
    dot.setAttribute("cx", x(steps[at]));
    dot.setAttribute("cy", y(values[at]));
    say(told(at));
  };
  svg.append(make("line", {class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}),
    make("text", {x: width - right + 6, y: y(highest) + 4}, brief(highest)),
    make("text", {x: left, y: height - 5}, `step ${first}`),
    make("text", {x: width - right, y: height - 5, "text-anchor": "end"}, String(last)),
    make("path", {class: "best", d: points.map(([step, value], i) => `${i ? "L" : "M"}${x(step)} ${y(value)}`).join("")}), dot);
  if (highest > lowest) svg.append(make("text", {x: width - right + 6, y: y(lowest) + 2}, brief(lowest)));
  mark(end);
  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect(), wanted = (event.clientX - box.left) * width / box.width;
    let nearest = 0;
    steps.forEach((step, index) => { if (Math.abs(x(step) - wanted) < Math.abs(x(steps[nearest]) - wanted)) nearest = index; });
    mark(nearest);
  });
  svg.addEventListener("pointerleave", () => mark(end));
  svg.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step) mark(at + step);
  });
  return svg;
}
