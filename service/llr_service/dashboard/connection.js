/** The honest state of the connection: live, connecting, paused, refused, or lost since when. */

import { button, el, fill, say, set } from "./dom.js";
import { clock } from "./format.js";

const WORDS = { live: "Live", connecting: "Connecting…", paused: "Paused" };
const REFUSALS = { 401: "Key needed", 403: "Not allowed", 404: "Not found", 422: "Not found" };

/** Shows a feed's state in the header. */
export class Connection {
  #state = { kind: "connecting" };
  #timer = null;

  constructor(element) {
    this.words = el("span", { class: "words", role: "status" });
    this.wait = el("span", { class: "wait", "aria-hidden": "true" });
    this.again = button("Try now", () => this.retry?.(), { class: "quiet", hidden: true });
    const lamp = el("span", { class: "lamp", "aria-hidden": "true" });
    fill(element, lamp, this.words, this.wait, this.again);
    this.element = element;
    this.show(this.#state);
  }

  /** Show a state of a feed. */
  show(state) {
    this.#state = state;
    const lost = state.kind === "lost";
    set(this.element, { "data-kind": state.kind });
    say(this.words, words(state));
    set(this.again, { hidden: !lost });
    clearInterval(this.#timer);
    this.#count();
    if (lost) this.#timer = setInterval(() => this.#count(), 500);
  }

  #count() {
    const { kind, retryAt } = this.#state;
    const seconds = Math.ceil((retryAt - Date.now()) / 1000);
    const soon = seconds > 0 ? `next try in ${seconds} s` : "reconnecting…";
    say(this.wait, kind === "lost" ? soon : "");
  }
}

function words({ kind, since, error }) {
  if (kind === "lost") return `Disconnected since ${clock(since)}`;
  return kind === "refused" ? (REFUSALS[error.status] ?? "Refused") : WORDS[kind];
}
