/** Deleting a session: asked about first, and a refusal is shown where it was asked. */

import { sessionPath } from "./api.js";
import { confirm } from "./dialog.js";
import { fill } from "./dom.js";
import { count } from "./format.js";
import { problemBox } from "./problem.js";

/** Ask, then delete; resolves to true if the session is gone. */
export function deleteSession(api, name, t) {
  const perform = async (notice) => {
    try {
      await api.delete(sessionPath(name));
      return true;
    } catch (error) {
      fill(notice, problemBox(error));
      return undefined;
    }
  };
  const text = `All that ${name} has learnt (t ${count(t)}) goes for good.`;
  return confirm({ title: "Delete this session?", text, action: "Delete", perform });
}
