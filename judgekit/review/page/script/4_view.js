// The present unit on the page. Only this one is in the document, so a thousand units are no heavier than one.

const FIRST_OPEN = 3;
// A map, not an object: ids of contexts are anything, `constructor` too.
const NAMED = new Map([["@reference", "The reference"], ["@answer", "The answer"]]);

class View {
  #data;
  #entries;
  #act;

  constructor(data, entries, act) {
    this.#data = data;
    this.#entries = entries;
    this.#act = act;
  }

  /** Lay out a unit: all its texts, with nothing filled in yet. */
  unit(unit) {
    const whole = unit.kind === "sample";
    const text = (index) => this.#data.texts[index];
    byId("unit").className = unit.kind;
    put(byId("question"), text(unit.question));
    byId("task").textContent = taskOf(unit);
    byId("claim").hidden = whole;
    put(byId("claim"), unit.claim ?? "");
    this.#cites(unit);
    this.#claims(unit);
    this.#judge(unit);
    byId("origin").textContent = unit.side === "reference" ? "The reference it is taken from" : "The answer";
    byId("not-in-it").textContent = `Not in the ${unit.side}`;
    put(byId("answer"), text(unit.text), {claimed: unit.span});
    byId("claim-ok").hidden = whole;
    byId("missed-row").hidden = !whole;
    this.#passages(unit);
    for (const id of ["asked", "evidence"]) byId(id).scrollTop = 0;
    byId("unit").scrollIntoView({block: "start"});
    centre(byId("answer"));
  }

  /** Show what is filled in of a unit, and how far the review is. */
  filled(unit, at, filter) {
    const entry = this.#entries.of(unit.id);
    const press = (button, on) => button.setAttribute("aria-pressed", String(on));
    for (const button of all("[data-verdict]")) press(button, button.dataset.verdict === entry.verdict);
    for (const button of all("[data-claim]")) press(button, button.dataset.claim === entry.claim);
    for (const card of byId("passages").children) {
      const picked = card.dataset.passage === entry.passage;
      card.classList.toggle("picked", picked);
      const pick = card.querySelector(".pick");
      if (pick) press(pick, picked);
    }
    if (byId("note").value !== entry.note) byId("note").value = entry.note;
    const missed = entry.missed === null ? "" : String(entry.missed);
    if (byId("missed").value !== missed) byId("missed").value = missed;
    press(byId("defer"), entry.deferred && !entry.verdict);
    byId("undo").disabled = !this.#entries.canUndo();
    this.#progress(at, filter);
  }

  #progress(at, filter) {
    const counts = this.#entries.counts();
    byId("bar-done").style.width = `${(100 * counts.done) / counts.all}%`;
    byId("bar-deferred").style.width = `${(100 * counts.deferred) / counts.all}%`;
    byId("counts").textContent = `${counts.done} done · ${counts.deferred} deferred · ${counts.left} left`;
    byId("place").textContent = `${at + 1} / ${counts.all}`;
    const names = {all: "All units", left: "Left", deferred: "Deferred", done: "Done"};
    byId("filter").replaceChildren(...Object.entries(names).map(([value, name]) => {
      const option = made("option", "", `${name} (${counts[value]})`);
      option.value = value;
      option.selected = value === filter;
      return option;
    }));
  }

  #cites(unit) {
    const line = byId("cites");
    line.replaceChildren();
    if (unit.kind === "sample") return;
    if (!unit.markers.length) {
      if (unit.side === "answer") line.textContent = "It cites no passage.";
      return;
    }
    line.append("It cites ");
    unit.markers.forEach((marker, at) => {
      if (at) line.append(" ");
      const cited = line.appendChild(made("bdi"));
      append(cited, marker);
    });
  }

  #claims(unit) {
    byId("taken").hidden = !unit.claims.length;
    byId("claims").replaceChildren(...unit.claims.map((claim) => {
      const item = made("li");
      item.dir = "auto";
      append(item, claim);
      return item;
    }));
  }

  #judge(unit) {
    const lines = byId("judge");
    lines.hidden = !unit.judge;
    lines.replaceChildren();
    if (!unit.judge) return;
    const {label, reason, quotes} = unit.judge;
    const line = lines.appendChild(made("p", "", "The judge said "));
    line.append(made("b", "", label.replaceAll("_", " ")), reason ? ": " : ".");
    append(line.appendChild(made("bdi")), reason ?? "");
    for (const [id, text, isFound] of quotes) {
      const quote = lines.appendChild(made("blockquote"));
      quote.dir = "auto";
      append(quote, text);
      const from = lines.appendChild(made("p", "fine", isFound ? "from " : "not found in "));
      append(from.appendChild(made("bdi")), NAMED.get(id)?.toLowerCase() ?? id);
    }
  }

  #passages(unit) {
    const cited = unit.passages.filter((passage) => passage.cited).length;
    byId("evidence-head").textContent = headOf(unit);
    byId("unfold").hidden = unit.passages.length <= (cited || FIRST_OPEN);
    const isChoice = unit.passages.length > 1;
    const cards = unit.passages.map((passage, at) => {
      const card = this.#passage(passage, at, isChoice);
      this.unfold(card, cited ? passage.cited : at < FIRST_OPEN);
      return card;
    });
    byId("passages").replaceChildren(...cards);
    if (!cards.length) byId("passages").append(made("p", "none", "Nothing was retrieved for this answer."));
  }

  #passage(passage, at, isChoice) {
    const card = made("article", "passage");
    card.dataset.passage = passage.id;
    const fold = card.appendChild(made("button", "fold"));
    fold.type = "button";
    const name = fold.appendChild(made("span", "name"));
    name.dir = "auto";
    append(name, passage.title || NAMED.get(passage.id) || passage.id);
    if (passage.cited) fold.append(made("span", "tag", "cited"));
    append(fold.appendChild(made("bdi", "facts")), factsOf(passage));
    const text = this.#data.texts[passage.text];
    const glimpse = fold.appendChild(made("span", "glimpse"));
    glimpse.dir = "auto";
    append(glimpse, text.slice(0, 160));
    const body = card.appendChild(made("div", "body"));
    body.id = `passage-${at}`;
    fold.setAttribute("aria-controls", body.id);
    fold.addEventListener("click", () => this.unfold(card, body.hidden));
    card.fill = () => {
      const box = body.appendChild(made("div", "text"));
      box.dir = "auto";
      box.lang = "";
      put(box, text, {quote: passage.quotes, word: passage.words});
      card.fill = null;
      if (!isChoice) return;
      const pick = body.appendChild(made("button", "pick", "This passage decides"));
      pick.type = "button";
      pick.setAttribute("aria-pressed", String(card.classList.contains("picked")));
      pick.addEventListener("click", () => this.#act.pick(passage.id));
    };
    return card;
  }

  /** Open or close a passage; its text is laid out when it is first opened. */
  unfold(card, isOpen) {
    if (isOpen) card.fill?.();
    card.querySelector(".body").hidden = !isOpen;
    card.querySelector(".fold").setAttribute("aria-expanded", String(isOpen));
  }

  /** Open all passages, or close them when all are open. */
  unfoldAll() {
    const cards = [...byId("passages").querySelectorAll(".passage")];
    const isOpen = cards.some((card) => card.querySelector(".body").hidden);
    for (const card of cards) this.unfold(card, isOpen);
  }

  /** Bring a passage into view, open. */
  lead(id) {
    const card = [...byId("passages").children].find(({dataset}) => dataset.passage === id);
    if (!card) return;
    this.unfold(card, true);
    card.scrollIntoView({block: "nearest"});
  }
}

/** What the reviewer is asked. A claim is held against passages, or against one text: the reference or the answer. */
function taskOf({kind, passages}) {
  if (kind === "sample") return "Do the passages support everything that the answer says?";
  const one = passages.length === 1 && NAMED.get(passages[0].id);
  return one ? `Does ${one.toLowerCase()} support this claim?` : "Do the passages support this claim?";
}

function headOf({kind, passages}) {
  const ranked = passages.filter(({id}) => !NAMED.has(id));
  if (!ranked.length) return passages.length ? "Held against" : "Passages";
  const cited = passages.filter((passage) => passage.cited).length;
  return plural(ranked.length, "passage") + (kind === "sample" ? "" : `, ${cited || "none"} cited`);
}

function factsOf({id, title, doc, version, rank}) {
  const facts = [rank && `rank ${rank}`, title && id, doc && `document ${doc}`, version && `version ${version}`];
  return facts.filter(Boolean).join(" · ");
}

/** Scroll a box, and nothing around it, so that the claim marked in it stands in the middle. */
function centre(box) {
  const mark = box.querySelector("mark.claimed");
  box.scrollTop = 0;
  if (!mark) return;
  const [first, frame] = [mark.getClientRects()[0], box.getBoundingClientRect()];
  if (first) box.scrollTop = Math.max(0, first.top - frame.top - box.clientHeight / 3);
}
