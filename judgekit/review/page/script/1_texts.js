// Texts under review are hostile until shown otherwise: they enter the page as text nodes only, and signs that would
// be invisible or turn the line around are shown by their number.

const UNSEEN = new RegExp(
  "([\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f" + // controls but tab and line ends
  "\\u200b\\u202d\\u202e\\ufeff\\ufffe\\uffff" + // of no width, turning the line, no characters
  "\\u{e0000}-\\u{e007f}])\\1*", // tags
  "gu",
);

/** Append text to a parent, each run of one unseen sign as `U+202E` or `U+0000 ×3`. */
function append(parent, text) {
  let from = 0;
  for (const {0: run, 1: sign, index} of text.matchAll(UNSEEN)) {
    if (index > from) parent.append(text.slice(from, index));
    const number = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const times = run.length / sign.length;
    parent.append(made("span", "sign", `U+${number}${times > 1 ? ` ×${times}` : ""}`));
    from = index + run.length;
  }
  if (from < text.length) parent.append(text.slice(from));
}

/** Fill a parent with text. `marks`: flat lists of [start, end, ...] by kind; where kinds overlap, both are seen. */
function put(parent, text, marks = {}) {
  const edges = [];
  for (const [kind, spans] of Object.entries(marks)) {
    for (let at = 0; at < (spans ?? []).length; at += 2) edges.push([spans[at], kind, 1], [spans[at + 1], kind, -1]);
  }
  edges.sort((one, other) => one[0] - other[0]);
  parent.replaceChildren();
  const open = new Map();
  let from = 0;
  for (const [at, kind, step] of [...edges, [text.length, "", 0]]) {
    if (at > from) {
      const kinds = [...open.keys()].filter((name) => open.get(name) > 0);
      const into = kinds.length ? parent.appendChild(made("mark", kinds.join(" "))) : parent;
      append(into, text.slice(from, at));
      from = at;
    }
    if (kind) open.set(kind, (open.get(kind) ?? 0) + step);
  }
}

/** A new element; its content, if any, is text. */
function made(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

const byId = (id) => document.getElementById(id);
const all = (selector) => document.querySelectorAll(selector);
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
