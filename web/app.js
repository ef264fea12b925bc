"use strict";
// The page of `tritonsmith serve`. It orders searches and judgements, follows one as events, and
// shows its attempts. The server keeps everything, so a reload or a link shows the same.

const at = id => document.getElementById(id);
const EXAMPLE = `import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []
`;
// The search on the page: its record, its attempts, and the attempt that is shown.
let shown = {id: null, search: null, attempts: [], chosen: null, isChosenByHand: false, view: "kernel"};
let following = null;  // aborts the stream of events
let models = [], hasRuns = false;  // as the server says

// ---- A search

const isOver = search => search && search.state !== "queued" && search.state !== "running";

async function follow(id) {
  following?.abort();
  const mine = following = new AbortController();
  shown = {id, search: null, attempts: [], chosen: null, isChosenByHand: false, view: "kernel"};
  at("result").hidden = true;
  for (let wait = 500; !mine.signal.aborted && !isOver(shown.search); wait = Math.min(2 * wait, 5000)) {
    try {
      await readEvents(`/api/searches/${id}/events`, mine.signal, event => {
        if (mine.signal.aborted) return;
        complain("");
        wait = 500;
        takeEvent(event);
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      complain(error instanceof TypeError ? "The server does not answer. The page tries again by itself." : error.message);
      if (!(error instanceof TypeError)) return;
    }
    if (!isOver(shown.search)) await new Promise(done => setTimeout(done, wait));
  }
}

function takeEvent(event) {
  shown.search = event.search;
  shown.live = event.live;
  for (const attempt of event.attempts) shown.attempts[attempt.number] = attempt;
  if (!shown.isChosenByHand) shown.chosen = event.search.best ?? (shown.attempts.length ? shown.attempts.length - 1 : null);
  drawResult();
}

const times = speedup => `${speedup.toFixed(2)} times as fast`;

function stateText(search) {
  const {order, state} = search;
  if (order.kind === "judge") {
    if (state === "queued") return "Waiting for its turn.";
    if (state === "running") return "The kernel is being judged.";
    if (state === "done" && search.attempts === 0) return "The time was up before there was a verdict.";
    return state === "done" ? `Judged in ${search.seconds.toFixed(1)} s.` : search.error;
  }
  const found = search.accepted === 0 ? "no kernel is accepted" : `${search.accepted} accepted` +
    (search.best_speedup ? `, the fastest ${times(search.best_speedup)} as PyTorch` : "");
  const counted = `${search.attempts} ${search.attempts === 1 ? "attempt" : "attempts"}, ${found}`;
  if (state === "queued" && order.model && !models.includes(order.model))
    return `Waiting for a server with the model ${order.model}: this one does not have it.`;
  if (state === "queued") return models.length ? "Waiting for its turn: other searches are running."
    : "Waiting for a server with a model: this one has none.";
  if (state === "running")
    return search.attempts ? `Writing and judging: ${counted} so far.` : "The model writes its first kernels.";
  if (state === "done")
    return `Done after ${search.seconds.toFixed(0)} s: ${counted}.${search.why ? ` The search ended because ${search.why}.` : ""}`;
  return `${state === "stopped" ? "Stopped" : "Failed"} after ${counted}. ${search.error}`;
}

// Says who writes a search, and by which rules.
function orderText({kind, model, policy, strategy}) {
  return [...(kind === "judge" ? [] : [model && `model ${model}`, strategy]), `policy ${policy}`].filter(Boolean).join(" · ");
}

function headline(verdict) {
  if (verdict.accepted) return verdict.speedup ? `Accepted: ${times(verdict.speedup)} as PyTorch` : "Accepted: proved right";
  if (verdict.correct) return "Correct, but refused";
  if (verdict.fault === "infrastructure") return "No verdict: the judge failed";
  return verdict.stage === "none" ? "No kernel in the answer" : "Not right";
}

function reason(verdict) {
  if (verdict.accepted) return "";
  const rejecting = (verdict.findings ?? []).find(each => each.severity === "reject");
  const line = verdict.error?.line || rejecting?.line;
  return (line ? `line ${line}: ` : "") + (verdict.error?.message ?? rejecting?.message ?? "");
}

// Says which attempt's kernel this one changes.
function originOf(attempt) {
  if (attempt.turn || attempt.parent === null || attempt.parent === undefined) return "";
  const parent = shown.attempts.find(each => each?.ask === attempt.parent);
  return parent ? `changes ${parent.number + 1}` : "";
}

function drawAttempt(attempt) {
  const {verdict, number} = attempt;
  const button = document.createElement("button");
  button.type = "button";
  button.className = verdict.accepted ? "accepted" : "refused";
  button.setAttribute("aria-current", String(number === shown.chosen));
  const add = (kind, text) => {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = text;
    button.append(span);
  };
  add("quiet", String(number + 1));
  add("state", (number === shown.search.best ? "best, " : "") + (verdict.accepted ? "accepted" : verdict.error?.class ?? "refused"));
  add("quiet", verdict.speedup ? `${verdict.speedup.toFixed(2)}×` : attempt.turn ? `turn ${attempt.turn + 1}` : originOf(attempt));
  if (reason(verdict)) add("why", reason(verdict));
  button.addEventListener("click", () => {
    shown.chosen = number;
    shown.isChosenByHand = true;
    drawResult();
  });
  const item = document.createElement("li");
  item.append(button);
  return item;
}

function drawDetail() {
  const attempt = shown.attempts[shown.chosen];
  at("detail").hidden = !attempt;
  if (!attempt) return;
  const {verdict} = attempt;
  const isJudgement = shown.search.order.kind === "judge";
  at("detail-title").textContent = isJudgement ? "Verdict" : `Attempt ${attempt.number + 1}`;
  at("headline").textContent = headline(verdict);
  at("headline").className = verdict.accepted ? "accepted" : "refused";
  at("words").textContent = attempt.words.trim();
  drawCalls(attempt.calls ?? []);
  at("copy").disabled = at("download").disabled = !attempt.kernel;
  at("patch").hidden = at("patch-test").hidden = isJudgement || !verdict.accepted;
  drawCode(attempt);
}

// Shows how fast an accepted kernel is for each call of the module, if there are several.
function drawCalls(calls) {
  at("calls").hidden = calls.length === 0;
  at("calls").tBodies[0].replaceChildren(...calls.map(verdict => {
    const row = document.createElement("tr");
    const ms = verdict.time_ms ? `, ${verdict.time_ms.median.toPrecision(3)} ms` : "";
    row.insertCell().append(verdict.task.replace(`${shown.search.order.title} with `, ""));
    row.insertCell().append(verdict.speedup ? times(verdict.speedup) + ms : "right; not timed");
    return row;
  }));
}

// Returns the message for each line of the kernel that the verdict names.
function marksOf(verdict) {
  const marks = new Map();
  for (const each of [...(verdict.findings ?? []), ...(verdict.error ? [verdict.error] : [])])
    if (each.line > 0) marks.set(each.line, each.message);
  return marks;
}

// Shows the kernel, the module, or how the kernel differs from the module or another attempt.
function drawCode(attempt) {
  const others = shown.attempts.filter(each => each.kernel && each.number !== attempt.number);
  const views = [["kernel", "The kernel"], ["module", "The module"], ["both", "The kernel beside the module"]];
  if (attempt.kernel) {
    views.push(["from-module", "Difference from the module"]);
    for (const each of others) views.push([`from-${each.number}`, `Difference from attempt ${each.number + 1}`]);
  }
  if (!views.some(([value]) => value === shown.view)) shown.view = "kernel";
  at("view").replaceChildren(...views.map(([value, text]) => new Option(text, value)));
  at("view").value = shown.view;
  const isBoth = shown.view === "both";
  at("code").setAttribute("aria-label", views.find(([value]) => value === (isBoth ? "kernel" : shown.view))[1]);
  at("codes").classList.toggle("two", isBoth);
  at("beside").hidden = !isBoth;
  at("difference").textContent = "";
  const {source} = shown.search.order;
  at("code").classList.toggle("difference", shown.view.startsWith("from-"));
  if (shown.view === "module") return showSource(at("code"), source, new Map());
  if (isBoth) showSource(at("beside"), source, new Map());
  if (shown.view === "kernel" || isBoth) return showSource(at("code"), attempt.kernel || attempt.text || "", marksOf(attempt.verdict));
  const before = shown.view === "from-module" ? source : shown.attempts[Number(shown.view.slice("from-".length))].kernel;
  at("difference").textContent = showDifference(at("code"), before, attempt.kernel);
}

function drawResult() {
  const {search} = shown;
  at("result").hidden = false;
  at("title").textContent = search.order.title;
  document.title = `${search.order.title} · Tritonsmith`;
  at("ordered").textContent = orderText(search.order);
  at("state").textContent = stateText(search);
  at("state").dataset.state = search.state;
  at("stop").hidden = isOver(search);
  at("progress").hidden = isOver(search) || search.order.kind === "judge";
  at("progress").max = search.order.conversations * search.order.turns;
  at("progress").value = shown.live?.judged ?? 0;
  const isJudgement = search.order.kind === "judge";
  at("attempts").parentElement.hidden = isJudgement || shown.attempts.length === 0;
  at("attempts").replaceChildren(...shown.attempts.map(drawAttempt));
  drawChart(at("chart"), isJudgement ? [] : shown.attempts);
  drawDetail();
}

// ---- Tabs, forms and history

const TABS = ["write", "judge", "history", "runs"];

function choose(tab) {
  for (const each of TABS) {
    at(`tab-${each}`).setAttribute("aria-selected", String(each === tab));
    at(`tab-${each}`).tabIndex = each === tab ? 0 : -1;
    at(`panel-${each}`).hidden = each !== tab;
  }
}

function leaveSearch() {
  following?.abort();
  at("result").hidden = true;
  at("run").hidden = true;
  document.title = "Tritonsmith";
}

async function drawHistory() {
  const {searches} = await (await call("/api/searches")).json();
  at("no-history").hidden = searches.length > 0;
  at("history-table").hidden = searches.length === 0;
  at("history").replaceChildren(...searches.map(search => {
    const row = document.createElement("tr");
    const cell = child => row.insertCell().append(child);
    cell(new Date(search.created_ms).toLocaleString());
    const link = document.createElement("a");
    link.href = `/search/${search.id}`;
    link.textContent = `${search.order.kind === "judge" ? "Judge" : "Write"}: ${search.order.title}`;
    cell(link);
    cell(search.order.kind === "judge" && search.state === "done" ? (search.accepted ? "Accepted." : "Not accepted.")
      : stateText(search));
    return row;
  }));
}

// Shows what the address names.
async function route() {
  complain("");
  const [, kind, id] = location.pathname.split("/");
  if (kind === "run" && id) {
    leaveSearch();
    choose("runs");
    at("panel-runs").hidden = true;
    at("run").hidden = false;
    return openRun(location.pathname.slice("/run/".length).split("/").map(decodeURIComponent).join("/"));
  }
  at("run").hidden = true;
  if (kind === "search" && id) {
    const {search} = await (await call(`/api/searches/${encodeURIComponent(id)}`)).json();
    const {order} = search;
    fillCalls(order.kind === "judge" ? "judge-" : "", order);
    if (order.kind === "judge") {
      at("judge-module").value = order.source;
      at("judge-kernel").value = order.kernel;
      at("judge-policy").value = order.policy;
    } else {
      at("module").value = order.source;
      at("task").value = "";
      at("policy").value = order.policy;
      at("strategy").value = order.strategy;
      if (models.includes(order.model)) at("writer").value = order.model;
      for (const name of ["conversations", "turns", "seconds"]) at(name).value = order[name];
      at("attempts-most").value = order.conversations * order.turns;
      showBudget();
      at("light").value = order.light ? Math.round(1000 * order.light) / 10 : "";
      at("first").checked = order.enough === "first";
    }
    choose(order.kind === "judge" ? "judge" : models.length ? "write" : "history");
    if (!models.length) at("panel-history").hidden = true;
    return follow(search.id);
  }
  leaveSearch();
  const wanted = location.hash.slice(1);
  const tab = TABS.includes(wanted) && !at(`tab-${wanted}`).hidden ? wanted : models.length ? "write" : hasRuns ? "runs" : "judge";
  choose(tab);
  if (tab === "history") await drawHistory();
  if (tab === "runs") await drawRuns();
}

const orComplain = action => async (...words) => {
  try {
    await action(...words);
  } catch (error) {
    complain(error instanceof TypeError ? "The server does not answer. Try again later." : error.message);
  }
};

async function order(button, body) {
  complain("");
  button.disabled = true;
  try {
    const {id} = await post("/api/searches", body);
    history.pushState(null, "", `/search/${id}`);
    follow(id);
  } finally {
    button.disabled = false;
  }
}

// The calls of the module, as an order has them.
function callsOf(prefix) {
  const inputs = at(`${prefix}inputs`).value.split("\n").map(line => line.trim()).filter(Boolean);
  const calls = inputs.length ? {inputs} : {};
  for (const name of ["name", "init", "dtype"]) {
    const value = at(prefix + name).value.trim();
    if (value) calls[name] = value;
  }
  return calls;
}

function fillCalls(prefix, order) {
  at(`${prefix}inputs`).value = (order.inputs ?? []).join("\n");
  for (const name of ["name", "init", "dtype"]) at(prefix + name).value = order[name] ?? "";
  at(`${prefix}shapes`).open = Object.keys(callsOf(prefix)).length > 0;
}

// Only conversations have turns. The other strategies have attempts.
function showBudget() {
  const hasTurns = at("strategy").value === "sequential";
  for (const name of ["conversations", "turns"]) at(name).closest("label").hidden = !hasTurns;
  at("attempts-most").closest("label").hidden = hasTurns;
}

function budget() {
  const number = name => Number(at(name).value);
  return at("strategy").value === "sequential" ? {conversations: number("conversations"), turns: number("turns")}
    : {conversations: number("attempts-most"), turns: 1};
}

// Fills the parts that both forms have. The ids of a copy begin with its prefix.
function copyParts() {
  for (const place of document.querySelectorAll("[data-of]")) {
    const part = at(place.dataset.of).content.cloneNode(true);
    for (const each of part.querySelectorAll("[data-id]")) each.id = (place.dataset.prefix ?? "") + each.dataset.id;
    place.append(part);
  }
}

function showModels() {
  at("model").textContent = models.length > 1 ? `${models.length} models` : models.length ? `model ${models[0]}` : "no model";
  at("tab-write").hidden = !models.length;
  at("writer").replaceChildren(...models.map(each => new Option(each, each)));
  at("writer").closest("label").hidden = models.length < 2;
}

// Offers the modules of the suite, which the server sends when somebody looks for them.
function prepareTasks() {
  let tasks = null;
  const fetchTasks = orComplain(async () => {
    if (tasks) return;
    ({tasks} = await (await call("/api/tasks")).json());
    at("task").append(...tasks.map((task, index) => new Option(task.is ? `${task.is} (${task.id})` : task.id, index)));
  });
  for (const moment of ["pointerdown", "focus"]) at("task").addEventListener(moment, fetchTasks);
  at("task").addEventListener("change", () => {
    if (at("task").value) at("module").value = tasks[at("task").value].source;
  });
}

function prepareForms() {
  at("strategy").addEventListener("change", showBudget);

  at("write-form").addEventListener("submit", event => {
    event.preventDefault();
    orComplain(order)(at("write"), {
      kind: "write", model: at("writer").value, source: at("module").value, ...callsOf(""), policy: at("policy").value,
      strategy: at("strategy").value, ...budget(),
      seconds: Number(at("seconds").value), light: Number(at("light").value) / 100, enough: at("first").checked ? "first" : "all",
    });
  });
  at("judge-form").addEventListener("submit", event => {
    event.preventDefault();
    orComplain(order)(at("judge"), {kind: "judge", source: at("judge-module").value, ...callsOf("judge-"),
      kernel: at("judge-kernel").value, policy: at("judge-policy").value});
  });
  at("key-form").addEventListener("submit", event => {
    event.preventDefault();
    localStorage.setItem("key", at("key").value.trim());
    at("key").value = "";
    at("key-dialog").close();
  });
  at("key-dialog").addEventListener("cancel", event => event.preventDefault());
  for (const area of document.querySelectorAll("textarea")) {
    area.addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
    });
    area.addEventListener("dragover", event => {
      event.preventDefault();
      area.classList.add("over");
    });
    area.addEventListener("dragleave", () => area.classList.remove("over"));
    area.addEventListener("drop", async event => {
      event.preventDefault();
      area.classList.remove("over");
      const file = event.dataTransfer.files[0];
      area.value = file ? await file.text() : event.dataTransfer.getData("text");
    });
  }
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/x-python"}));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function prepareButtons() {
  let target = null;
  for (const button of document.querySelectorAll("[data-file]"))
    button.addEventListener("click", () => {
      target = at(button.dataset.file);
      at("file").click();
    });
  at("file").addEventListener("change", async () => {
    if (at("file").files[0]) target.value = await at("file").files[0].text();
    at("file").value = "";
  });
  at("example").addEventListener("click", () => { at("module").value = EXAMPLE; });
  at("stop").addEventListener("click", orComplain(() => post(`/api/searches/${shown.id}/stop`, {})));
  at("copy").addEventListener("click", orComplain(async () => {
    await navigator.clipboard.writeText(shown.attempts[shown.chosen].kernel);
    at("copy").textContent = "Copied";
    setTimeout(() => { at("copy").textContent = "Copy the kernel"; }, 1500);
  }));
  at("download").addEventListener("click", () => save(shown.attempts[shown.chosen].kernel, "kernel.py"));
  at("view").addEventListener("change", () => {
    shown.view = at("view").value;
    drawCode(shown.attempts[shown.chosen]);
  });
  const downloadPatch = async part => {
    const patch = await (await call(`/api/searches/${shown.id}/patch/${shown.chosen}`)).json();
    save(patch[part], part === "test" ? `${patch.name}_test.py` : `${patch.name}.py`);
  };
  at("patch").addEventListener("click", orComplain(() => downloadPatch("module")));
  at("patch-test").addEventListener("click", orComplain(() => downloadPatch("test")));
  TABS.forEach(tab => {
    at(`tab-${tab}`).addEventListener("click", () => {
      history.pushState(null, "", `/#${tab}`);
      orComplain(route)();
    });
    at(`tab-${tab}`).addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      const open = TABS.filter(each => !at(`tab-${each}`).hidden);
      at(`tab-${open[(open.indexOf(tab) + step + open.length) % open.length]}`).focus();
    });
  });
}

copyParts();
prepareForms();
prepareTasks();
prepareButtons();
prepareRuns();
addEventListener("popstate", orComplain(route));
orComplain(async () => {
  const info = await (await call("/api/info")).json();
  models = info.models;
  hasRuns = info.runs;
  showModels();
  at("tab-runs").hidden = !hasRuns;
  await route();
})();
