/** Where the dashboard starts: makes the parts, and shows the page that the address asks for. */

import { Api } from "./api.js";
import { comparePage } from "./compare.js";
import { Connection } from "./connection.js";
import { askForKey } from "./dialog.js";
import { fill, say, set } from "./dom.js";
import { Keys } from "./keys.js";
import { listPage } from "./list.js";
import { parse } from "./router.js";
import { sessionPage } from "./session.js";
import { systemPage } from "./system.js";

const PAGES = { list: listPage, session: sessionPage, compare: comparePage, system: systemPage };

function start() {
  const part = (id) => document.getElementById(id);
  const [main, forget, version] = ["page", "forget", "version"].map(part);
  const keys = new Keys(askForKey);
  const api = new Api(keys);
  const connection = new Connection(part("connection"));
  const here = { api, keys, connection, catalog: remembered(() => api.get("/v1/catalog")) };
  let shown = null;

  const show = (moved) => {
    shown?.close();
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    const { page, names } = parse(location.hash);
    shown = PAGES[page](here, names);
    connection.retry = () => shown.feed.now();
    document.title = `${shown.title} · LLR`;
    fill(main, shown.element);
    if (moved) arrive(main);
  };
  const keyChanged = () => set(forget, { hidden: keys.current === null });

  window.addEventListener("hashchange", () => show(true));
  part("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  forget.addEventListener("click", () => {
    keys.forget();
    show(false);
  });
  keys.addEventListener("change", keyChanged);
  keyChanged();
  show(false);
  about(api, version);
}

/** The focus follows to where the user went. */
function arrive(main) {
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

async function about(api, place) {
  const { version, store, ack } = await api.get("/version").catch(() => ({}));
  if (version) say(place, `LLR ${version}, ${store} store. An answer means: ${ack}.`);
}

/** Ask once, and again only if that failed. */
function remembered(ask) {
  let answer = null;
  return () => (answer ??= ask().catch((error) => {
    answer = null;
    throw error;
  }));
}

start();
