/**
 * Elements made from plain values. Text is always text: nothing in the dashboard reads markup,
 * so a hostile name or message can be shown but never acts.
 */

const SVG = "http://www.w3.org/2000/svg";
const LIVE = new Set(["value", "checked", "disabled", "hidden", "open", "indeterminate"]);

/** An HTML element: `el("a", {href: "#/"}, "Sessions")`. `on` holds listeners by event. */
export function el(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

/** Set attributes of an element that is there already; null takes one away. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") listen(node, value);
    else if (LIVE.has(name)) node[name] = value;
    else if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}

/** Put children in place of those that are there; what is null or false is left out. */
export function fill(node, ...children) {
  node.replaceChildren(...shown(children));
  return node;
}

/** Change a text only if it differs, so that selections and screen readers are left in peace. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A button that does something. */
export function button(label, action, attributes = {}) {
  const on = action ? { click: action } : {};
  return el("button", { type: "button", ...attributes, on }, label);
}

/** A word for screen readers only. */
export function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

function dress(node, attributes, children) {
  set(node, attributes);
  node.append(...shown(children));
  return node;
}

function listen(node, listeners) {
  for (const [event, action] of Object.entries(listeners)) node.addEventListener(event, action);
}

function shown(children) {
  return children.flat().filter((child) => ![null, undefined, false].includes(child));
}
