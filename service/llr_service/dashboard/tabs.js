/** Tabs of a session's page: links, so that each has an address and the browser's back works. */

import { el, set } from "./dom.js";
import { TABS, toSession } from "./router.js";

/** A row of links and the panel of each; `panels` are elements by the id of their tab. */
export class Tabs {
  /** The tab that is shown. */
  current = null;

  constructor(name, panels) {
    const link = ([id, label]) => {
      return [id, el("a", { href: toSession(name, id), "data-tab": id }, label)];
    };
    this.links = new Map(Object.entries(TABS).map(link));
    const wrapped = ([id, content]) => {
      const about = { class: "panel", "data-panel": id, "aria-label": TABS[id], hidden: true };
      return [id, el("section", about, content)];
    };
    this.panels = new Map(Object.entries(panels).map(wrapped));
    const label = { class: "tabs", "aria-label": "Views of the session" };
    this.element = el("nav", label, [...this.links.values()]);
    this.body = el("div", { class: "panels" }, [...this.panels.values()]);
  }

  /** Show the panel of a tab. */
  show(id) {
    this.current = id;
    for (const [other, link] of this.links) {
      set(link, { "aria-current": other === id ? "page" : null });
    }
    for (const [other, panel] of this.panels) set(panel, { hidden: other !== id });
    const { offsetLeft: left, offsetWidth: width } = this.links.get(id);
    this.element.scrollLeft = left - (this.element.clientWidth - width) / 2;
  }
}
