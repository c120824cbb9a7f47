/** The config of a session as it is now, each entry with what it means, and as JSON. */

import { named } from "./about.js";
import { button, el, fill, say } from "./dom.js";
import { sentence } from "./fields.js";
import { day } from "./format.js";

const MEANING = {
  model: "What is predicted, and by which loss.",
  algorithm: "How a sample moves the parameters and the step size.",
  dim: "How many features a sample has; by default the first sample tells.",
  eta0: "The step size of the first sample.",
  regret: "Whether the regret is kept exactly, which costs memory that grows with dim².",
  retain: "Whether all samples are kept, so that a fork can learn them again.",
  drift: "Whether a rising loss raises an alarm.",
  named: "Whether features have names.",
  max_features: "How many names are kept apart; further names share places.",
  hash_bits: "Further names share 2 to this power places.",
  classes: "The names of the classes, in the order of their indexes.",
  theta0: "The parameters it began with; by default 0.",
  expire_seconds: "Seconds without a sample after which it is deleted; by default never.",
  shadows: "Other algorithms that learn the same samples.",
  label_seconds: "Seconds that a prediction with an id waits for its label.",
  expired_label: "The label that is learnt when none came in time; by default none is.",
};
const LONGEST = 200;

/** A card with the config. */
export class ConfigCard {
  #known = "";

  constructor() {
    this.rows = el("tbody");
    this.json = el("pre", { tabindex: 0, "aria-label": "The config as JSON" });
    this.notice = el("span", { role: "status", class: "hint" });
    const copy = button("Copy JSON", () => this.#copy(), { class: "quiet" });
    const head = el("div", { class: "card-head" }, el("h2", {}, "Config"), this.notice, copy);
    const columns = ["entry", "value", "meaning"].map((one) => el("th", { scope: "col" }, one));
    const table = el("table", {}, el("thead", {}, el("tr", {}, columns)), this.rows);
    const hint = "It is set when the session is created; promoting a shadow changes the algorithm.";
    const raw = el("details", {}, el("summary", {}, "As JSON"), this.json);
    const parts = [head, table, el("p", { class: "hint" }, hint), raw];
    this.element = el("section", { class: "card config", "aria-label": "Config" }, parts);
  }

  /** Show the config of a state, in the catalogue's words. */
  show({ config, created_at: created }, catalog) {
    const known = JSON.stringify([config, created]);
    if (known === this.#known) return;
    this.#known = known;
    const { options = {}, ...plain } = config;
    const { models, algorithms } = catalog;
    const shadows = Object.keys(plain.shadows ?? {}).join(", ") || "none";
    const parts = [named(models, config.model), named(algorithms, config.algorithm)];
    const about = {
      ...MEANING,
      model: `${MEANING.model} Here: ${parts[0].summary}.`,
      algorithm: `${MEANING.algorithm} Here: ${parts[1].summary}.`,
    };
    const known_options = parts.flatMap((part) => part.options);
    const rows = [
      ...Object.entries({ ...plain, shadows }).map(([name, value]) => {
        return row(name, value, about[name] ?? "");
      }),
      ...Object.entries(options).map(([name, value]) => {
        return row(`options.${name}`, value, sentence(named(known_options, name)?.summary));
      }),
      row("created", created ? day(created) : "not known", "When the session was created."),
    ];
    fill(this.rows, rows);
    say(this.json, JSON.stringify(config, null, 1));
  }

  /** Where the browser does not let a page copy, the text is at least selected. */
  async #copy() {
    try {
      await navigator.clipboard.writeText(this.json.textContent);
      say(this.notice, "Copied");
    } catch {
      this.json.closest("details").open = true;
      getSelection().selectAllChildren(this.json);
      say(this.notice, "Selected: copy it with your keyboard");
    }
  }
}

function row(name, value, meaning) {
  const word = typeof value === "string" ? value : JSON.stringify(value);
  const text = value === null ? "default" : word;
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  const cells = [el("td", { class: "value" }, shown), el("td", { class: "words" }, meaning)];
  return el("tr", {}, el("th", { scope: "row" }, el("code", {}, name)), cells);
}
