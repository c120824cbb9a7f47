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
import type {
    Answer, Fork, Past, Prediction, ProducerState, Row, Sample, SessionConfig, SessionPage,
} from "./schemas.js";

export type * from "./schemas.js";
export type Config = SessionConfig;
export type History = Past;
export type Learnt = Answer;
export type State = ProducerState;
/** The label of a prediction with an `id`. */
export interface LateLabel {
    id: string;
    y: Sample["y"];
    w?: number;
}
export interface PredictOptions {
    interval?: number;
    id?: string | string[];
}
export interface Options {
    key?: string;
    timeout?: number;
    fetch?: typeof fetch;
}
export interface LearnEvent {
    id: string;
    data: State;
}
/** An answer with an error status: `type`, `title`, `detail` and `errors` as in RFC 9457. */
export declare class Problem extends Error {
    readonly status: number;
    readonly type: string;
    readonly body: Record<string, unknown>;
    constructor(status: number, body: Record<string, unknown>);
}
export declare class Client {
    readonly url: string;
    private readonly headers;
    private readonly timeout;
    private readonly fetcher;
    /** `timeout` is in seconds and covers a request with its retries. */
    constructor(url: string, { key, timeout, fetch: fetcher }?: Options);
    /** A session; nothing is sent. */
    session(name: string): Session;
    /** A page of sessions; give `next` as `cursor` to get the following one. */
    sessions(limit?: number, cursor?: string): Promise<SessionPage>;
    /** Send a request, again where that may help; the parsed answer. */
    request<T>(method: string, path: string, body?: unknown): Promise<T>;
    /** Send a request once. */
    send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
}
export declare class Session {
    readonly name: string;
    private readonly client;
    private readonly path;
    private readonly producer;
    private seq;
    private uncertain;
    private queue;
    constructor(client: Client, name: string);
    /** Create the session, or find it with the same config. */
    create(config: Config): Promise<State>;
    state(): Promise<State>;
    delete(): Promise<void>;
    /**
     * Learn one sample, or several in order. Calls are sent one after the other. If it throws anything
     * but a Problem with a status below 500, the samples may be learnt: compare `state()`.
     */
    learn(samples: Sample | Sample[]): Promise<Learnt>;
    /** Ask the service where to go on, after a call whose samples may or may not be learnt. */
    private resume;
    /**
     * Predict for a row, or for several. `interval` is a coverage such as 0.9. With `id`, one or one
     * a row, x is kept for its label.
     */
    predict(x: Row | Row[], options?: PredictOptions): Promise<Prediction>;
    /** Learn the x that `predict` kept under an id, once, however often the label is sent. */
    label(labels: LateLabel | LateLabel[]): Promise<Learnt>;
    /** The history in at most `points` points; of theta these coordinates, or the first 8. */
    history(points?: number, theta?: number[] | string[]): Promise<History>;
    /** Copy the session under another name; `changes` are members of its config, or `relearn`. */
    fork(name: string, changes?: Omit<Fork, "name">): Promise<Session>;
    /** The states of the session as they change, until `signal` aborts or the service closes. */
    events(signal?: AbortSignal): AsyncGenerator<LearnEvent>;
}
