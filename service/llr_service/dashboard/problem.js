/** What went wrong, in full: the service's own words, where it happened, and what to do. */

import { Refused, Unreachable } from "./api.js";
import { el } from "./dom.js";
import { plural } from "./format.js";
import { TO_LIST } from "./router.js";

const ADVICE = {
  401: "Enter a key that is known to this service.",
  403: "Press Forget key to use another.",
};

/** A box that tells of an error; `place(error)` may say better where it is than a pointer. */
export function problemBox(error, place = where) {
  const problem = error instanceof Refused ? error.problem : {};
  const places = (problem.errors ?? []).map((one) => el("li", {}, place(one), one.detail));
  return el(
    "div",
    { class: "problem", role: "alert" },
    el("p", { class: "problem-title" }, title(error)),
    el("p", {}, places.length ? null : error.message, advice(error)),
    places.length ? el("ul", {}, places) : null,
    problem.accepted ? el("p", {}, taken(problem)) : null,
  );
}

/** A box that says that a session is not there. */
export function nobodyBox() {
  const title = el("p", { class: "problem-title" }, "There is no session of this name (any more)");
  const lead = el("p", {}, el("a", { href: TO_LIST }, "See which there are"));
  return el("div", { class: "problem", role: "alert" }, title, lead);
}

/** The place of one of a problem's errors, in its own words. */
export function where({ line, pointer, parameter }) {
  const at = [line && `line ${line}`, pointer || parameter].filter(Boolean).join(" ");
  return at ? el("code", {}, at) : null;
}

function title(error) {
  const { problem, status } = error;
  if (error instanceof Refused) return problem.title ?? `The service answered ${status}`;
  if (error instanceof Unreachable) return "The service cannot be reached";
  return "That did not work";
}

function advice(error) {
  return error.status in ADVICE ? ` ${ADVICE[error.status]}` : null;
}

function taken({ accepted, t }) {
  return `Before that, ${plural(accepted, "sample was", "samples were")} learnt: t is ${t}.`;
}
