/** A button that holds a page still, and lets it go on. */

import { button, say, set } from "./dom.js";

/** Pauses the feed that `feedOf()` gives. */
export class Pause {
  paused = false;

  constructor(feedOf) {
    this.feedOf = feedOf;
    const attributes = { "aria-pressed": "false", id: "pause" };
    this.element = button("Pause", () => this.#flip(), attributes);
  }

  #flip() {
    this.paused = !this.paused;
    set(this.element, { "aria-pressed": String(this.paused) });
    say(this.element, this.paused ? "Resume" : "Pause");
    if (this.paused) this.feedOf().pause();
    else this.feedOf().resume();
  }
}
