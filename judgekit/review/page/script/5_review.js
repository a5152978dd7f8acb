// The review: what the buttons and keys do, in one table; where the reviewer stands; when work is kept.

const IDLE = 120; // seconds without a sign of life after which time no longer counts as reading

const data = JSON.parse(byId("data").textContent);
const entries = new Entries(data.units.map(({id}) => id));
const shelf = new Shelf(data.export);
const view = new View(data, entries, {pick: (id) => fill({passage: present().passage === id ? null : id})});

let reviewer = "";
let at = 0;
let filter = "all";
let settings = {onward: true, byKey: true};
let isDownloaded = true;
let lastSign = performance.now();

const unit = () => data.units[at];
const present = () => entries.of(unit().id);

// --- where the reviewer stands ---------------------------------------------------------------------------

function go(to) {
  spendTime();
  at = to;
  view.unit(unit());
  refresh();
  keep();
}

function refresh() {
  view.filled(unit(), at, filter);
  byId("download").textContent = isDownloaded ? "Download" : "Download •";
  byId("download").setAttribute("aria-label", isDownloaded ? "Download" : "Download, there is new work");
}

/** The nearest unit in a direction that passes, or null. */
function nearest(step, passes) {
  for (let to = at + step; to >= 0 && to < data.units.length; to += step) {
    if (passes(entries.stateOf(data.units[to].id))) return to;
  }
  return null;
}

function walk(step) {
  const to = nearest(step, (state) => filter === "all" || state === filter);
  if (to === null) say(step > 0 ? "This is the last one." : "This is the first one.");
  else move(to);
}

/** Go to the next unit without a verdict: what is left first, then what was deferred; from the top again at the end. */
function goOn(news = "") {
  const order = [...data.units.keys()].map((offset) => (at + 1 + offset) % data.units.length);
  const open = (wanted) => order.find((index) => entries.stateOf(data.units[index].id) === wanted);
  const to = open("left") ?? open("deferred");
  if (to === undefined) say("No unit is open.");
  else if (to === at) say(news || "This is the only open one.");
  else move(to, news);
}

function move(to, news = "") {
  go(to);
  const what = unit().claim ?? "the whole answer";
  say(news, `Unit ${at + 1}: ${what.slice(0, 300)}`);
}

/** Say something in passing, and the rest to a screen reader only. */
function say(what, rest = "") {
  const toast = byId("toast");
  toast.replaceChildren();
  append(toast, what);
  append(toast.appendChild(made("span", "unseen")), what && rest ? ` ${rest}` : rest);
  toast.classList.toggle("shown", what !== "");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => toast.classList.remove("shown"), 2600);
}

// --- filling in ------------------------------------------------------------------------------------------

function fill(part, options) {
  spendTime();
  entries.change(unit().id, part, options);
  isDownloaded = false;
  refresh();
  keep();
}

function judge(verdict) {
  const wasOpen = !present().verdict;
  fill({verdict, deferred: false});
  const {done, all} = entries.counts();
  const news = `${VERDICTS[verdict]}. ${done} of ${all} done.`;
  if (done === all) say("All units have a verdict. Download the file and give it back.");
  else if (wasOpen && settings.onward) goOn(news);
  else say(news);
}

function defer() {
  const on = !present().deferred;
  fill({deferred: on, verdict: null});
  if (on && settings.onward) goOn("Deferred: it comes again at the end.");
  else say(on ? "Deferred: it comes again at the end." : "No longer deferred.");
}

function remark(claim) {
  if (unit().kind === "verdict") fill({claim: present().claim === claim ? null : claim});
}

/** The next passage as the one that decides; after the last one, none. */
function pickNext(step) {
  const ids = [null, ...unit().passages.map(({id}) => id)];
  const next = ids[(ids.indexOf(present().passage) + step + ids.length) % ids.length];
  fill({passage: next});
  if (next !== null) view.lead(next);
  say(next === null ? "No passage picked." : `Decides: ${next}`);
}

function undo() {
  const id = entries.undo();
  if (id === null) {
    say("Nothing to undo.");
    return;
  }
  isDownloaded = false;
  const to = data.units.findIndex((other) => other.id === id);
  if (to === at) refresh();
  else go(to);
  keep();
  say("Undone.");
}

// --- time, and keeping -----------------------------------------------------------------------------------

function spendTime() {
  const now = performance.now();
  const seconds = (now - lastSign) / 1000;
  if (reviewer && seconds < IDLE) entries.spend(unit().id, seconds);
  lastSign = now;
}

function keep() {
  if (!reviewer) return;
  shelf.save(reviewer, {at, settings, isDownloaded, entries: entries.asJson()});
  alarm();
}

function alarm() {
  byId("alarm").hidden = shelf.available;
  byId("alarm").textContent = "This browser keeps nothing for this page: download before you close or reload it.";
}

function begin(name) {
  reviewer = name;
  byId("who-name").replaceChildren();
  append(byId("who-name"), name);
  const kept = shelf.load(name);
  entries.restore(kept?.entries);
  isDownloaded = kept?.isDownloaded ?? true;
  settings = {...settings, ...kept?.settings};
  byId("onward").checked = settings.onward;
  byId("by-key").checked = settings.byKey;
  lastSign = performance.now();
  go(Math.min(Math.max(0, kept?.at ?? 0), data.units.length - 1));
}

function download() {
  spendTime();
  const lines = linesOf(data, entries, reviewer);
  if (!lines.length) {
    say("Nothing is filled in yet.");
    return;
  }
  const by = reviewer.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "reviewer";
  handOut(`${data.export}.${by}.jsonl`, `${lines.join("\n")}\n`);
  isDownloaded = true;
  refresh();
  keep();
  say(`${plural(lines.length, "unit")} written to your downloads.`);
}

async function load(file) {
  try {
    const found = entriesOf(await file.text(), data);
    if (found.reviewer !== reviewer) throw new Error(`it is by ${found.reviewer || "nobody"}; this page is ${reviewer}'s`);
    entries.takeOver(found.entries, unit().id);
    isDownloaded = false;
    go(at);
    say(`${plural(found.entries.size, "unit")} taken from ${file.name}.`);
  } catch (error) {
    say(`${file.name} was not loaded: ${error.message}.`);
  }
}

// --- keys and buttons ------------------------------------------------------------------------------------

function focusOn(id) {
  byId(id).focus();
  byId(id).scrollIntoView({block: "nearest"});
}

function guide() {
  closeMenu();
  byId("reviewer").value = reviewer;
  byId("begin").textContent = reviewer ? "Go on" : "Begin";
  byId("guide").showModal();
}

function closeMenu() {
  byId("menu").hidePopover();
}

const KEYS = [
  ["1", "Supported", () => judge("supported")],
  ["2", "Not supported", () => judge("not_supported")],
  ["3", "Cannot tell", () => judge("cannot_tell")],
  ["ArrowRight", "Next unit", () => walk(1)],
  ["ArrowLeft", "Previous unit", () => walk(-1)],
  ["g", "Next open unit", () => goOn()],
  ["d", "Defer, or no longer", defer],
  ["u", "Undo", undo],
  ["n", "Write a note (Esc leaves it)", () => focusOn("note")],
  ["e", "Pick the passage that decides", () => pickNext(1)],
  ["E", "… the one before", () => pickNext(-1)],
  ["x", "Open or close all passages", () => view.unfoldAll()],
  ["o", "The claim is in order", () => remark("ok")],
  ["i", "It is not in the answer", () => remark("not_in_answer")],
  ["a", "It is more than one statement", () => remark("not_atomic")],
  ["p", "It repeats another claim", () => remark("duplicate")],
  ["m", "Whole answers: statements missed", () => byId("missed-row").hidden || focusOn("missed")],
  ["s", "Download", download],
  ["?", "This guide", guide],
];
const SHOWN = {ArrowRight: "→", ArrowLeft: "←", E: "Shift e"};

function onKey(event) {
  if (byId("guide").open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") byId("unit").focus();
    return;
  }
  const isArrow = event.key.startsWith("Arrow");
  if (!settings.byKey && !isArrow) return;
  const known = KEYS.find(([key]) => key === event.key) ?? KEYS.find(([key]) => key === event.key.toLowerCase());
  if (!known || (event.repeat && !isArrow)) return;
  event.preventDefault();
  known[2]();
}

function wire() {
  const on = (id, type, act) => byId(id).addEventListener(type, act);
  for (const button of document.querySelectorAll("[data-verdict]")) button.addEventListener("click", () => judge(button.dataset.verdict));
  for (const button of document.querySelectorAll("[data-claim]")) button.addEventListener("click", () => remark(button.dataset.claim));
  on("previous", "click", () => walk(-1));
  on("next", "click", () => walk(1));
  on("next-open", "click", () => goOn());
  on("defer", "click", defer);
  on("undo", "click", undo);
  on("unfold", "click", () => view.unfoldAll());
  on("download", "click", download);
  on("who", "click", guide);
  on("help", "click", guide);
  on("load", "click", () => { closeMenu(); byId("file").click(); });
  on("file", "change", async () => {
    const [file] = byId("file").files;
    if (file) await load(file);
    byId("file").value = "";
  });
  on("note", "input", () => fill({note: byId("note").value}, {join: `note ${unit().id}`}));
  on("missed", "input", () => {
    const count = byId("missed").valueAsNumber;
    fill({missed: Number.isSafeInteger(count) && count >= 0 ? count : null}, {join: `missed ${unit().id}`});
  });
  on("filter", "change", () => {
    filter = byId("filter").value;
    const fits = filter === "all" || entries.stateOf(unit().id) === filter;
    if (fits) return;
    const passes = (state) => state === filter;
    const to = nearest(1, passes) ?? nearest(-1, passes);
    if (to === null) say("No such unit.");
    else move(to);
  });
  on("theme", "click", () => setTheme(shelf.theme(isDark() ? "light" : "dark")));
  for (const [id, name] of [["onward", "onward"], ["by-key", "byKey"]]) {
    on(id, "change", () => { settings = {...settings, [name]: byId(id).checked}; keep(); });
  }
  on("guide-form", "submit", (event) => {
    event.preventDefault();
    const name = byId("reviewer").value.trim();
    if (!name) return;
    if (name !== reviewer) begin(name);
    byId("guide").close();
  });
  on("guide", "cancel", (event) => { if (!reviewer) event.preventDefault(); });
  on("guide", "close", () => {
    if (!reviewer) guide();
    else byId("unit").focus();
    lastSign = performance.now();
  });
  document.addEventListener("keydown", onKey);
  for (const sign of ["pointermove", "keydown", "wheel", "touchmove"]) document.addEventListener(sign, spendTime, {passive: true});
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { spendTime(); keep(); } else lastSign = performance.now();
  });
  addEventListener("beforeunload", (event) => { if (!isDownloaded && !shelf.available) event.preventDefault(); });
  addEventListener("storage", (event) => { // the same page in another tab has gone on: follow it
    if (event.key !== shelf.keyOf(reviewer) || !event.newValue) return;
    entries.restore(JSON.parse(event.newValue).entries);
    refresh();
  });
}

// --- light and dark --------------------------------------------------------------------------------------

const root = document.documentElement;
const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function setTheme(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  byId("theme").textContent = isDark() ? "Light colours" : "Dark colours";
}

// --- begin -----------------------------------------------------------------------------------------------

function start() {
  setTheme(shelf.theme());
  const mode = data.blind
    ? ["Blind", "This review is blind: the page does not know what the judge said."]
    : ["Assisted", "This review shows what the judge said; your verdicts count as assisted."];
  byId("mode").textContent = mode[0];
  byId("mode").classList.toggle("assisted", !data.blind);
  byId("guide-mode").textContent = mode[1];
  for (const [key, what] of KEYS) {
    const pair = byId("keys").appendChild(made("div"));
    pair.appendChild(made("dt")).append(made("kbd", "", SHOWN[key] ?? key));
    pair.append(made("dd", "", what));
  }
  wire();
  alarm();
  view.unit(unit());
  refresh();
  const last = shelf.lastReviewer();
  if (last) begin(last);
  else guide();
}

start();
