/** Samples by hand: paste or type them, send them, and see the answer or what is wrong and where. */

import { sessionPath, Unreachable } from "./api.js";
import { button, el, fill } from "./dom.js";
import { exampleLines } from "./example.js";
import { number, plural } from "./format.js";
import { parseSamples, Unclear } from "./parse.js";
import { problemBox, where } from "./problem.js";

const [MOST_ROWS, DOUBT] = [8, "No answer came, so the samples may or may not have been learnt: look at t before you send again."];

/** The card of a session's page that sends samples. */
export class Samples {
  constructor(api, name) {
    Object.assign(this, { api, name, model: null, dim: null, options: {} });
    this.text = el("textarea", { rows: 6, spellcheck: "false", autocomplete: "off", "aria-label": "Samples" });
    this.hint = el("p", { class: "hint" });
    this.told = el("div", { class: "told", "aria-live": "polite" });
    this.go = el("button", { type: "submit", class: "primary" }, "Learn");
    const example = button("Insert an example", () => this.#example(), { class: "quiet" });
    const foot = el("div", { class: "card-foot" }, example, this.go);
    const form = el("form", { novalidate: true, on: { submit: (event) => this.#submit(event) } }, this.text, this.hint, foot);
    const head = el("div", { class: "card-head" }, el("h2", {}, "Send samples"));
    this.element = el("section", { class: "card samples" }, head, form, this.told);
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }

  /** What the session takes. */
  show({ model, dim, options }) {
    Object.assign(this, { model, dim, options });
    const row = model.features ? `${dim ?? "any number of"} features, then y, a line each` : "a y a line";
    fill(this.hint, `CSV (${row}), JSON or NDJSON. y: ${model.domain}. Ctrl + Enter sends.`);
    this.text.placeholder = model.features ? '0.5, -1.2, 1.0\n{"x": [0.1, 0.3], "y": 0}' : '4.2\n{"y": 3.9}';
  }

  async #submit(event) {
    event.preventDefault();
    this.go.disabled = true;
    try {
      await this.#learn(parseSamples(this.text.value, this.model?.features ?? true));
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      this.#unclear(error);
    } finally {
      this.go.disabled = false;
    }
  }

  async #learn({ body, place }) {
    try {
      const path = sessionPath(this.name, "/samples?predictions=true");
      this.#answer(await this.api.send("POST", path, body));
    } catch (error) {
      const found = (error.problem?.errors ?? []).map(place).find(Boolean);
      const says = (one) => (place(one) ? this.#goTo(place(one)) : where(one));
      const doubt = error instanceof Unreachable ? el("p", { class: "problem" }, DOUBT) : null;
      fill(this.told, doubt ?? problemBox(error, says));
      if (found) this.#select(found.line);
    }
  }

  #answer(answer) {
    const { predictions, ...rest } = answer;
    const words = answer.duplicate ? "Known already: nothing to learn" : `Learnt ${plural(answer.accepted, "sample", "samples")}`;
    const figures = ` · t ${answer.t} · η ${number(answer.eta)} · mean loss ${number(answer.loss.mean)}`;
    const raw = el("details", {}, el("summary", {}, "The answer"), el("pre", { tabindex: 0 }, JSON.stringify(rest, null, 1)));
    const before = Array.isArray(predictions) ? predictions.slice(-MOST_ROWS).map(predicted).join(", ") : null;
    const told = before && el("p", { class: "hint" }, `Predicted before learning${predictions.length > MOST_ROWS ? ", the last" : ""}: ${before}`);
    fill(this.told, el("div", { class: "answer" }, el("p", {}, el("strong", {}, words), figures), told, raw));
  }

  #unclear(error) {
    const at = error.line && this.#goTo(error);
    fill(this.told, el("div", { class: "problem", role: "alert" }, el("p", {}, at, error.message)));
    if (error.line) this.#select(error.line);
    else this.text.focus();
  }

  #goTo({ line, column, rest }) {
    const words = `line ${line}${column ? `, field ${column}` : ""}${rest ? ` ${rest}` : ""}`;
    return button(words, () => this.#select(line), { class: "place" });
  }

  #select(line) {
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }

  #example() {
    if (!this.model) return;
    this.text.value = exampleLines(this.model, this.dim, this.options);
    this.text.focus();
  }
}

function predicted(value) {
  return Array.isArray(value) ? `(${value.map((one) => number(one, 3)).join(" ")})` : number(value, 3);
}
