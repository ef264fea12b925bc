"use strict";
// The page of `tritonsmith serve`: its tabs and forms, which order searches and judgements (search.js shows them), and its
// history. The server keeps everything, so a reload or a link shows the same.

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
const BASELINES = ["eager", "torch_compile"];  // a GPU times them once for each module
// As the server says: `mayTime` is false where the judge has no GPU, and `errorWords` has the classes of errors in words.
let models = [], hasRuns = false, mayTime = true, errorWords = {};

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
  shown.id = null;
  at("result").hidden = true;
  at("run").hidden = true;
  document.title = "Tritonsmith";
}

const timeText = ms => new Date(ms).toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});

// Says in the history how a search or a judgement ended, or what it waits for.
function resultOf(search) {
  if (search.state !== "done") return stateText(search);
  if (search.order.kind === "judge" && search.attempts) return search.accepted ? "Accepted." : "Not accepted.";
  return search.attempts ? `${countedText(search)}.` : stateText(search);
}

async function drawHistory() {
  at("no-history").hidden = true;  // until the server says so
  const {searches} = await (await call("/api/searches")).json();
  at("no-history").hidden = searches.length > 0;
  at("history-table").hidden = searches.length === 0;
  at("history").replaceChildren(...searches.map(search => {
    const row = document.createElement("tr");
    const cell = child => row.insertCell().append(child);
    cell(timeText(search.created_ms));
    cell(search.order.kind === "judge" ? "Judge" : "Write");
    cell(element("a", {href: `/search/${search.id}`, textContent: search.order.title}));
    cell(resultOf(search));
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
    if (shown.id === id && shown.search) return chooseByAddress();
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
      for (const name of ["conversations", "turns", "seconds", "tune"]) at(name).value = order[name] ?? 0;
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
  } catch (error) {
    leaveSearch();  // the result of an earlier order is none of this one
    history.pushState(null, "", `/#${body.kind}`);
    throw error;
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

// A judge without a GPU measures no speed, so nothing that needs one is offered.
function showTiming(judgedBy) {
  for (const each of document.querySelectorAll(".timed")) each.hidden = !mayTime;
  for (const each of document.querySelectorAll(".untimed")) {
    each.hidden = mayTime;
    each.textContent = `The judge says whether a kernel is right, and does not time it: ${judgedBy}.`;
  }
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
  at("module").addEventListener("input", () => { at("task").value = ""; });  // it is another module then
}

// Puts a text into a field as if somebody had typed it.
function put(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input"));
}

function prepareForms() {
  at("strategy").addEventListener("change", showBudget);

  at("write-form").addEventListener("submit", event => {
    event.preventDefault();
    orComplain(order)(at("write"), {
      kind: "write", model: at("writer").value, source: at("module").value, ...callsOf(""), policy: at("policy").value,
      strategy: at("strategy").value, ...budget(),
      seed: 1 + Math.floor(Math.random() * 0x7fffffff),  // so that the model writes something else when it is asked again
      seconds: Number(at("seconds").value), ...(mayTime ? {light: Number(at("light").value) / 100, tune: Number(at("tune").value)} : {}),
      enough: at("first").checked ? "first" : "all", baselines: BASELINES,
    });
  });
  at("judge-form").addEventListener("submit", event => {
    event.preventDefault();
    orComplain(order)(at("judge"), {kind: "judge", source: at("judge-module").value, ...callsOf("judge-"),
      kernel: at("judge-kernel").value, policy: at("judge-policy").value, baselines: BASELINES});
  });
  at("key-form").addEventListener("submit", event => {
    event.preventDefault();
    localStorage.setItem("key", at("key").value.trim());
    at("key").value = "";
    at("key-dialog").close();
  });
  at("key-dialog").addEventListener("cancel", event => event.preventDefault());
  for (const form of document.querySelectorAll("form"))
    form.addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  for (const area of document.querySelectorAll("textarea")) {
    area.addEventListener("dragover", event => {
      event.preventDefault();
      area.classList.add("over");
    });
    area.addEventListener("dragleave", () => area.classList.remove("over"));
    area.addEventListener("drop", async event => {
      event.preventDefault();
      area.classList.remove("over");
      const file = event.dataTransfer.files[0];
      put(area, file ? await file.text() : event.dataTransfer.getData("text"));
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

// Browsers give pages a clipboard only over TLS and on the server's own machine.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function prepareButtons() {
  let target = null;
  for (const button of document.querySelectorAll("[data-file]"))
    button.addEventListener("click", () => {
      target = at(button.dataset.file);
      at("file").click();
    });
  at("file").addEventListener("change", async () => {
    if (at("file").files[0]) put(target, await at("file").files[0].text());
    at("file").value = "";
  });
  at("example").addEventListener("click", () => put(at("module"), EXAMPLE));
  at("stop").addEventListener("click", orComplain(() => post(`/api/searches/${shown.id}/stop`, {})));
  at("copy").addEventListener("click", orComplain(async () => {
    await copy(shown.attempts[shown.chosen].kernel);
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
document.querySelectorAll("textarea.source").forEach(makeEditor);
prepareForms();
prepareTasks();
prepareButtons();
prepareRuns();
addEventListener("popstate", orComplain(route));
addEventListener("resize", () => { if (!at("chart").hidden) drawChart(at("chart"), shown.attempts); });
orComplain(async () => {
  const info = await (await call("/api/info")).json();
  models = info.models;
  hasRuns = info.runs;
  mayTime = info.may_time;
  errorWords = info.errors;
  showModels();
  showTiming(info.judged_by);
  at("tab-runs").hidden = !hasRuns;
  await route();
  performance.mark("ready");  // bench/page_times.py reads it
})();
