// Keys, buttons and colours, and the first step.

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
  ["i", "It is not in the text it is taken from", () => remark("not_in_answer")],
  ["a", "It is more than one statement", () => remark("not_atomic")],
  ["p", "It repeats another claim", () => remark("duplicate")],
  ["m", "Whole answers: statements missed", () => byId("missed-row").hidden || focusOn("missed")],
  ["s", "Download", download],
  ["?", "This guide", guide],
];
const SHOWN = {ArrowRight: "→", ArrowLeft: "←", E: "Shift e"};

/** What a key would be with digits unshifted and Latin letters: on other keyboards `1` may be `&`, and `n` a `т`. */
function latin({key, code, shiftKey}) {
  const digit = !shiftKey && /^Digit(\d)$/.exec(code);
  const letter = key > "\x7f" && /^Key([A-Z])$/.exec(code);
  const found = digit || letter;
  return found ? found[1].toLowerCase() : null;
}

function onKey(event) {
  if (byId("guide").open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") byId("unit").focus();
    return;
  }
  const isArrow = event.key.startsWith("Arrow");
  if (!settings.byKey && !isArrow) return;
  const names = [event.key, event.key.toLowerCase(), latin(event)];
  const known = names.map((name) => KEYS.find(([key]) => key === name)).find(Boolean);
  if (!known || (event.repeat && !isArrow)) return;
  event.preventDefault();
  known[2]();
}

function wire() {
  const on = (id, type, act) => byId(id).addEventListener(type, act);
  for (const button of all("[data-verdict]")) button.addEventListener("click", () => judge(button.dataset.verdict));
  for (const button of all("[data-claim]")) button.addEventListener("click", () => remark(button.dataset.claim));
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
    // chosen with the mouse: keys are commands again
    if (!byId("filter").matches(":focus-visible")) byId("unit").focus();
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
    byId("unit").focus(); // at once, so that the next key is no longer typed into the dialog
  });
  on("guide", "cancel", (event) => { if (!reviewer) event.preventDefault(); });
  on("guide", "close", () => {
    if (!reviewer) guide();
    else byId("unit").focus();
    lastSign = performance.now();
  });
  document.addEventListener("click", ({detail, target}) => {
    // a click must not leave the button under the space bar, which would then judge the next unit
    if (detail > 0 && target.closest(".bottom button, .choices button")) byId("unit").focus({preventScroll: true});
  });
  document.addEventListener("keydown", onKey);
  for (const sign of ["pointermove", "keydown", "wheel", "touchmove"]) {
    document.addEventListener(sign, spendTime, {passive: true});
  }
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
const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

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
