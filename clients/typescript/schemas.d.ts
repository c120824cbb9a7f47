/**
 * The service's requests and answers, generated from its OpenAPI document by
 * `make docs` (scripts/typescript.py).
 */
/** The answer to learning. 200 means: applied exactly once, and on disk. */
export interface Answer {
    /** Samples learnt so far. */
    t: number;
    /** The step size. */
    eta: number;
    log_eta?: number | null;
    /** Classes × features for softmax; by name for named features. */
    theta?: unknown[] | Record<string, unknown> | null;
    /** The constant term beside theta, one a class; where there is one. */
    intercept?: number | number[] | null;
    loss: Loss;
    regret: Regret;
    name: string;
    /** Samples of this body that were new. */
    accepted: number;
    /** True if all of them had been learnt before. */
    duplicate: boolean;
    predictions?: unknown[] | null;
    /** With `predictions`, of each class, where classes have names. */
    probabilities?: Record<string, number>[] | null;
    /** Where there are any. */
    shadows?: Record<string, ShadowNumbers> | null;
}
/** The metrics of predicting the mean of the labels so far, or the most frequent class. */
export interface BaselineMetrics {
    /** Of numbers: root mean squared error. */
    rmse?: Measure | null;
    /** Of numbers: mean absolute error. */
    mae?: Measure | null;
    /** Of classes: the share predicted right. */
    accuracy?: Measure | null;
    /** Of two classes: area under the ROC curve. */
    auc?: Measure | null;
}
/** Everything that a config may name. */
export interface Catalog {
    models: CatalogModel[];
    algorithms: CatalogAlgorithm[];
    /** What a config has where it leaves something out. */
    defaults: Record<string, unknown>;
    /** `most`: how many shadows a session may have. */
    shadows: Record<string, number>;
    /** The drift test: its name and what it does. */
    drift: Record<string, string>;
}
/** An algorithm. */
export interface CatalogAlgorithm {
    name: string;
    summary: string;
    /** How theta moves; null where that is not a base. */
    base: string | null;
    /** How the step size moves; null if it is fixed. */
    rate: string | null;
    learns_step_size: boolean;
    needs_eta0: boolean;
    /** Whether features may have names. */
    named_features: boolean;
    /** The models it suits. */
    models: string[];
    options: CatalogOption[];
}
/** A model. */
export interface CatalogModel {
    name: string;
    summary: string;
    /** The labels it takes, in words. */
    domain: string;
    /** Whether samples have an x. */
    features: boolean;
    /** Whether `regret: exact` is possible. */
    exact_regret: boolean;
    options: CatalogOption[];
}
/** An option of a model or of an algorithm. */
export interface CatalogOption {
    name: string;
    summary: string;
    /** What it is, such as `flag`, `choice` or a kind of number. */
    kind: string;
    /** The values it may have, in words. */
    values: string;
    default: boolean | number | string | null;
    /** Whether it has to be given. */
    needed: boolean;
}
/** A past as columns, oldest first. */
export interface Columns {
    t: number[];
    log_eta: number[];
    eta: number[];
    loss: number[];
    regret: number[] | null;
    /** The least since the point before. */
    log_eta_low: number[];
    /** The largest since the point before. */
    log_eta_high: number[];
    loss_low: number[];
    loss_high: number[];
    /** The recent loss; null before the first sample. */
    recent: (number | null)[];
    /** The recent RMSE, of classes the recent accuracy; null where not known. */
    metric: (number | null)[];
    /** The same of the baseline. */
    baseline: (number | null)[];
}
/** Whether the loss was found to rise. */
export interface Drift {
    /** How often. */
    alarms: number;
    /** At which t, the last 16 times. */
    at: number[];
    /** When: RFC 3339, UTC; null where not known. */
    time: (string | null)[];
}
/** What the step size is doing. */
export interface EtaStatus {
    /** `fixed`, `starting`, `travelling`, `settled`, `pinned`, or `vanished`. */
    state: string;
    /** One line for people. */
    advice: string;
}
/** The names of a session whose features have names. */
export interface Features {
    /** Names that were seen and are kept apart. */
    known: number;
    /** How many may be; those after them share places. */
    max_features: number;
    /** There are 2 to the power of it such places. */
    hash_bits: number;
    /** Whether there were names after those. */
    hashing: boolean;
}
/** The body of a fork: the copy's name, and members of its config that are to differ. */
export interface Fork {
    /** The copy's name. */
    name: string;
    /** Another loss, with a theta of this shape. */
    model?: string | null;
    /** Another only with a theta0 that fits it. */
    dim?: number | null;
    /** Another algorithm. */
    algorithm?: string | null;
    /** Another first step size. */
    eta0?: number | null;
    /** Names kept apart. */
    max_features?: number | null;
    /** Bits of a shared place. */
    hash_bits?: number | null;
    /** Where theta starts, if not where the session's is. */
    theta0?: Theta0;
    /** `exact` or `off`. */
    regret?: string | null;
    /** All options; those that still fit are kept if left out. */
    options?: Record<string, boolean | number | string> | null;
    /** Other names of the classes. */
    classes?: string[] | null;
    /** Other shadows; all of them. */
    shadows?: Record<string, ShadowConfig> | null;
    /** Whether to look out for drift. */
    drift?: boolean | null;
    /** Another time. */
    label_seconds?: number | null;
    /** Another label for what expired. */
    expired_label?: number | string | null;
    /** Whether the copy keeps its samples. */
    retain?: boolean | null;
    /** Another time until it expires. */
    expire_seconds?: number | null;
    /** Learn all samples of the session again, from the first one on. */
    relearn?: boolean;
}
/** The answer of a probe. */
export interface Health {
    status: "ok";
}
/** One place where a request is wrong. */
export interface Issue {
    detail: string;
    pointer?: string | null;
    line?: number | null;
}
/** A key: its name and role, without its secret. */
export interface KeyRole {
    name: string;
    /** read, write or admin. */
    role: string;
    /** What names of a tenant's sessions begin with, or empty. */
    prefix: string;
}
/** A number, or the name of a class where classes have names. */
export type Label = number | string;
/** How many labels of predictions with an id are yet to come, came, and did not in time. */
export interface LateLabels {
    waiting: number;
    learnt: number;
    expired: number;
}
/** The progressive loss: each sample judged before it was learnt. */
export interface Loss {
    total: number;
    /** Null before the first sample. */
    mean: number | null;
    /** An exponentially weighted mean over about the last 200 samples. */
    recent?: number | null;
}
/** One metric: an exponentially weighted mean over about the last 200 samples, and over all. */
export interface Measure {
    recent: number | null;
    overall: number | null;
}
/** How good the predictions were before their samples were learnt; null before the first. */
export interface Metrics {
    /** Of numbers: root mean squared error. */
    rmse?: Measure | null;
    /** Of numbers: mean absolute error. */
    mae?: Measure | null;
    /** Of classes: the share predicted right. */
    accuracy?: Measure | null;
    /** Of two classes: area under the ROC curve. */
    auc?: Measure | null;
    /** The share of labels within their 90 % interval or set. */
    coverage: Measure;
    baseline: BaselineMetrics;
}
/** The past of a session. */
export interface Past {
    t: number[];
    log_eta: number[];
    eta: number[];
    loss: number[];
    regret: number[] | null;
    /** The least since the point before. */
    log_eta_low: number[];
    /** The largest since the point before. */
    log_eta_high: number[];
    loss_low: number[];
    loss_high: number[];
    /** The recent loss; null before the first sample. */
    recent: (number | null)[];
    /** The recent RMSE, of classes the recent accuracy; null where not known. */
    metric: (number | null)[];
    /** The same of the baseline. */
    baseline: (number | null)[];
    name: string;
    theta: number[][];
    /** The least since the point before; null beyond the first 8 coordinates. */
    theta_low: ((number | null)[])[];
    /** The largest, likewise. */
    theta_high: ((number | null)[])[];
    coordinates: number[] | string[];
    /** Of each shadow, from where it began. */
    shadows: Record<string, Columns>;
    /** At which t the loss was found to rise. */
    drift: number[];
    /** The time of each of those. */
    drift_time: (string | null)[];
    /** When each t was reached, RFC 3339, UTC; null where not known. */
    time: (string | null)[];
    /** The last late labels, as long as their ids are known. */
    labels?: PastLabels | null;
}
/** Late labels as columns, in the order in which they were learnt. */
export interface PastLabels {
    /** Samples learnt before it was. */
    t: number[];
    /** When it was learnt, in milliseconds since 1970. */
    at: number[];
    /** Samples learnt when its x was predicted for. */
    predicted_t: number[];
    /** When that was, in milliseconds since 1970. */
    predicted_at: number[];
}
/** Predictions on the natural scale: a mean, a probability, or one per class. */
export interface Prediction {
    name: string;
    t: number;
    /** One for a single row, a list for many. */
    predictions: unknown;
    /** The probability of each class by name, where classes have names. */
    probabilities?: unknown;
    /** With `interval`, of a number: null while too early. */
    lower?: unknown;
    /** The same, above. */
    upper?: unknown;
    /** With `interval`, of a class: those it may be. */
    set?: unknown;
}
/** An error (RFC 9457). */
export interface ProblemDocument {
    type: string;
    title: string;
    status: number;
    detail: string;
    errors?: Issue[] | null;
}
/** All of a session, and where a producer stands in it. */
export interface ProducerState {
    /** Samples learnt so far. */
    t: number;
    /** The step size. */
    eta: number;
    log_eta?: number | null;
    /** Classes × features for softmax; by name for named features. */
    theta?: unknown[] | Record<string, unknown> | null;
    /** The constant term beside theta, one a class; where there is one. */
    intercept?: number | number[] | null;
    loss: Loss;
    regret: Regret;
    name: string;
    model: string;
    algorithm: string;
    dim: number | null;
    /** How many x wait for their late labels. */
    kept: number;
    /** `ok`, `diverged` after a batch refused for it, `stopped` for a what-if. */
    status: string;
    /** Only if there were late labels. */
    labels?: LateLabels | null;
    /** Only with `retain`. */
    retained?: Retained | null;
    /** Only of a fork with `relearn`. */
    relearning?: Relearning | null;
    eta_status: EtaStatus;
    metrics: Metrics;
    /** RFC 3339, UTC; null if an older version made it. */
    created_at: string | null;
    /** Likewise; null before the first sample. */
    last_sample_at: string | null;
    /** When it is deleted unless a sample comes; null if it does not expire. */
    expires_at: string | null;
    /** `learning`: a sample in the last 60 s; `drifting`: and fewer than 500 samples since the last drift alarm; else `idle`. */
    activity: "learning" | "idle" | "drifting";
    /** Its name as a shadow, null if it was none. */
    champion?: string | null;
    /** The shadow that was the champion before it. */
    former?: string | null;
    /** How often shadows were added, removed or promoted. */
    version?: number;
    /** Other algorithms on the same samples. */
    shadows: Record<string, ShadowNumbers>;
    /** Null if drift detection is off. */
    drift: Drift | null;
    /** Null where features have no names. */
    features?: Features | null;
    config: SessionConfig;
    /** Only if asked for with `producer`. */
    next_seq?: number | null;
}
/** The body of a promotion. */
export interface Promote {
    /** The shadow that becomes the champion. */
    name: string;
}
/** Loss beyond that of the best parameter; null where it is off or has no exact form. */
export interface Regret {
    /** Against the best of the samples before each. */
    ml: number | null;
    /** Against the one theta best for all samples. */
    best_fixed: number | null;
}
/** How far a what-if is. */
export interface Relearning {
    /** The session whose samples it learns. */
    source: string;
    /** Samples learnt of those. */
    done: number;
    /** All of them; it is done when both are the same. */
    of: number;
    /** Why it cannot go on; null while it can. */
    stopped: string | null;
}
/** How much of its samples a session keeps. */
export interface Retained {
    /** So many, from the first one on. */
    samples: number;
    /** What they take in the store. */
    bytes: number;
    /** Whether they are all it has learnt. */
    complete: boolean;
}
/** The features of a sample. */
export type Row = number[] | Record<string, number | boolean | string>;
/** One (x, y): the features and the label of one event. */
export interface Sample {
    x?: Row;
    y: Label;
    /** The weight of the sample, which multiplies its loss. */
    w?: number;
    /** The sample's own number, larger than the one before; with `producer`. */
    seq?: number;
}
/** Many samples as columns. */
export interface SampleColumns {
    x?: Row[];
    y: Label[];
    w?: number[];
    seq?: number[];
}
/** The body of `PUT /v1/sessions/{name}`. Only `model` is required. */
export interface SessionConfig {
    /** Which loss; `GET /v1/catalog` lists them. */
    model: string;
    /** Number of features; the first sample decides if left out. */
    dim?: number | null;
    /** Whether features have names; if left out, the first sample decides. */
    named?: boolean | null;
    /** Names kept apart; those after them share places by hash. */
    max_features?: number | null;
    /** There are 2 to the power of it such places. */
    hash_bits?: number | null;
    /** `auto` needs no step size; `base` keeps its own, `base/rate` learns it. */
    algorithm?: string;
    /** The first step size, or the only one; `auto` needs none. */
    eta0?: number;
    /** Where theta starts; zero if left out. */
    theta0?: Theta0;
    /** `exact` (default where dim is at most 64) or `off`. */
    regret?: string | null;
    /** Settings of the model and the algorithm, by name. */
    options?: Record<string, boolean | number | string>;
    /** The names of the classes, in the order of their indexes; labels and predictions are names then. For bernoulli and logistic two: that of 0 and that of 1. */
    classes?: string[] | null;
    /** Other algorithms that learn the same samples, to compare with; by name. */
    shadows?: Record<string, ShadowConfig>;
    /** Test whether the loss rises, and report when it does. */
    drift?: boolean;
    /** For how long x is kept for a late label; the service's own if left out. */
    label_seconds?: number | null;
    /** The label of an x for which none came in time; forgotten if left out. */
    expired_label?: number | string | null;
    /** Keep all samples, so that a fork can learn them in another way. */
    retain?: boolean;
    /** Delete the session when no sample came for so long; never if left out. */
    expire_seconds?: number | null;
}
/** A page of the list. */
export interface SessionPage {
    sessions: SessionRow[];
    /** The cursor of the next page, null on the last. */
    next: string | null;
    /** All sessions there are. Only if asked for with `total`, and no tenant's. */
    total?: number | null;
}
/** A session in the list; numbers are there if it is loaded. */
export interface SessionRow {
    name: string;
    t: number;
    model: string;
    algorithm: string;
    dim: number | null;
    eta?: number | null;
    loss?: Loss | null;
    regret?: Regret | null;
    created_at?: string | null;
    last_sample_at?: string | null;
    /** As in the state; null if not in memory. */
    status?: string | null;
    /** Null if the session is not in memory. */
    activity?: "learning" | "idle" | "drifting" | null;
    /** Null if the session is not in memory. */
    metrics?: Metrics | null;
}
/** All of a session. */
export interface SessionState {
    /** Samples learnt so far. */
    t: number;
    /** The step size. */
    eta: number;
    log_eta?: number | null;
    /** Classes × features for softmax; by name for named features. */
    theta?: unknown[] | Record<string, unknown> | null;
    /** The constant term beside theta, one a class; where there is one. */
    intercept?: number | number[] | null;
    loss: Loss;
    regret: Regret;
    name: string;
    model: string;
    algorithm: string;
    dim: number | null;
    /** How many x wait for their late labels. */
    kept: number;
    /** `ok`, `diverged` after a batch refused for it, `stopped` for a what-if. */
    status: string;
    /** Only if there were late labels. */
    labels?: LateLabels | null;
    /** Only with `retain`. */
    retained?: Retained | null;
    /** Only of a fork with `relearn`. */
    relearning?: Relearning | null;
    eta_status: EtaStatus;
    metrics: Metrics;
    /** RFC 3339, UTC; null if an older version made it. */
    created_at: string | null;
    /** Likewise; null before the first sample. */
    last_sample_at: string | null;
    /** When it is deleted unless a sample comes; null if it does not expire. */
    expires_at: string | null;
    /** `learning`: a sample in the last 60 s; `drifting`: and fewer than 500 samples since the last drift alarm; else `idle`. */
    activity: "learning" | "idle" | "drifting";
    /** Its name as a shadow, null if it was none. */
    champion?: string | null;
    /** The shadow that was the champion before it. */
    former?: string | null;
    /** How often shadows were added, removed or promoted. */
    version?: number;
    /** Other algorithms on the same samples. */
    shadows: Record<string, ShadowNumbers>;
    /** Null if drift detection is off. */
    drift: Drift | null;
    /** Null where features have no names. */
    features?: Features | null;
    config: SessionConfig;
}
/** Another algorithm for the samples of a session; the model is the session's. */
export interface ShadowConfig {
    /** As that of a session. */
    algorithm: string;
    /** As that of a session. */
    eta0?: number;
    /** Settings of the algorithm; the model's are the session's. */
    options?: Record<string, boolean | number | string>;
}
/** How a shadow does beside the champion. */
export interface ShadowNumbers {
    /** Samples it has learnt. */
    t: number;
    /** The step size. */
    eta: number;
    log_eta?: number | null;
    /** Classes × features for softmax; by name for named features. */
    theta?: unknown[] | Record<string, unknown> | null;
    /** The constant term beside theta, one a class; where there is one. */
    intercept?: number | number[] | null;
    loss: Loss;
    regret: Regret;
    algorithm: string;
    /** `ok`, or `diverged`: it learns no more and can only be removed. */
    status: string;
    /** From which t of the session on it is compared. */
    since: number;
    /** The champion's mean loss minus its own since then: above 0 it does better. */
    lead: number | null;
}
/** Everything needed to go on elsewhere. */
export interface Snapshot {
    format?: number;
    name: string;
    t: number;
    config: SessionConfig;
    producers?: Record<string, number>;
    state: Record<string, unknown> | null;
    /** Shadows and drift, where there are any. */
    team?: Record<string, unknown> | null;
    /** Pairs of t and the wall-clock time it was reached, in ms since 1970. */
    times?: [number, number][];
}
export type Theta0 = number | number[] | number[][] | Record<string, number | number[]> | null;
/** The service: its version and store, and the keys that the caller may know of. */
export interface Version {
    version: string;
    /** The engine: sqlite, postgresql or memory. */
    store: string;
    /** What an answer of 200 to samples means. */
    ack: string;
    /** The path of the guide, or of the API's page without a guide. */
    docs: string;
    /** The key of the request; null if there are no keys. */
    key: KeyRole | null;
    /** All keys for an admin, otherwise the caller's own. */
    keys: KeyRole[];
}
