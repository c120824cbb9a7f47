/**
 * Client of the LLR service for browsers, Node, Deno and Bun. It has no dependencies.
 *
 *     const client = new Client("http://127.0.0.1:8080");
 *     const flats = client.session("flats");
 *     await flats.create({ model: "linear" });
 *     await flats.learn({ x: [0.5, -1.2], y: 1 });
 *     const { predictions } = await flats.predict([0.5, -1.2]);
 *
 * A request that fails on its way, or gets 408, 429, 502, 503, 504 or 507, is sent again until
 * `timeout` is over.
 * Samples have a producer and a number, so a sample that is sent twice is learnt once.
 */
/** An answer with an error status: `type`, `title`, `detail` and `errors` as in RFC 9457. */
export class Problem extends Error {
    status;
    type;
    body;
    constructor(status, body) {
        super(`${status} ${String(body.title ?? "")}: ${String(body.detail ?? "")}`);
        this.name = "Problem";
        this.status = status;
        this.type = String(body.type ?? "about:blank").replace("urn:llr:problem:", "");
        this.body = body;
    }
}
const RETRIED = new Set([408, 429, 502, 503, 504, 507]);
export class Client {
    url;
    headers;
    timeout;
    fetcher;
    /** `timeout` is in seconds and covers a request with its retries. */
    constructor(url, { key, timeout = 30, fetch: fetcher = globalThis.fetch } = {}) {
        this.url = url.replace(/\/+$/, "");
        this.headers = key ? { authorization: `Bearer ${key}` } : {};
        this.timeout = timeout;
        this.fetcher = (input, init) => fetcher(input, init);
    }
    /** A session; nothing is sent. */
    session(name) {
        return new Session(this, name);
    }
    /** A page of sessions; give `next` as `cursor` to get the following one. */
    sessions(limit = 100, cursor) {
        const query = new URLSearchParams({ limit: String(limit), ...(cursor ? { cursor } : {}) });
        return this.request("GET", `/v1/sessions?${query}`);
    }
    /** Send a request, again where that may help; the parsed answer. */
    async request(method, path, body) {
        const deadline = Date.now() + 1000 * this.timeout;
        for (let attempt = 0;; attempt++) {
            let wait = Math.min(100 * 2 ** attempt, 5000);
            const last = () => Date.now() + wait >= deadline;
            try {
                const answer = await this.send(method, path, body, AbortSignal.timeout(Math.max(deadline - Date.now(), 1)));
                if (answer.ok)
                    return (answer.status === 204 ? undefined : await answer.json());
                const problem = new Problem(answer.status, await parsed(answer));
                wait += 1000 * (Number(answer.headers.get("retry-after")) || 0);
                if (last() || !RETRIED.has(answer.status))
                    throw problem;
            }
            catch (error) {
                if (error instanceof Problem || last())
                    throw error;
            }
            await new Promise((done) => setTimeout(done, wait));
        }
    }
    /** Send a request once. */
    send(method, path, body, signal) {
        const headers = { ...this.headers };
        const init = { method, headers };
        if (signal)
            init.signal = signal;
        if (body !== undefined) {
            headers["content-type"] = "application/json";
            init.body = JSON.stringify(body);
        }
        return this.fetcher(this.url + path, init);
    }
}
export class Session {
    name;
    client;
    path;
    producer = crypto.randomUUID();
    seq = 0;
    uncertain = false;
    queue = Promise.resolve();
    constructor(client, name) {
        this.client = client;
        this.name = name;
        this.path = `/v1/sessions/${encodeURIComponent(name)}`;
    }
    /** Create the session, or find it with the same config. */
    create(config) {
        return this.client.request("PUT", this.path, config);
    }
    state() {
        return this.client.request("GET", this.path);
    }
    delete() {
        return this.client.request("DELETE", this.path);
    }
    /**
     * Learn one sample, or several in order. Calls are sent one after the other. If it throws anything
     * but a Problem with a status below 500, the samples may be learnt: compare `state()`.
     */
    learn(samples) {
        const many = Array.isArray(samples) ? samples : [samples];
        const answer = this.queue.then(async () => {
            if (this.uncertain)
                await this.resume();
            const query = new URLSearchParams({ producer: this.producer, seq: String(this.seq) });
            this.uncertain = true;
            const learnt = await this.client.request("POST", `${this.path}/samples?${query}`, samples);
            this.seq += many.length;
            this.uncertain = false;
            return learnt;
        });
        this.queue = answer.catch(() => undefined);
        return answer;
    }
    /** Ask the service where to go on, after a call whose samples may or may not be learnt. */
    async resume() {
        const query = new URLSearchParams({ producer: this.producer });
        const state = await this.client.request("GET", `${this.path}?${query}`);
        this.seq = state.next_seq ?? 0;
        this.uncertain = false;
    }
    /**
     * Predict for a row, or for several. `interval` is a coverage such as 0.9. With `id`, one or one
     * a row, x is kept for its label.
     */
    predict(x, { interval, id } = {}) {
        const query = interval === undefined ? "" : `?interval=${interval}`;
        const ids = id === undefined ? {} : Array.isArray(id) ? { ids: id } : { id };
        return this.client.request("POST", `${this.path}/predict${query}`, { x, ...ids });
    }
    /** Learn the x that `predict` kept under an id, once, however often the label is sent. */
    label(labels) {
        return this.client.request("POST", `${this.path}/labels`, labels);
    }
    /** The history in at most `points` points; of theta these coordinates, or the first 8. */
    history(points = 500, theta) {
        const query = new URLSearchParams({ points: String(points) });
        if (theta !== undefined)
            query.set("theta", typeof theta[0] === "string" ? JSON.stringify(theta) : theta.join());
        return this.client.request("GET", `${this.path}/history?${query}`);
    }
    /** Copy the session under another name; `changes` are members of its config, or `relearn`. */
    async fork(name, changes = {}) {
        await this.client.request("POST", `${this.path}/fork`, { ...changes, name });
        return this.client.session(name);
    }
    /** The states of the session as they change, until `signal` aborts or the service closes. */
    async *events(signal) {
        const answer = await this.client.send("GET", `${this.path}/events`, undefined, signal);
        if (!answer.ok)
            throw new Problem(answer.status, await parsed(answer));
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        try {
            for (let text = "";;) {
                const { value, done } = await reader.read();
                if (done)
                    return;
                const blocks = (text + value).split("\n\n");
                text = blocks.pop() ?? "";
                for (const block of blocks) {
                    const id = /^id: ?(.*)$/m.exec(block);
                    const data = /^data: ?(.*)$/m.exec(block);
                    if (id && data)
                        yield { id: id[1], data: JSON.parse(data[1]) };
                }
            }
        }
        finally {
            await reader.cancel().catch(() => undefined);
        }
    }
}
async function parsed(answer) {
    try {
        return (await answer.json());
    }
    catch {
        return {};
    }
}
