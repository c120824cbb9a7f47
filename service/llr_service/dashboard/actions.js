/** What can be done with a session as a whole: compare, fork, delete. */

import { deleteSession } from "./deletion.js";
import { button, el } from "./dom.js";
import { forkSession } from "./fork.js";
import { toCompare, TO_LIST, toSession } from "./router.js";

/** Buttons of a session's page; `stateNow()` is its state. */
export function actions(here, name, stateNow) {
  const fork = async () => {
    const copy = await forkSession(here, stateNow());
    if (copy) location.hash = toSession(copy);
  };
  const remove = async () => {
    const gone = await deleteSession(here.api, name, stateNow()?.t);
    if (gone) location.hash = TO_LIST;
  };
  return [
    el("a", { class: "button", href: toCompare([name]) }, "Compare"),
    button("Fork", fork, { id: "fork" }),
    button("Delete", remove, { class: "danger quiet", id: "delete" }),
  ];
}
