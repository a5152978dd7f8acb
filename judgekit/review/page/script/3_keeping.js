// Two ways out of the page: the browser's own storage, as far as it lets a local file have one, and the file that
// the reviewer downloads, which is what counts.

class Shelf {
  available = true;
  #export;

  constructor(exportId) {
    this.#export = `judgekit:${exportId}`;
    try {
      localStorage.setItem(this.#export + ":probe", "1");
      localStorage.removeItem(this.#export + ":probe");
    } catch {
      this.available = false;
    }
  }

  keyOf(reviewer) {
    return `${this.#export}:by:${reviewer}`;
  }

  lastReviewer() {
    return this.#read(`${this.#export}:last`) ?? "";
  }

  load(reviewer) {
    return this.#read(this.keyOf(reviewer));
  }

  save(reviewer, work) {
    this.#write(`${this.#export}:last`, reviewer);
    this.#write(this.keyOf(reviewer), work);
  }

  theme(chosen) {
    if (chosen) this.#write("judgekit:theme", chosen);
    return chosen ?? this.#read("judgekit:theme");
  }

  #read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  }

  #write(key, value) {
    if (!this.available) return;
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      this.available = false; // full, or taken away: from now on only the download is safe
    }
  }
}

/** The lines of the download: only units of which something is filled in, and of them only what is. */
function linesOf(data, entries, reviewer) {
  const lines = [];
  for (const {id} of data.units) {
    if (!entries.isFilled(id)) continue;
    const {verdict, claim, passage, missed, note, seconds} = entries.of(id);
    const state = entries.stateOf(id);
    lines.push(JSON.stringify({
      unit_id: id,
      export_id: data.export,
      reviewer,
      blind: data.blind,
      status: state === "left" ? "blank" : state,
      verdict: verdict ?? undefined,
      claim_ok: claim ?? undefined,
      evidence_id: passage ?? undefined,
      missed: missed ?? undefined,
      note: note.trim() || undefined,
      minutes: Math.round(seconds / 0.6) / 100,
    }));
  }
  return lines;
}

/** The inverse of `linesOf`: {reviewer, entries}. Throws an Error that names the line at fault. */
function entriesOf(text, data) {
  const units = new Map(data.units.map((unit) => [unit.id, unit]));
  const entries = new Map();
  const reviewers = new Set();
  text.replace(/^\ufeff/, "").split(/\r?\n/).forEach((raw, at) => {
    if (!raw.trim()) return;
    try {
      const line = JSON.parse(raw);
      const unit = unitOf(line, units, data.export);
      if (entries.has(unit.id)) throw new Error(`unit ${unit.id} stands here twice`);
      entries.set(unit.id, entryOf(line, unit));
      reviewers.add(String(line.reviewer ?? ""));
    } catch (error) {
      const what = error instanceof SyntaxError ? "is no line of a download of this page" : error.message;
      throw new Error(`line ${at + 1}: ${what}`);
    }
  });
  if (!entries.size) throw new Error("there is nothing in it");
  if (reviewers.size > 1) throw new Error(`it is by several reviewers (${[...reviewers].join(", ")})`);
  return {reviewer: [...reviewers][0], entries};
}

function unitOf(line, units, exportId) {
  if (line?.export_id !== exportId) throw new Error(`belongs to another export than this page (${exportId})`);
  const unit = units.get(line.unit_id);
  if (!unit) throw new Error(`no unit ${line.unit_id} in this page`);
  return unit;
}

function entryOf(line, unit) {
  const {verdict = null, claim_ok = null, evidence_id = null, missed = null, note = "", minutes, status} = line;
  if (verdict !== null && !Object.hasOwn(VERDICTS, verdict)) throw new Error(`no verdict ${verdict}`);
  if (claim_ok !== null && !CLAIMS.includes(claim_ok)) throw new Error(`no claim_ok ${claim_ok}`);
  if (evidence_id !== null && !unit.passages.some(({id}) => id === evidence_id)) {
    throw new Error(`no passage ${evidence_id}`);
  }
  return {
    verdict,
    claim: claim_ok,
    passage: evidence_id,
    missed: Number.isSafeInteger(missed) && missed >= 0 ? missed : null,
    note: String(note),
    deferred: status === "deferred",
    seconds: Math.max(0, Number(minutes) || 0) * 60,
  };
}

/** Hand a file to the browser's downloads. */
function handOut(name, text) {
  const link = made("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "application/jsonl"}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
