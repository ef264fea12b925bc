"use strict";
// The third tab: the runs of the server's folder. A run has curves, an evaluation and samples, whose conversations are shown
// turn by turn. Two samples can be compared. The address names what is shown: /run/NAME#12 or, compared, /run/NAME#12,15.

const PREFERRED = ["reward/mean", "stage/accepted", "stage/correct", "loss", "heldout/loss", "turn_2/accepted", "entropy",
  "completion/tokens", "seconds/step"];
const PAGE_OF_SAMPLES = 100;
let run = null;  // the run on the page, as the server gave it
let curves = [];  // names of the curves that are shown
let samplesShown = PAGE_OF_SAMPLES;
let openSamples = [];  // numbers of the open sample, or of the two that are compared

const pathOf = name => name.split("/").map(encodeURIComponent).join("/");
const rounded = number => Math.abs(number) >= 100 ? number.toFixed(0) : Number(number.toPrecision(3)).toString();
const share = number => `${(100 * number).toFixed(1)} %`;

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  made.append(...children);
  return made;
}

async function drawRuns() {
  const {runs} = await (await call("/api/runs")).json();
  at("no-runs").hidden = runs.length > 0;
  at("runs-table").hidden = runs.length === 0;
  at("runs").replaceChildren(...runs.map(each => {
    const holds = [each.steps && "training", each.samples && "samples", each.evaluation && "evaluation"].filter(Boolean);
    return element("tr", {},
      element("td", {}, timeText(each.changed_ms)),
      element("td", {}, element("a", {href: `/run/${pathOf(each.name)}`, textContent: each.name})),
      element("td", {textContent: holds.join(", ")}));
  }));
}

async function openRun(name) {
  if (run?.name !== name) {
    at("run-title").textContent = name;
    at("run-loading").hidden = false;
    try {
      run = await (await call(`/api/runs/${pathOf(name)}`)).json();
    } finally {
      at("run-loading").hidden = true;
    }
    samplesShown = PAGE_OF_SAMPLES;
    const known = Object.keys(run.curves);
    curves = PREFERRED.filter(each => known.includes(each)).slice(0, 4);
    if (curves.length === 0) curves = known.filter(each => each !== "phase").slice(0, 4);
    drawRun();
  }
  const numbers = location.hash.slice(1).split(",").filter(Boolean).map(Number);
  await openSample(numbers.slice(0, 2));
}

function drawRun() {
  document.title = `${run.name} · Tritonsmith`;
  drawEvaluation();
  drawCurves();
  at("run-config").textContent = run.config;
  at("run-config").parentElement.hidden = !run.config;
  at("samples-part").hidden = run.samples.length === 0;
  const results = new Map();
  for (const each of run.samples) results.set(each.result, (results.get(each.result) ?? 0) + 1);
  const names = [...results.keys()].sort((a, b) => results.get(b) - results.get(a));
  at("filter-result").replaceChildren(new Option(`all (${run.samples.length})`, ""),
    ...names.map(each => new Option(`${resultText(each)} (${results.get(each)})`, each)));
  for (const id of ["filter-task", "filter-from", "filter-to"]) at(id).value = "";
  at("filter-order").querySelector("[value=reward]").hidden = isEvaluation();
  for (const id of ["filter-from", "filter-to"]) at(id).closest("label").hidden = isEvaluation();
  drawSamples();
}

// An evaluation pays no rewards and has no steps.
const isEvaluation = () => Boolean(run.evaluation) && Object.keys(run.curves).length === 0;
const memberText = ({member}) => member < 0 ? "greedy" : `sample ${member + 1}`;
const placeText = row => isEvaluation() ? memberText(row) : `step ${row.step}`;

function drawEvaluation() {
  const {evaluation} = run;
  at("run-evaluation").hidden = !evaluation;
  if (!evaluation) return;
  const speed = evaluation.speed ?? {};
  const facts = [
    ["Suite", evaluation.suite], ["Model", evaluation.model], ["Policy", evaluation.policy],
    ["Tasks", evaluation.tasks], ["Samples a task", evaluation.samples],
    ["Accepted, sampled", evaluation.sampled && share(evaluation.sampled.accepted)],
    ["Accepted, greedy", evaluation.greedy && share(evaluation.greedy.accepted)],
    ...Object.entries(evaluation.pass_at ?? {}).map(([k, value]) => [`pass@${k}`, share(value)]),
    ["Faster than PyTorch", speed.timed > 0 && speed.fast?.["1"] !== undefined && share(speed.fast["1"])],
    ["Speed-up, mean", speed.timed > 0 && `${speed.geometric_mean.toFixed(2)}×`],
  ].filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
  at("evaluation-facts").replaceChildren(...facts.map(([name, value]) =>
    element("div", {}, element("dt", {textContent: name}), element("dd", {textContent: value}))));
}

// ---- Curves

function drawCurves() {
  const known = Object.keys(run.curves).sort();
  at("curves-part").hidden = known.length === 0;
  at("curve-add").replaceChildren(new Option("Add a curve", ""),
    ...known.filter(each => !curves.includes(each)).map(each => new Option(each, each)));
  at("curves").replaceChildren(...curves.map(name => {
    const figure = element("figure");
    const remove = element("button", {type: "button", className: "plain", textContent: "×", "aria-label": `Remove ${name}`});
    remove.addEventListener("click", () => {
      curves = curves.filter(each => each !== name);
      drawCurves();
    });
    const caption = element("figcaption", {}, element("strong", {textContent: name}), element("span", {className: "quiet"}), remove);
    figure.append(caption, curveOf(name, run.curves[name], text => { caption.children[1].textContent = text; }));
    return figure;
  }));
}

// ---- Samples

function chosenSamples() {
  const result = at("filter-result").value, task = at("filter-task").value.trim().toLowerCase();
  const from = at("filter-from").value === "" ? -Infinity : Number(at("filter-from").value);
  const to = at("filter-to").value === "" ? Infinity : Number(at("filter-to").value);
  const found = run.samples.filter(each => (!result || each.result === result) && each.task.toLowerCase().includes(task) &&
    each.step >= from && each.step <= to);
  const order = at("filter-order").value;
  if (order === "newest") return found.reverse();
  const value = each => each[order] ?? -Infinity;
  return found.sort((a, b) => value(b) - value(a));
}

function drawSamples() {
  const found = chosenSamples();
  at("samples-count").textContent = run.left_out > 0
    ? `${countOf(found.length, "sample")} of the newest ${run.samples.length}. ${run.left_out} older ones are not loaded.`
    : `${countOf(found.length, "sample")} of ${run.samples.length}.`;
  at("samples").replaceChildren(...found.slice(0, samplesShown).map(drawSample));
  at("more-samples").hidden = found.length <= samplesShown;
}

// A result is "accepted" or a class of errors.
const resultText = result => errorWords[result] ?? result;

function drawSample(sample) {
  const isOpen = openSamples.includes(sample.number);
  const button = element("button", {type: "button", className: sample.result === "accepted" ? "accepted" : "refused",
    "aria-current": String(isOpen)},
    element("span", {className: "quiet", textContent: placeText(sample)}),
    element("span", {className: "state", textContent: resultText(sample.result)}),
    element("span", {className: "quiet", textContent: sample.speedup ? `${sample.speedup.toFixed(2)}×`
      : isEvaluation() ? countOf(sample.tokens, "token") : `reward ${rounded(sample.reward)}`}),
    element("span", {className: "why", textContent: `${sample.task}, turn ${sample.turn + 1}`}));
  button.addEventListener("click", () => goTo([sample.number]));
  const compares = element("input", {type: "checkbox", checked: isOpen,
    "aria-label": `Compare the sample of ${sample.task}, ${placeText(sample)}, turn ${sample.turn + 1}`,
    title: "Compare with another sample"});
  compares.addEventListener("change", () => goTo(compares.checked ? [...openSamples, sample.number].slice(-2)
    : openSamples.filter(each => each !== sample.number)));
  return element("li", {className: "with-choice"}, compares, button);
}

function goTo(numbers) {
  history.pushState(null, "", location.pathname + (numbers.length ? `#${numbers.join(",")}` : ""));
  orComplain(openSample)(numbers);
}

const conversationOf = async number => (await (await call(`/api/samples/${number}/${pathOf(run.name)}`)).json()).turns;
const turnOf = async number => (await conversationOf(number)).find(turn => turn.row.number === number);

async function openSample(numbers) {
  openSamples = numbers;
  drawSamples();
  at("conversation").hidden = numbers.length !== 1;
  at("comparison").hidden = numbers.length !== 2;
  at("no-sample").hidden = numbers.length > 0;
  if (numbers.length === 1) drawConversation(await conversationOf(numbers[0]), numbers[0]);
  if (numbers.length === 2) drawComparison(...await Promise.all(numbers.map(turnOf)));
}

function drawConversation(turns, number) {
  const {row} = turns[0];
  at("conversation-title").textContent = row.task;
  at("conversation-facts").textContent = (isEvaluation() ? memberText(row).replace(/^./, letter => letter.toUpperCase())
    : `Step ${row.step}, group ${row.group}, member ${row.member}`) + `: ${countOf(turns.length, "turn")}.`;
  let last = null;
  at("conversation-turns").replaceChildren(...turns.map(turn => {
    const part = drawTurn(turn, last, turn.row.number === number);
    last = turn;
    return part;
  }));
}

function folded(title, text) {
  return element("details", {}, element("summary", {textContent: title}),
    element("pre", {className: "text", tabIndex: 0, textContent: text, "aria-label": title}));
}

function drawTurn(turn, last, isOpen) {
  const {verdict} = turn;
  const part = element("article", {className: "turn", "aria-current": String(isOpen)});
  const headText = headline(verdict);
  part.append(element("h3", {textContent: `Turn ${turn.row.turn + 1}: ${headText.charAt(0).toLowerCase()}${headText.slice(1)}`,
    className: verdict.accepted ? "accepted" : "refused"}));
  const terms = turn.reward.terms.map(each => `${each.name} ${rounded(each.value * each.weight)}`).join(" + ");
  const earned = isEvaluation() ? ""
    : `Reward ${rounded(turn.reward.total)}${terms ? ` = ${terms}` : ""}; advantage ${rounded(turn.advantage)}; `;
  part.append(element("p", {className: "quiet", textContent: `${earned}${countOf(turn.row.tokens, "token")}${turn.finish === "length" ? ", cut off at the token limit" : ""}.`}));
  const isLonger = last && turn.prompt.startsWith(last.prompt);
  part.append(folded(isLonger ? "Feedback on the turn before" : "Prompt",
    isLonger ? turn.prompt.slice(last.prompt.length).trim() : turn.prompt));
  if (turn.reasoning) part.append(folded("Reasoning", turn.reasoning));
  if (turn.text && turn.text.trim() !== turn.kernel.trim()) part.append(folded("The whole answer", turn.text));
  if (turn.words) part.append(element("pre", {className: "words", tabIndex: 0, textContent: turn.words.trim(), "aria-label": "The verdict"}));
  if (last?.kernel && turn.kernel) {
    const code = element("pre", {className: "code difference", tabIndex: 0, "aria-label": "Difference from the turn before"});
    const text = showDifference(code, last.kernel, turn.kernel);
    part.append(element("details", {}, element("summary", {textContent: `Difference from the turn before: ${text}`}), code));
  }
  if (turn.kernel) {
    const code = element("pre", {className: "code", tabIndex: 0, "aria-label": "The kernel"});
    showSource(code, turn.kernel, marksOf(verdict));
    part.append(element("details", {open: isOpen}, element("summary", {textContent: "The kernel"}), code));
  }
  return part;
}

function drawComparison(one, other) {
  const facts = turn => [
    ["Task", turn.row.task], isEvaluation() ? ["Sample, turn", `${memberText(turn.row)}, ${turn.row.turn + 1}`]
      : ["Step, turn", `${turn.row.step}, ${turn.row.turn + 1}`],
    ["Result", headline(turn.verdict)],
    ["Time", turn.verdict.time_ms ? `${turn.verdict.time_ms.median.toFixed(4)} ms` : "not timed"],
    ...(isEvaluation() ? [] : [["Reward", rounded(turn.reward.total)]]),
    ["Registers", turn.verdict.kernels?.map(each => each.registers).join(", ") || "unknown"],
    ["Spills", turn.verdict.kernels?.map(each => each.spills).join(", ") || "unknown"],
  ];
  const second = facts(other);
  at("comparison-facts").replaceChildren(...facts(one).map(([name, value], index) =>
    element("tr", {}, element("th", {scope: "row", textContent: name}), element("td", {textContent: value}),
      element("td", {textContent: second[index][1]}))));
  at("comparison-text").textContent = showDifference(at("comparison-code"), one.kernel, other.kernel);
}

function prepareRuns() {
  at("sample-filters").addEventListener("input", () => {
    samplesShown = PAGE_OF_SAMPLES;
    drawSamples();
  });
  at("sample-filters").addEventListener("submit", event => event.preventDefault());
  at("more-samples").addEventListener("click", () => {
    samplesShown += PAGE_OF_SAMPLES;
    drawSamples();
  });
  at("curve-add").addEventListener("change", () => {
    if (at("curve-add").value) curves = [...curves, at("curve-add").value];
    drawCurves();
  });
}
