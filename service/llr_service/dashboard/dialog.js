/** Dialogs: modal, closed by Esc, with the focus kept inside and given back afterwards. */

import { button, el } from "./dom.js";

let opened = 0;

/** Show a form in a dialog. `submit()` resolves to a result that closes it, or undefined. */
export function ask({ title, content, action, submit, danger = false, wide = false }) {
  return new Promise((done) => {
    const id = `dialog-${(opened += 1)}`;
    const go = el("button", { type: "submit", class: danger ? "danger" : "primary" }, action);
    const foot = el("div", { class: "dialog-foot" }, button("Cancel", () => dialog.close()), go);
    const heading = el("h2", { id }, title);
    const form = el("form", { novalidate: true }, heading, content, foot);
    const dialog = el("dialog", { class: wide ? "wide" : null, "aria-labelledby": id }, form);
    let result = null;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      go.disabled = true;
      result = (await submit()) ?? null;
      go.disabled = false;
      if (result !== null) dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Ask for a key: resolves to it, or to null. */
export function askForKey(refused, again) {
  const field = el("input", { type: "password", id: "key", autocomplete: "off", required: true });
  const [first, other] = ["This service asks for an API key.", "That key is not known here."];
  const content = el(
    "div",
    { class: "fields" },
    el("p", { role: again ? "alert" : null }, again ? other : first),
    el("label", { class: "field" }, el("span", {}, "API key"), field),
    el("p", { class: "hint" }, "It is kept in this tab only, until you close it or forget it."),
  );
  const submit = () => field.value.trim() || field.focus();
  return ask({ title: "API key", content, action: "Use this key", submit });
}

/** Ask before something that cannot be undone: resolves to true, or to null. */
export function confirm({ title, text, action, perform }) {
  const notice = el("div");
  const content = el("div", { class: "fields" }, el("p", {}, text), notice);
  return ask({ title, content, action, danger: true, submit: () => perform(notice) });
}
