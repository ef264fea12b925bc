"use strict";
// Makes an editor of a text field for source: with colours, line numbers, and the indentation of a new line. The field stays an
// ordinary text area, so the keyboard, forms and screen readers know it. Its own letters are transparent, and the coloured text
// lies below them. Tab leaves the field, as it leaves any other.

const MOST_COLOURED = 2e5;  // characters: the colours of a longer text would hold up typing

function makeEditor(area) {
  const text = element("pre", {className: "code"});
  const frame = element("div", {className: "editor"}, element("div", {className: "under", "aria-hidden": "true"}, text));
  area.replaceWith(frame);
  frame.append(area);
  area.wrap = "off";
  const scroll = () => { text.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`; };
  const draw = () => {
    const isColoured = area.value.length <= MOST_COLOURED;
    frame.classList.toggle("plain", !isColoured);
    if (isColoured) drawLines(text, area.value, new Map()); else text.replaceChildren();
    scroll();
  };
  area.addEventListener("input", draw);
  area.addEventListener("scroll", scroll);
  area.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    document.execCommand("insertText", false, `\n${indentAfter(area.value.slice(0, area.selectionStart))}`);  // can be undone
  });
  // A text that the page itself puts into the field makes no event.
  const {get, set} = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
  Object.defineProperty(area, "value", {
    get: () => get.call(area),
    set: value => {
      set.call(area, value);
      draw();
    },
  });
  draw();
}

// Returns the indentation of a line that follows the text: that of its last line, and one step more after a colon.
function indentAfter(text) {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return /^[ \t]*/.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
}
