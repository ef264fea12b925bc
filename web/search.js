"use strict";
// Follows one search or judgement of the server as events, and draws its attempts, its chart and its code.

// The search on the page: its record, its attempts, the one that is chosen, and the one that was drawn in detail.
let shown = {id: null, search: null, attempts: [], chosen: null, isChosenByHand: false, view: "kernel", drawn: null};
let following = null;  // aborts the stream of events

const isOver = search => search && search.state !== "queued" && search.state !== "running";

async function follow(id) {
  following?.abort();
  const mine = following = new AbortController();
  shown = {id, search: null, attempts: [], chosen: null, isChosenByHand: false, view: "kernel", drawn: null};
  readAddress();
  at("attempts").replaceChildren();
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

// The address names the attempt that somebody chose: /search/ID#attempt-7.
function readAddress() {
  const named = /^#attempt-([1-9]\d*)$/.exec(location.hash);
  shown.isChosenByHand = Boolean(named);
  if (named) shown.chosen = Number(named[1]) - 1;
}

function chooseByAddress() {
  readAddress();
  chooseAttempt();
}

// Shows the attempt that was chosen by hand, or else the best one, or the last one while none is accepted.
function chooseAttempt() {
  if (isOver(shown.search) && !shown.attempts[shown.chosen]) shown.isChosenByHand = false;
  if (!shown.isChosenByHand) shown.chosen = shown.search.best ?? (shown.attempts.length ? shown.attempts.length - 1 : null);
  drawResult();
}

function takeEvent(event) {
  shown.search = event.search;
  shown.live = event.live;
  for (const attempt of event.attempts) shown.attempts[attempt.number] = attempt;
  chooseAttempt();
}

const times = speedup => `${speedup.toFixed(2)} times as fast`;

// Says what the attempts brought. Equal kernels count once, and an answer without a kernel counts as such.
function countedText(search) {
  const {attempts, kernels, accepted, best_speedup: speedup, without_kernel: without} = search;
  const tuned = search === shown.search ? shown.attempts.filter(each => each.kind === "tune").length : 0;
  const found = accepted === 0 ? "none accepted" : `${accepted} accepted${speedup ? `, the fastest ${times(speedup)} as PyTorch` : ""}`;
  return countOf(attempts, "attempt") + (tuned ? ` (${tuned} of them tuned ${tuned === 1 ? "variant" : "variants"})` : "") + (kernels ? ` with ${countOf(kernels, kernels === 1 ? "kernel" : "different kernel")}, ${found}` : "") +
    (without ? `${kernels ? "; " : ", "}${countOf(without, "answer")} without a kernel` : "");
}

function stateText(search) {
  const {order, state} = search;
  if (order.kind === "judge") {
    if (state === "queued") return "The kernel waits for its turn.";
    if (state === "running") return "The judge is testing the kernel.";
    if (state === "done" && search.attempts === 0) return "The time ended before there was a verdict. Try again later.";
    return state === "done" ? `Judged in ${search.seconds.toFixed(1)} s.` : search.error;
  }
  const counted = countedText(search);
  if (state === "queued" && order.model && !models.includes(order.model))
    return `This search waits for a server with the model ${order.model}. This server does not have it.`;
  if (state === "queued") return models.length ? "This search waits for its turn, because other searches are running."
    : "This search waits for a server with a model. This server has none.";
  if (state === "running")
    return search.attempts ? `Writing and judging: ${counted} so far, of at most ${countOf(order.conversations * order.turns, "attempt")}.`
      : "The judge checks the module, and the model writes its first kernels.";
  const why = search.why?.replace(/\.$/, "");
  if (state === "done" && search.attempts === 0 && why) return `No kernel was written, because ${why}.`;
  if (state === "done")
    return `Done after ${search.seconds.toFixed(search.seconds < 10 ? 1 : 0)} s: ${counted}.${why ? ` The search ended because ${why}.` : ""}`;
  return state === "stopped" ? `Stopped after ${counted}.` : `Failed after ${counted}. ${search.error}`;
}

// Says who writes a search, and by which rules.
function orderText({kind, model, policy, strategy}) {
  return [...(kind === "judge" ? [] : [model && `model ${model}`, strategy]), `policy ${policy}`].filter(Boolean).join(" · ");
}

function headline(verdict) {
  if (verdict.accepted) return verdict.speedup ? `Accepted: ${times(verdict.speedup)} as PyTorch` : "Accepted: right in all trials";
  if (verdict.correct) return "Correct, but refused";
  if (verdict.fault === "infrastructure") return "No verdict: the judge failed";
  if (verdict.fault === "none" && verdict.error) return `No verdict: ${errorWords[verdict.error.class] ?? verdict.error.class}`;
  return verdict.stage === "none" ? "No kernel in the answer" : "Not right";
}

// A message with the line that it speaks of, in the form of placed_message in src/data/failure.h.
function placed({message = "", line, excerpt}) {
  if (!line || new RegExp(`line ${line}(?!\\d)`).test(message)) return message;
  return `${message} (line ${line}${excerpt ? `: ${excerpt}` : ""})`;
}

function reason(verdict) {
  if (verdict.accepted) return "";
  return placed(verdict.error ?? (verdict.findings ?? []).find(each => each.severity === "reject") ?? {});
}

// Says which attempt's kernel this one repeats or changes: "changes 3". An attempt names others by the number of their ask.
function originOf(attempt, noun = "") {
  const isRepeated = Number.isInteger(attempt.same_as);
  const other = isRepeated ? attempt.same_as : attempt.turn ? null : attempt.parent;
  const found = Number.isInteger(other) && shown.attempts.find(each => each?.ask === other);
  return found ? `${isRepeated ? "repeats" : attempt.kind === "tune" ? "tunes" : "changes"} ${noun}${found.number + 1}` : "";
}

// Ideas are words, and no kernel that could be right or wrong.
const isIdeas = attempt => attempt.kind === "ideas";

// Returns what a line says of an attempt.
function lineOf(attempt) {
  const {verdict} = attempt;
  const state = isIdeas(attempt) ? "ideas in words" : verdict.accepted ? "accepted"
    : verdict.error ? errorWords[verdict.error.class] ?? verdict.error.class : errorWords.refused;
  const origin = attempt.turn ? `turn ${attempt.turn + 1}` : originOf(attempt);
  return {state, why: isIdeas(attempt) ? "" : reason(verdict),
    kind: isIdeas(attempt) ? "" : verdict.accepted ? "accepted" : "refused",
    note: Number.isInteger(attempt.same_as) ? originOf(attempt) : verdict.speedup ? `${verdict.speedup.toFixed(2)}×` : origin};
}

// Neighbours with equal keys share a line: kernels that fail in the same way. A kernel that comes again shares the line of the
// first one, wherever that is.
function keyOf(attempt) {
  const {state, why} = lineOf(attempt);
  return isIdeas(attempt) ? `${attempt.number}` : JSON.stringify([state, why, attempt.turn, attempt.verdict.accepted && attempt.kernel.trim()]);
}

function groupsOf(attempts) {
  const groups = [];
  for (const attempt of attempts) {
    const key = keyOf(attempt);
    const equal = Number.isInteger(attempt.same_as) && groups.find(each => each.attempts.some(other => other.ask === attempt.same_as));
    const group = equal || (groups.at(-1)?.key === key && groups.at(-1));
    if (group) group.attempts.push(attempt); else groups.push({key, attempts: [attempt]});
  }
  return groups.map(each => each.attempts);
}

// Returns the numbers of attempts in a few signs: "1, 4–6".
function numbersText(attempts) {
  const ranges = [];
  for (const {number} of attempts)
    if (ranges.at(-1)?.[1] === number - 1) ranges.at(-1)[1] = number; else ranges.push([number, number]);
  return ranges.map(([first, last]) => first === last ? `${first + 1}` : `${first + 1}–${last + 1}`).join(", ");
}

const span = (className, textContent) => element("span", {className, textContent});
const withBest = (state, attempts) => attempts.some(each => each.number === shown.search.best) ? `best, ${state}` : state;

function drawAttempt(attempt, hasWhy = true) {
  const {state, note, why, kind} = lineOf(attempt);
  const button = element("button", {type: "button", className: kind, "aria-current": String(attempt.number === shown.chosen)},
    span("quiet", String(attempt.number + 1)), span("state", withBest(state, [attempt])), span("quiet", note));
  if (why && hasWhy) button.append(span("why", why));
  button.dataset.number = attempt.number;
  button.addEventListener("click", () => {
    history.replaceState(null, "", `#attempt-${attempt.number + 1}`);
    chooseByAddress();
  });
  return element("li", {}, button);
}

// Draws equal attempts as one line with their count, which opens to each of them.
function drawGroup(attempts) {
  const {state, why, kind} = lineOf(attempts[0]), {speedup} = attempts[0].verdict;
  const note = speedup ? `${speedup.toFixed(2)}× · ${attempts.length} equal` : `${attempts.length} times`;
  const summary = element("summary", {className: kind}, span("quiet", numbersText(attempts)),
    span("state", withBest(state, attempts)), span("quiet", note));
  if (why) summary.append(span("why", why));
  return element("li", {}, element("details", {open: shown.isChosenByHand && attempts.some(each => each.number === shown.chosen)}, summary,
    element("ol", {}, ...attempts.map(each => drawAttempt(each, false)))));
}

// Draws what is new or has changed, so that the list keeps its place, its focus and what is open.
function drawAttempts() {
  const list = at("attempts"), groups = groupsOf(shown.attempts);
  groups.forEach((attempts, index) => {
    const item = attempts.length === 1 ? drawAttempt(attempts[0]) : drawGroup(attempts), old = list.children[index];
    if (!old) return list.append(item);
    const details = item.querySelector("details");
    if (details && old.querySelector("details")?.open) details.open = true;
    if (old.isEqualNode(item)) return;
    const focus = old.contains(document.activeElement) ? document.activeElement : null;
    old.replaceWith(item);
    const button = focus && item.querySelector(`[data-number="${focus.dataset.number}"]`);
    if (focus) (button && (!details || details.open) ? button : item.querySelector("summary"))?.focus();
  });
  while (list.children.length > groups.length) list.lastChild.remove();
}

// Says how many attempts are on their way.
function awaitedText() {
  const {writing, judging} = shown.live ?? {};
  if (isOver(shown.search) || !(writing || judging)) return "";
  const parts = [writing && `the model is writing ${countOf(writing, "answer")}`, judging && `the judge is testing ${countOf(judging, "kernel")}`];
  return `Now ${parts.filter(Boolean).join(", and ")}.`;
}

function drawDetail() {
  const attempt = shown.attempts[shown.chosen];
  at("detail").hidden = !attempt;
  if (!attempt) return;
  if (shown.drawn === attempt) return offerViews(attempt);
  shown.drawn = attempt;
  const {verdict} = attempt;
  const isJudgement = shown.search.order.kind === "judge";
  at("detail-title").replaceChildren(isJudgement ? "Verdict"
    : element("a", {href: `#attempt-${attempt.number + 1}`, title: "A link to this attempt", textContent: `Attempt ${attempt.number + 1}`}));
  at("origin").textContent = [originOf(attempt, "attempt "), attempt.idea && `idea: ${attempt.idea}`].filter(Boolean).join("; ")
    .replace(/^./, letter => letter.toUpperCase());
  at("headline").textContent = isIdeas(attempt) ? "Ideas in words, for the next attempts" : headline(verdict);
  at("headline").className = isIdeas(attempt) ? "" : verdict.accepted ? "accepted" : "refused";
  at("words").textContent = (isIdeas(attempt) ? attempt.text.replace(/<\/?answer>/g, "") : attempt.words).trim();
  at("kernel-part").hidden = isIdeas(attempt);
  drawCalls(attempt.calls ?? []);
  at("copy").hidden = at("download").hidden = !attempt.kernel;
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

// Returns the messages for each line of the kernel that the verdict names, and whether one of them refuses the kernel.
function marksOf(verdict) {
  const marks = new Map();
  const add = ({line, message}, refuses) => {
    const known = marks.get(line);
    if (line > 0 && !known?.text.endsWith(message))
      marks.set(line, {text: known ? `${known.text}\n${message}` : message, refuses: refuses || Boolean(known?.refuses)});
  };
  if (verdict.error) add(verdict.error, true);
  for (const finding of verdict.findings ?? []) add(finding, finding.severity === "reject");
  return marks;
}

// Offers the kernel, the module, and how the kernel differs from the module or another attempt.
function offerViews(attempt) {
  const others = shown.attempts.filter(each => each.kernel && each.kernel !== attempt.kernel && !Number.isInteger(each.same_as));
  const shownText = attempt.kernel ? "The kernel" : "The answer";
  const views = [["kernel", shownText], ["module", "The module"], ["both", `${shownText} beside the module`]];
  if (attempt.kernel) {
    views.push(["from-module", "Difference from the module"]);
    for (const each of others) views.push([`from-${each.number}`, `Difference from attempt ${each.number + 1}`]);
  }
  if (!views.some(([value]) => value === shown.view)) shown.view = "kernel";
  if (views.join() !== [...at("view").options].map(each => [each.value, each.text]).join())
    at("view").replaceChildren(...views.map(([value, text]) => new Option(text, value)));
  at("view").value = shown.view;
}

// Shows what the view asks for.
function drawCode(attempt) {
  offerViews(attempt);
  const isBoth = shown.view === "both";
  at("code").setAttribute("aria-label", isBoth ? "The kernel" : at("view").selectedOptions[0].text);
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
  const isFirst = at("result").hidden;
  at("result").hidden = false;
  at("title").textContent = search.order.title;
  document.title = `${search.order.title} · Tritonsmith`;
  at("ordered").textContent = orderText(search.order);
  at("state").textContent = stateText(search);
  at("state").dataset.state = search.state;
  at("stop").hidden = isOver(search);
  at("progress").hidden = isOver(search) || search.order.kind === "judge";
  at("progress").max = search.order.conversations * search.order.turns;
  at("progress").value = search.attempts;
  const isJudgement = search.order.kind === "judge";
  at("attempts").parentElement.hidden = isJudgement || (shown.attempts.length === 0 && !awaitedText());
  at("awaited").textContent = awaitedText();
  drawAttempts();
  drawChart(at("chart"), isJudgement ? [] : shown.attempts);
  drawDetail();
  if (isFirst) at("result").scrollIntoView();  // the form above may fill the window
}
