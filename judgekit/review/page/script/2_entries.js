// What the reviewer has filled in: one entry a unit, replaced and never written into, so that a step can be undone.

const VERDICTS = {supported: "Supported", not_supported: "Not supported", cannot_tell: "Cannot tell"};
const CLAIMS = ["ok", "not_in_answer", "not_atomic", "duplicate"];
const BLANK = Object.freeze({
  verdict: null, claim: null, passage: null, missed: null, note: "", deferred: false, seconds: 0,
});

class Entries {
  #ids;
  #filled = new Map();
  #steps = [];

  constructor(ids) {
    this.#ids = ids;
  }

  of(id) {
    return this.#filled.get(id) ?? BLANK;
  }

  /** Change one entry, as a step that `undo` takes back; a step with the last one's `join` is part of that one. */
  change(id, part, {join = null} = {}) {
    const before = this.of(id);
    const last = this.#steps.at(-1);
    if (!join || last?.join !== join) this.#steps.push({id, join, before: new Map([[id, before]])});
    this.#filled.set(id, Object.freeze({...before, ...part}));
  }

  /** Take over many entries in one step. */
  takeOver(entries, id) {
    const before = new Map([...entries.keys()].map((key) => [key, this.of(key)]));
    this.#steps.push({id, join: null, before});
    for (const [key, entry] of entries) this.#filled.set(key, Object.freeze({...entry}));
  }

  /** Take back the last step; returns the unit it belonged to, or null. Time spent is kept. */
  undo() {
    const step = this.#steps.pop();
    if (!step) return null;
    for (const [id, entry] of step.before) this.#filled.set(id, {...entry, seconds: this.of(id).seconds});
    return step.id;
  }

  canUndo() {
    return this.#steps.length > 0;
  }

  spend(id, seconds) {
    const entry = this.of(id);
    this.#filled.set(id, Object.freeze({...entry, seconds: entry.seconds + seconds}));
  }

  stateOf(id) {
    const {verdict, deferred} = this.of(id);
    if (verdict) return "done";
    return deferred ? "deferred" : "left";
  }

  counts() {
    const counts = {all: this.#ids.length, done: 0, deferred: 0, left: 0};
    for (const id of this.#ids) counts[this.stateOf(id)] += 1;
    return counts;
  }

  isFilled(id) {
    const {verdict, claim, passage, missed, note, deferred} = this.of(id);
    return Boolean(verdict || claim || passage || missed !== null || note.trim() || deferred);
  }

  asJson() {
    return Object.fromEntries(this.#filled);
  }

  /** Begin anew with entries as `asJson` gave them; unknown units are left out. */
  restore(json) {
    this.#steps = [];
    this.#filled = new Map();
    for (const id of this.#ids) if (json?.[id]) this.#filled.set(id, Object.freeze({...BLANK, ...json[id]}));
  }
}
