// The review: what the buttons and keys do, in one table; where the reviewer stands; when work is kept.

const IDLE = 120; // the most seconds that count as reading without a sign of life

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

/**
 * Go to the next unit without a verdict, from the top again at the end: what is left before what was deferred, unless
 * the filter asks for the latter.
 */
function goOn(news = "") {
  const order = [...data.units.keys()].map((offset) => (at + 1 + offset) % data.units.length);
  const open = (wanted) => order.find((index) => entries.stateOf(data.units[index].id) === wanted);
  const to = filter === "deferred" ? open("deferred") ?? open("left") : open("left") ?? open("deferred");
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
  if (unit().passages.length < 2) return;
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
  if (reviewer) entries.spend(unit().id, Math.min(seconds, IDLE));
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

/** Go on under a name: with the work kept under it, or with none, or with the same if only the name has changed. */
function begin(name) {
  const kept = shelf.load(name);
  const filled = data.units.filter(({id}) => entries.isFilled(id)).length;
  const isRenamed = !kept && reviewer && filled && confirm(
    `Is ${name} the new name of ${reviewer}? OK takes ${plural(filled, "unit")} along, Cancel begins anew.`,
  );
  reviewer = name;
  byId("who-name").replaceChildren();
  append(byId("who-name"), name);
  if (!isRenamed) {
    entries.restore(kept?.entries);
    isDownloaded = kept?.isDownloaded ?? true;
    at = Math.min(Math.max(0, kept?.at ?? 0), data.units.length - 1);
  }
  settings = {...settings, ...kept?.settings};
  byId("onward").checked = settings.onward;
  byId("by-key").checked = settings.byKey;
  lastSign = performance.now();
  go(at);
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
    const by = found.reviewer || "nobody";
    if (by !== reviewer) throw new Error(`it is by ${by}; this page is ${reviewer}'s`);
    entries.takeOver(found.entries, unit().id);
    isDownloaded = false;
    go(at);
    say(`${plural(found.entries.size, "unit")} taken from ${file.name}.`);
  } catch (error) {
    say(`${file.name} was not loaded: ${error.message}.`);
  }
}
