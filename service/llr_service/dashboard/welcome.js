/** What a fresh service shows: what to do first. */

import { button, el } from "./dom.js";

/** The empty state; `create` opens the form, `demo` plays a demo stream. */
export function welcome(create, demo) {
  const step = (title, text) => el("li", {}, el("strong", {}, title), el("span", {}, text));
  const first = button("Create the first session", create, { class: "primary", id: "first" });
  const play = button("Play a demo stream", demo, { id: "first-demo" });
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
      step("Create a session", "Say what to predict, or paste rows. No step size to tune."),
      step("Send samples", "Paste some here, or copy a ready line of curl or Python."),
      step("Watch it learn", "Its error beside a baseline, its parameters, and drift, live."),
    ),
    el("div", { class: "tools" }, first, play),
    el("p", { class: "hint" }, "The demo creates a session and sends it made-up samples."),
  );
}
