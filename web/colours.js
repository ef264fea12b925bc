"use strict";
// Shows Python source with colours, line numbers and marked lines. All text is inserted as text.

const TOKEN = new RegExp([
  "(?<comment>#.*)",
  "(?<string>[rbfRBF]{0,2}(?:\"\"\"[\\s\\S]*?(?:\"\"\"|$)|'''[\\s\\S]*?(?:'''|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?))",
  "(?<keyword>\\b(?:and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|" +
    "lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\\b)",
  "(?<number>\\b(?:0[xX][0-9a-fA-F]+|\\d+\\.?\\d*(?:[eE][+-]?\\d+)?)\\b)",
  "(?<name>@[\\w.]+|\\b(?:tl|triton|torch|self)\\b)",
].join("|"), "g");

const showSource = (element, source, marks) => drawLines(element, source.trimEnd(), marks);

function drawLines(element, source, marks) {
  element.replaceChildren();
  let number = 0, line = null;
  // The message stands below its line, because a title alone is hidden from fingers and keyboards.
  const addNote = () => {
    if (!marks.has(number)) return;
    const note = document.createElement("span");
    note.className = marks.get(number).refuses ? "note" : "note remark";
    note.textContent = marks.get(number).text;
    element.append(note);
  };
  const newLine = () => {
    addNote();
    line = document.createElement("span");
    line.className = "line";
    line.dataset.number = String(++number);
    if (marks.has(number)) line.classList.add(marks.get(number).refuses ? "marked" : "remarked");
    element.append(line);
  };
  const add = (text, kind) => {
    text.split("\n").forEach((part, index) => {
      if (index > 0) newLine();
      if (!part) return;
      const span = document.createElement("span");
      if (kind) span.className = kind;
      span.textContent = part;
      line.append(span);
    });
  };
  newLine();
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    add(source.slice(at, match.index));
    add(match[0], Object.keys(match.groups).find(kind => match.groups[kind] !== undefined));
    at = match.index + match[0].length;
  }
  add(source.slice(at));
  addNote();
}
