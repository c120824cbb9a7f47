"""Schemas of responses, for the OpenAPI document and generated clients."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from llr_service.sessions.config import (
    MAX_EXPIRE_SECONDS,
    MAX_LABEL_SECONDS,
    NAME,
    SHADOWS,
    Number,
    SessionConfig,
    ShadowConfig,
    ShadowName,
    Theta,
)
from llr_service.sessions.times import Activity


class Loss(BaseModel):
    """The progressive loss: each sample judged before it was learnt."""

    total: float
    mean: float | None = Field(description="Null before the first sample.")
    recent: float | None = Field(
        None, description="An exponentially weighted mean over about the last 200 samples."
    )


class Regret(BaseModel):
    """Loss beyond that of the best parameter; null where it is off or has no exact form."""

    ml: float | None = Field(description="Against the best of the samples before each.")
    best_fixed: float | None = Field(description="Against the one theta best for all samples.")


class Numbers(BaseModel):
    """What a session has learnt."""

    model_config = ConfigDict(extra="ignore")

    t: int = Field(description="Samples learnt so far.")
    eta: float = Field(description="The step size.")
    log_eta: float | None = None
    theta: list[Any] | dict[str, Any] | None = Field(
        None, description="Classes × features for softmax; by name for named features."
    )
    intercept: float | list[float] | None = Field(
        None, description="The constant term beside theta, one a class; where there is one."
    )
    loss: Loss
    regret: Regret


class ShadowNumbers(Numbers):
    """How a shadow does beside the champion."""

    algorithm: str
    t: int = Field(description="Samples it has learnt.")
    status: str = Field(
        description="`ok`, or `diverged`: it learns no more and can only be removed."
    )
    since: int = Field(description="From which t of the session on it is compared.")
    lead: float | None = Field(
        description="The champion's mean loss minus its own since then: above 0 it does better."
    )


class Drift(BaseModel):
    """Whether the loss was found to rise."""

    alarms: int = Field(description="How often.")
    at: list[int] = Field(description="At which t, the last 16 times.")
    time: list[str | None] = Field(description="When: RFC 3339, UTC; null where not known.")


class EtaStatus(BaseModel):
    """What the step size is doing."""

    state: str = Field(
        description="`fixed`, `starting`, `travelling`, `settled`, `pinned`, or `vanished`."
    )
    advice: str = Field(description="One line for people.")


class Retained(BaseModel):
    """How much of its samples a session keeps."""

    samples: int = Field(description="So many, from the first one on.")
    bytes: int = Field(description="What they take in the store.")
    complete: bool = Field(description="Whether they are all it has learnt.")


class LateLabels(BaseModel):
    """How many labels of predictions with an id are yet to come, came, and did not in time."""

    waiting: int
    learnt: int
    expired: int


class Relearning(BaseModel):
    """How far a what-if is."""

    source: str = Field(description="The session whose samples it learns.")
    done: int = Field(description="Samples learnt of those.")
    of: int = Field(description="All of them; it is done when both are the same.")
    stopped: str | None = Field(description="Why it cannot go on; null while it can.")


class Features(BaseModel):
    """The names of a session whose features have names."""

    known: int = Field(description="Names that were seen and are kept apart.")
    max_features: int = Field(description="How many may be; those after them share places.")
    hash_bits: int = Field(description="There are 2 to the power of it such places.")
    hashing: bool = Field(description="Whether there were names after those.")


class Measure(BaseModel):
    """One metric: an exponentially weighted mean over about the last 200 samples, and over all."""

    recent: float | None
    overall: float | None


class BaselineMetrics(BaseModel):
    """The metrics of predicting the mean of the labels so far, or the most frequent class."""

    rmse: Measure | None = Field(None, description="Of numbers: root mean squared error.")
    mae: Measure | None = Field(None, description="Of numbers: mean absolute error.")
    accuracy: Measure | None = Field(None, description="Of classes: the share predicted right.")
    auc: Measure | None = Field(None, description="Of two classes: area under the ROC curve.")


class Metrics(BaselineMetrics):
    """How good the predictions were before their samples were learnt; null before the first."""

    coverage: Measure = Field(description="The share of labels within their 90 % interval or set.")
    baseline: BaselineMetrics


class SessionState(Numbers):
    """All of a session."""

    name: str
    model: str
    algorithm: str
    dim: int | None
    kept: int = Field(description="How many x wait for their late labels.")
    status: str = Field(
        description="`ok`, `diverged` after a batch refused for it, `stopped` for a what-if."
    )
    labels: LateLabels | None = Field(None, description="Only if there were late labels.")
    retained: Retained | None = Field(None, description="Only with `retain`.")
    relearning: Relearning | None = Field(None, description="Only of a fork with `relearn`.")
    eta_status: EtaStatus
    metrics: Metrics
    created_at: str | None = Field(description="RFC 3339, UTC; null if an older version made it.")
    last_sample_at: str | None = Field(description="Likewise; null before the first sample.")
    expires_at: str | None = Field(
        description="When it is deleted unless a sample comes; null if it does not expire."
    )
    activity: Activity = Field(
        description="`learning`: a sample in the last 60 s; `drifting`: and fewer than 500 samples"
        " since the last drift alarm; else `idle`."
    )
    champion: str | None = Field(None, description="Its name as a shadow, null if it was none.")
    former: str | None = Field(None, description="The shadow that was the champion before it.")
    version: int = Field(0, description="How often shadows were added, removed or promoted.")
    shadows: dict[str, ShadowNumbers] = Field(description="Other algorithms on the same samples.")
    drift: Drift | None = Field(description="Null if drift detection is off.")
    features: Features | None = Field(None, description="Null where features have no names.")
    config: SessionConfig


class ProducerState(SessionState):
    """All of a session, and where a producer stands in it."""

    next_seq: int | None = Field(None, description="Only if asked for with `producer`.")


class SessionRow(BaseModel):
    """A session in the list; numbers are there if it is loaded."""

    name: str
    t: int
    model: str
    algorithm: str
    dim: int | None
    eta: float | None = None
    loss: Loss | None = None
    regret: Regret | None = None
    created_at: str | None = None
    last_sample_at: str | None = None
    status: str | None = Field(None, description="As in the state; null if not in memory.")
    activity: Activity | None = Field(None, description="Null if the session is not in memory.")
    metrics: Metrics | None = Field(None, description="Null if the session is not in memory.")


class SessionPage(BaseModel):
    """A page of the list."""

    sessions: list[SessionRow]
    next: str | None = Field(description="The cursor of the next page, null on the last.")
    total: int | None = Field(
        None, description="All sessions there are. Only if asked for with `total`, and no tenant's."
    )


class Answer(Numbers):
    """The answer to learning. 200 means: applied exactly once, and on disk."""

    name: str
    accepted: int = Field(description="Samples of this body that were new.")
    duplicate: bool = Field(description="True if all of them had been learnt before.")
    predictions: list[Any] | None = None
    probabilities: list[dict[str, float]] | None = Field(
        None, description="With `predictions`, of each class, where classes have names."
    )
    shadows: dict[str, ShadowNumbers] | None = Field(None, description="Where there are any.")


class Prediction(BaseModel):
    """Predictions on the natural scale: a mean, a probability, or one per class.

    Where classes have names, the name of the likeliest, and `probabilities` beside it.
    """

    name: str
    t: int
    predictions: Any = Field(description="One for a single row, a list for many.")
    probabilities: Any = Field(
        None, description="The probability of each class by name, where classes have names."
    )
    lower: Any = Field(None, description="With `interval`, of a number: null while too early.")
    upper: Any = Field(None, description="The same, above.")
    set: Any = Field(None, description="With `interval`, of a class: those it may be.")


class PastLabels(BaseModel):
    """Late labels as columns, in the order in which they were learnt."""

    t: list[int] = Field(description="Samples learnt before it was.")
    at: list[int] = Field(description="When it was learnt, in milliseconds since 1970.")
    predicted_t: list[int] = Field(description="Samples learnt when its x was predicted for.")
    predicted_at: list[int] = Field(description="When that was, in milliseconds since 1970.")


class Columns(BaseModel):
    """A past as columns, oldest first."""

    t: list[int]
    log_eta: list[float]
    eta: list[float]
    loss: list[float]
    regret: list[float] | None
    log_eta_low: list[float] = Field(description="The least since the point before.")
    log_eta_high: list[float] = Field(description="The largest since the point before.")
    loss_low: list[float]
    loss_high: list[float]
    recent: list[float | None] = Field(description="The recent loss; null before the first sample.")
    metric: list[float | None] = Field(
        description="The recent RMSE, of classes the recent accuracy; null where not known."
    )
    baseline: list[float | None] = Field(description="The same of the baseline.")


class Past(Columns):
    """The past of a session."""

    name: str
    theta: list[list[float]]
    theta_low: list[list[float | None]] = Field(
        description="The least since the point before; null beyond the first 8 coordinates."
    )
    theta_high: list[list[float | None]] = Field(description="The largest, likewise.")
    coordinates: list[int] | list[str]
    shadows: dict[str, Columns] = Field(description="Of each shadow, from where it began.")
    drift: list[int] = Field(description="At which t the loss was found to rise.")
    drift_time: list[str | None] = Field(description="The time of each of those.")
    time: list[str | None] = Field(
        description="When each t was reached, RFC 3339, UTC; null where not known."
    )
    labels: PastLabels | None = Field(
        None, description="The last late labels, as long as their ids are known."
    )


class Snapshot(BaseModel):
    """Everything needed to go on elsewhere."""

    model_config = ConfigDict(extra="forbid")

    format: int = 1
    name: str
    t: int
    config: SessionConfig
    producers: dict[str, int] = Field(default_factory=dict)
    state: dict[str, Any] | None
    team: dict[str, Any] | None = Field(None, description="Shadows and drift, where there are any.")
    times: list[tuple[int, int]] = Field(
        default_factory=list,
        description="Pairs of t and the wall-clock time it was reached, in ms since 1970.",
    )


class Fork(BaseModel):
    """The body of a fork: the copy's name, and members of its config that are to differ."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "twin"}, {"name": "rival", "algorithm": "sg/ag", "relearn": True}]
        },
    )

    name: Annotated[StrictStr, Field(pattern=f"^{NAME}$")] = Field(description="The copy's name.")
    model: StrictStr | None = Field(None, description="Another loss, with a theta of this shape.")
    dim: StrictInt | None = Field(None, description="Another only with a theta0 that fits it.")
    algorithm: StrictStr | None = Field(None, description="Another algorithm.")
    eta0: Number | None = Field(None, description="Another first step size.")
    max_features: StrictInt | None = Field(None, ge=1, description="Names kept apart.")
    hash_bits: StrictInt | None = Field(None, ge=1, le=24, description="Bits of a shared place.")
    theta0: Theta | None = Field(
        None, description="Where theta starts, if not where the session's is."
    )
    regret: StrictStr | None = Field(None, description="`exact` or `off`.")
    options: dict[str, bool | Number | StrictStr] | None = Field(
        None, description="All options; those that still fit are kept if left out."
    )
    classes: list[StrictStr] | None = Field(None, description="Other names of the classes.")
    shadows: dict[ShadowName, ShadowConfig] | None = Field(
        None, max_length=SHADOWS, description="Other shadows; all of them."
    )
    drift: StrictBool | None = Field(None, description="Whether to look out for drift.")
    label_seconds: Number | None = Field(
        None, gt=0, le=MAX_LABEL_SECONDS, description="Another time."
    )
    expired_label: Number | StrictStr | None = Field(
        None, description="Another label for what expired."
    )

    retain: StrictBool | None = Field(None, description="Whether the copy keeps its samples.")
    expire_seconds: Number | None = Field(
        None, ge=1, le=MAX_EXPIRE_SECONDS, description="Another time until it expires."
    )
    relearn: StrictBool = Field(
        default=False, description="Learn all samples of the session again, from the first one on."
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The members of a config that were given."""
        given = self.model_fields_set - {"name", "relearn"}
        return {name: value for name in given if (value := getattr(self, name)) is not None}


class Promote(BaseModel):
    """The body of a promotion."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "rival"}]})

    name: ShadowName = Field(description="The shadow that becomes the champion.")


class KeyRole(BaseModel):
    """A key: its name and role, without its secret."""

    name: str
    role: str = Field(description="read, write or admin.")
    prefix: str = Field(description="What names of a tenant's sessions begin with, or empty.")


class Version(BaseModel):
    """The service: its version and store, and the keys that the caller may know of."""

    version: str
    store: str = Field(description="The engine: sqlite, postgresql or memory.")
    ack: str = Field(description="What an answer of 200 to samples means.")
    docs: str = Field(description="The path of the guide, or of the API's page without a guide.")
    key: KeyRole | None = Field(description="The key of the request; null if there are no keys.")
    keys: list[KeyRole] = Field(description="All keys for an admin, otherwise the caller's own.")


class Issue(BaseModel):
    """One place where a request is wrong."""

    model_config = ConfigDict(extra="allow")

    detail: str
    pointer: str | None = None
    line: int | None = None


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    errors: list[Issue] | None = None
