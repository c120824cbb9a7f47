/** What can be done with a session as a whole: compare, fork, add a shadow, delete. */

import { deleteSession } from "./deletion.js";
import { button, el } from "./dom.js";
import { forkSession } from "./fork.js";
import { toCompare, TO_LIST, toSession } from "./router.js";
import { addShadow } from "./shadow.js";

/** Buttons of a session's page; `stateNow()` is its state, `moved(state)` is told of another. */
export function actions(here, name, stateNow, moved) {
  const fork = async () => {
    const copy = await forkSession(here, stateNow());
    if (copy) location.hash = toSession(copy);
  };
  const shadow = async () => {
    const state = await addShadow(here, stateNow());
    if (state) moved(state);
  };
  const remove = async () => {
    const gone = await deleteSession(here.api, name, stateNow()?.t);
    if (gone) location.hash = TO_LIST;
  };
  return [
    el("a", { class: "button", href: toCompare([name]) }, "Compare"),
    button("Fork", fork, { id: "fork" }),
    button("Add shadow", shadow, { id: "shadow" }),
    button("Delete", remove, { class: "danger quiet", id: "delete" }),
  ];
}
