/** Where the dashboard starts: makes the parts, and shows the page that the address asks for. */

import { Api } from "./api.js";
import { comparePage } from "./compare.js";
import { Connection } from "./connection.js";
import { DemoStream } from "./demo.js";
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
  const catalog = remembered(() => api.get("/v1/catalog"));
  const demo = new DemoStream(api);
  const here = { api, keys, connection, catalog, demo };
  main.before(demo.element);
  let [shown, address] = [null, null];

  const show = (moved) => {
    const { page, names, tab } = parse(location.hash);
    const wanted = JSON.stringify([page, names]);
    if (moved && wanted === address && shown.open) return shown.open(tab);
    address = wanted;
    shown?.close();
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    shown = PAGES[page](here, names, tab);
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
  about(api, version, part("guide"));
}

/** The focus follows to where the user went. */
function arrive(main) {
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

async function about(api, place, guide) {
  const { version, store, ack, docs } = await api.get("/version").catch(() => ({}));
  if (version) say(place, `LLR ${version}, ${store} store. An answer means: ${ack}.`);
  set(guide, { hidden: docs !== guide.getAttribute("href") });
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
