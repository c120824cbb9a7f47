/** What a fresh service shows: what to do first. */

import { button, el } from "./dom.js";

/** The empty state; `create` opens the form. */
export function welcome(create) {
  const step = (title, text) => el("li", {}, el("strong", {}, title), el("span", {}, text));
  return el(
    "section",
    { class: "card welcome", hidden: true },
    el("h2", {}, "Nothing learns here yet"),
    el(
      "p",
      {},
      "A session is a learner with a name. Give it samples as they come, and it keeps its ",
      "parameters, its step size and its regret up to date with every one.",
    ),
    el(
      "ol",
      {},
      step("Create a session", "Choose a model; the rest has defaults. No step size to tune."),
      step("Send samples", "Paste some here, or copy a ready line of curl or Python."),
      step("Watch it learn", "Step size, regret, loss and θ move as samples arrive."),
    ),
    button("Create the first session", create, { class: "primary", id: "first" }),
  );
}
