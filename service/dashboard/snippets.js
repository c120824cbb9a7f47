/** Ready commands for this very session, to be copied: curl and Python. The key stays out of them. */

import { button, el, fill, say, set } from "./dom.js";
import { exampleSample } from "./example.js";

const LONGEST = 12;

/** A card with the snippets of a session. */
export class Snippets {
  #texts = {};
  #shown = "curl";

  constructor() {
    const tab = (id, label) => button(label, () => this.#choose(id), { "data-tab": id, "aria-pressed": "false" });
    this.tabs = [tab("curl", "curl"), tab("python", "Python")];
    this.code = el("code");
    this.told = el("span", { role: "status", class: "hint" });
    const copy = button("Copy", () => this.#copy(), { class: "quiet" });
    const head = el("div", { class: "card-head" }, el("h2", {}, "From your code"), el("div", { class: "switch" }, this.tabs));
    const foot = el("div", { class: "card-foot" }, this.told, copy);
    this.element = el("section", { class: "card snippets" }, head, el("pre", { tabindex: 0 }, this.code), foot);
    this.#choose("curl");
  }

  /** Write them for a session. */
  show({ name, dim, model, origin, keyed }) {
    const sample = exampleSample(model, dim);
    this.#texts = { curl: curl(name, sample, origin, keyed), python: python(name, sample, origin, keyed) };
    say(this.code, this.#texts[this.#shown]);
  }

  #choose(id) {
    this.#shown = id;
    for (const tab of this.tabs) set(tab, { "aria-pressed": String(tab.dataset.tab === id) });
    say(this.code, this.#texts[id] ?? "");
    fill(this.told);
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.code.textContent);
      say(this.told, "Copied");
    } catch {
      getSelection().selectAllChildren(this.code);
      say(this.told, "Selected: copy it with your keyboard");
    }
  }
}

function curl(name, sample, origin, keyed) {
  const at = `${origin}/v1/sessions/${name}`;
  const key = keyed ? ` \\\n     -H "authorization: Bearer $LLR_KEY"` : "";
  const type = ` \\\n     -H 'content-type: application/json'`;
  const long = (sample.x?.length ?? 0) > LONGEST;
  const data = (value) => (long ? "@sample.json" : `'${JSON.stringify(value)}'`);
  const asked = sample.x ? data({ x: sample.x }) : "'{}'";
  return [
    long ? `# sample.json: {"x": [… ${sample.x.length} numbers …], "y": 1}` : null,
    "# learn",
    `curl ${at}/samples${key}${type} \\\n     -d ${data(sample)}`,
    "# predict",
    `curl ${at}/predict${key}${type} \\\n     -d ${asked}`,
    "# watch",
    `curl -N ${at}/events${key}`,
  ].filter((line) => line !== null).join("\n");
}

function python(name, sample, origin, keyed) {
  const key = keyed ? ', key=os.environ["LLR_KEY"]' : "";
  const x = (sample.x?.length ?? 0) > LONGEST ? `[0.5] * ${sample.x.length}` : JSON.stringify(sample.x ?? null).replaceAll(",", ", ");
  return [
    keyed ? "import os\n" : null,
    "from clients import Client\n",
    `session = Client("${origin}"${key}).session("${name}")`,
    sample.x ? `print(session.learn(${x}, ${sample.y}))` : `print(session.learn(${sample.y}))`,
    sample.x ? `print(session.predict(${x}))` : "print(session.predict())",
  ].filter((line) => line !== null).join("\n");
}
