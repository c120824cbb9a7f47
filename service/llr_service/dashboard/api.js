/** The service, asked with the key there is. Every failure is one of two kinds of error. */

import { events } from "./sse.js";

const PATIENCE = 15_000;

/** The service answered, and the answer is a problem (RFC 9457). */
export class Refused extends Error {
  constructor(problem, status, retryAfter) {
    super(problem.detail || problem.title || `the service answered ${status}`);
    Object.assign(this, { problem, status, retryAfter });
  }
}

/** No answer came: nobody knows what became of the request. */
export class Unreachable extends Error {}

/** A client of the service that serves this page. */
export class Api {
  /** `keys` holds the key and asks for one when the service does. */
  constructor(keys) {
    this.keys = keys;
  }

  /** The JSON at a path. */
  async get(path, { signal } = {}) {
    return (await this.#ask("GET", path, { signal })).json();
  }

  /** The text at a path. */
  async text(path, { signal } = {}) {
    return (await this.#ask("GET", path, { signal })).text();
  }

  /** Send JSON, a value or the text of one, and get the JSON of the answer. */
  async send(method, path, value, more = {}) {
    const body = typeof value === "string" ? value : JSON.stringify(value);
    const headers = { "content-type": "application/json", ...more };
    return (await this.#ask(method, path, { body, headers })).json();
  }

  /** Delete what is at a path. */
  async delete(path) {
    await this.#ask("DELETE", path, {});
  }

  /** Server-Sent Events of a path, until the stream ends. */
  async *events(path, { signal }) {
    const headers = { accept: "text/event-stream" };
    const answer = await this.#ask("GET", path, { signal, headers, patience: null });
    yield* events(answer.body);
  }

  async #ask(method, path, { body, headers = {}, signal, patience = PATIENCE }) {
    for (;;) {
      const key = this.keys.current;
      const request = { method, body, headers: { ...headers, ...bearer(key) }, cache: "no-store" };
      const answer = await answered(path, request, signal, patience);
      if (answer.ok) return answer;
      const refused = await refusal(answer);
      if (answer.status !== 401 || !(await this.keys.ask(key, refused))) throw refused;
    }
  }
}

/** The path of a session, whatever its name holds. */
export function sessionPath(name, below = "") {
  return `/v1/sessions/${encodeURIComponent(name)}${below}`;
}

function bearer(key) {
  return key ? { authorization: `Bearer ${key}` } : {};
}

async function answered(path, request, signal, patience) {
  const signals = [signal, patience && AbortSignal.timeout(patience)].filter(Boolean);
  try {
    return await fetch(path, { ...request, signal: AbortSignal.any(signals) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable("no answer from the service", { cause: error });
  }
}

async function refusal(answer) {
  const problem = await answer.json().catch(() => ({}));
  const wait = Number(answer.headers.get("retry-after")) || 0;
  return new Refused(problem, answer.status, wait);
}
