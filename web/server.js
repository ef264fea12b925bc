"use strict";
// Talks to the server: replies, streams of events, and the key if the server asks for one.

// The server's messages are the words of one line, as a terminal shows them.
const sentenceOf = words => words.replace(/^[a-z]+(?=[ ,])/, first => first[0].toUpperCase() + first.slice(1)).replace(/[^.!?:]$/, "$&.");

function complain(text) {
  at("notice").textContent = sentenceOf(text);
  at("notice").hidden = !text;
  if (text) at("notice").scrollIntoView({block: "nearest"});
}

async function askForKey(wasRefused) {
  complain("");
  at("key-text").textContent = wasRefused ? "The server does not know this key. Enter another one."
    : "Enter the key that its operator gave you. This browser keeps it.";
  const dialog = at("key-dialog");
  if (!dialog.open) dialog.showModal();
  await new Promise(done => dialog.addEventListener("close", done, {once: true}));
}

// A reply of the server. Asks for the key as long as the server refuses it.
async function call(path, options = {}) {
  for (;;) {
    const key = localStorage.getItem("key");
    const headers = {"Content-Type": "application/json", ...(key ? {Authorization: `Bearer ${key}`} : {})};
    const reply = await fetch(path, {...options, headers});
    if (reply.status === 401) {
      await askForKey(Boolean(key));
      continue;
    }
    if (reply.ok) return reply;
    const body = await reply.json().catch(() => null);
    throw new Error(body?.error?.message ?? `The server answered with HTTP status ${reply.status}.`);
  }
}

const post = async (path, body) => (await call(path, {method: "POST", body: JSON.stringify(body)})).json();

// Calls take(event) for each event. Returns when the stream ends.
async function readEvents(path, signal, take) {
  const reader = (await call(path, {signal})).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) take(JSON.parse(part.slice(6)));
  }
}
