/** Which sessions are compared: each may be left out, another added. */

import { MOST_SERIES } from "./chart.js";
import { el, fill } from "./dom.js";
import { swatch } from "./legend.js";
import { toCompare, toSession } from "./router.js";

/** The names as chips, and a field to add one. */
export function compareChips(api, names) {
  const room = names.length < MOST_SERIES;
  const chips = names.map((name, i) => chip(name, i, names));
  return el("ul", { class: "chips" }, chips, room ? el("li", {}, adder(api, names)) : null);
}

function chip(name, i, names) {
  const href = toCompare(names.filter((other) => other !== name));
  const off = el("a", { class: "off", href, "aria-label": `Leave out ${name}` }, "×");
  return el("li", { class: "chip" }, swatch(i), el("a", { href: toSession(name) }, name), off);
}

function adder(api, names) {
  const known = el("datalist", { id: "names" });
  const label = "Add a session";
  const plain = { placeholder: label, "aria-label": label, autocomplete: "off" };
  const field = el("input", { list: "names", ...plain });
  const submit = (event) => {
    event.preventDefault();
    const name = field.value.trim();
    if (name) location.hash = toCompare([...names, name]);
  };
  field.addEventListener("focus", () => suggest(api, known, names), { once: true });
  const add = el("button", { type: "submit" }, "Add");
  return el("form", { class: "adder", on: { submit } }, field, known, add);
}

async function suggest(api, list, names) {
  const { sessions } = await api.get("/v1/sessions?limit=1000").catch(() => ({ sessions: [] }));
  const others = sessions.filter(({ name }) => !names.includes(name));
  fill(list, others.map(({ name }) => el("option", { value: name })));
}
