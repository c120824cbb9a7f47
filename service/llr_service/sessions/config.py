"""The config of a session: the body of its PUT, the learners it describes, its stored form."""

import re
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import from_json, to_json

import llr
from llr.classes import Classes
from llr.validation import check_labels
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem, pointer, too_new

EXACT_BY_DEFAULT = 64
EXACT_AT_MOST = 1024
MAX_EXPIRE_SECONDS = 10 * 365 * 86_400.0
"""The longest `expire_seconds`."""
MAX_LABEL_SECONDS = 10 * 365 * 86_400
"""The longest time for which an example may wait for its label, in seconds."""

ROWS_AT_MOST = 64
"""The numbers an algorithm may keep besides its vectors, for each number that theta may have."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
"""The pattern of a session's name."""
NAME_PATTERN = re.compile(NAME)
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


SHADOW = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The pattern of a shadow's name."""
Theta = Number | list[Number] | list[list[Number]] | dict[str, Number | list[Number]]
"""Where theta may start: a number for all, one a coordinate, a list a class, or by name."""
ShadowName = Annotated[StrictStr, Field(pattern=f"^{SHADOW}$")]
SHADOWS = 8
"""The largest number of shadows a session may have."""

Options = dict[str, bool | Number | StrictStr]


class ShadowConfig(BaseModel):
    """Another algorithm for the samples of a session; the model is the session's."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"algorithm": "sg/ag"}]}
    )

    algorithm: StrictStr = Field(description="As that of a session.")
    eta0: Number = Field(default=1e-3, description="As that of a session.")
    options: Options = Field(
        default_factory=dict,
        description="Settings of the algorithm; the model's are the session's.",
    )


class SessionConfig(BaseModel):
    """The body of `PUT /v1/sessions/{name}`. Only `model` is required."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"model": "linear", "dim": 2, "algorithm": "auto"}]},
    )

    model: StrictStr = Field(description="Which loss; `GET /v1/catalog` lists them.")
    dim: StrictInt | None = Field(
        default=None, description="Number of features; the first sample decides if left out."
    )
    named: StrictBool | None = Field(
        default=None,
        description="Whether features have names; if left out, the first sample decides.",
    )
    max_features: StrictInt | None = Field(
        default=None, ge=1, description="Names kept apart; those after them share places by hash."
    )
    hash_bits: StrictInt | None = Field(
        default=None, ge=1, le=24, description="There are 2 to the power of it such places."
    )
    algorithm: StrictStr = Field(
        default="auto",
        description="`auto` needs no step size; `base` keeps its own, `base/rate` learns it.",
    )
    eta0: Number = Field(
        default=1e-3, description="The first step size, or the only one; `auto` needs none."
    )
    theta0: Theta | None = Field(default=None, description="Where theta starts; zero if left out.")
    regret: StrictStr | None = Field(
        default=None, description="`exact` (default where dim is at most 64) or `off`."
    )
    options: Options = Field(
        default_factory=dict, description="Settings of the model and the algorithm, by name."
    )
    classes: list[StrictStr] | None = Field(
        default=None,
        description="The names of the classes, in the order of their indexes; labels and "
        "predictions are names then. For bernoulli and logistic two: that of 0 and that of 1.",
    )
    shadows: Annotated[dict[ShadowName, ShadowConfig], Field(max_length=SHADOWS)] = Field(
        default_factory=dict,
        description="Other algorithms that learn the same samples, to compare with; by name.",
    )
    drift: StrictBool = Field(
        default=True, description="Test whether the loss rises, and report when it does."
    )

    label_seconds: Number | None = Field(
        default=None,
        gt=0,
        le=MAX_LABEL_SECONDS,
        description="For how long x is kept for a late label; the service's own if left out.",
    )
    expired_label: Number | StrictStr | None = Field(
        default=None,
        description="The label of an x for which none came in time; forgotten if left out.",
    )

    retain: StrictBool = Field(
        default=False,
        description="Keep all samples, so that a fork can learn them in another way.",
    )
    expire_seconds: Number | None = Field(
        default=None,
        ge=1,
        le=MAX_EXPIRE_SECONDS,
        description="Delete the session when no sample came for so long; never if left out.",
    )

    @model_validator(mode="before")
    @classmethod
    def _count_classes(cls, given: Any) -> Any:
        """As many classes as names, where the model asks how many there are."""
        names = given.get("classes") if isinstance(given, dict) else None
        options = given.get("options", {}) if isinstance(names, list) else None
        if not isinstance(names, list) or not isinstance(options, dict) or "classes" in options:
            return given
        model = llr.MODELS.get(str(given.get("model")))
        if model is None or not model.classes:
            return given
        return given | {"options": options | {"classes": len(names)}}

    @property
    def named_classes(self) -> Classes | None:
        """The classes by name, None where they have none."""
        return None if self.classes is None else Classes(self.classes)

    @property
    def features(self) -> bool:
        """Whether samples have an x; true for an unknown model."""
        model = llr.MODELS.get(self.model)
        return model is None or model.features

    @property
    def takes_names(self) -> bool | None:
        """Whether features have names; None where the first sample decides."""
        if self.named is not None:
            return self.named
        if self.max_features or self.hash_bits or isinstance(self.theta0, dict):
            return True
        return None if self.dim is None and self.features else False

    def learns_like(self, other: "SessionConfig") -> bool:
        """Whether they differ only in delayed labels, the drift test, retention and expiry."""
        beside = {"label_seconds", "expired_label", "retain", "drift", "expire_seconds"}
        return self.model_dump(exclude=beside) == other.model_dump(exclude=beside)

    def of_learner(self, dim: int | None) -> llr.Config:
        """The config of the champion for a dim; with None, everything but dim is checked."""
        if dim == NAMED or (dim is None and self.takes_names):
            return self._of_named()
        known = dim or self.dim
        regret = self.regret
        if regret is None:
            regret = "off" if known is None or known > EXACT_BY_DEFAULT else "exact"
        start: Any = self.theta0
        options = self._plain_options
        return llr.Config(
            self.model, known, self.algorithm, float(self.eta0), start, regret, options
        )

    def _of_named(self) -> llr.NamedConfig:
        """The config of a learner whose features have names."""
        options, usual = self._plain_options, llr.NamedConfig
        scores = llr.Config(self.model, algorithm=self.algorithm, options=options).scores
        if not self.features:
            raise llr.ConfigError("named", f"{self.model} has no features")
        if self.dim is not None:
            raise llr.ConfigError("dim", "leave it out where features have names")
        if self.regret not in (None, "off"):
            raise llr.ConfigError("regret", "where features have names it is off")
        return llr.NamedConfig(
            self.model,
            algorithm=self.algorithm,
            eta0=float(self.eta0),
            theta0=self.theta0,
            options=options,
            max_features=self.max_features or max(1, usual.max_features // scores),
            hash_bits=self.hash_bits or max(1, usual.hash_bits - (scores - 1).bit_length()),
        )

    @property
    def _plain_options(self) -> dict[str, Any]:
        return {name: _whole_if_whole(value) for name, value in self.options.items()}

    def of_shadow(self, shadow: ShadowConfig) -> "SessionConfig":
        """The config of a session like this one that has a shadow's algorithm, and no shadows."""
        own = {"algorithm": shadow.algorithm, "eta0": shadow.eta0, "shadows": {}}
        return self.model_copy(update=own | {"options": self.of_model | shadow.options})

    @property
    def of_model(self) -> Options:
        """The options that are the model's."""
        names = {one.name for one in llr.MODELS[self.model].parameters}
        return {name: value for name, value in self.options.items() if name in names}

    def check(self, max_dim: int, dim: int | None = None) -> None:
        """Raise a problem, with pointers, if no ensemble can be made of this config."""
        self._check_alone(max_dim, dim)
        for name, shadow in self.shadows.items():
            self.check_shadow(shadow, max_dim, dim, pointer("shadows", name))

    def check_shadow(
        self, shadow: ShadowConfig, max_dim: int, dim: int | None = None, at: str = ""
    ) -> None:
        """Raise a problem if no such shadow can be made; its pointers start with `at`."""
        for option in shadow.options:
            if option in {one.name for one in llr.MODELS[self.model].parameters}:
                detail = f"{option} is the model's: the shadow has the session's"
                place = f"{at}{pointer('options', option)}"
                raise Problem("invalid", detail, [{"pointer": place, "detail": detail}])
        try:
            self.of_shadow(shadow)._check_alone(max_dim, dim)
        except Problem as problem:
            for error in problem.errors:
                error["pointer"] = at + error["pointer"]
            raise

    def _check_alone(self, max_dim: int, dim: int | None) -> None:
        """Raise a problem if no champion can be made of this config."""
        try:
            config = self.of_learner(dim)
            if self.classes is not None:
                replace(config, classes=self.classes)
            if isinstance(config, llr.NamedConfig):
                _check_names(config, max_dim)
            else:
                self._check_size(config, max_dim)
        except llr.ConfigError as wrong:
            place = pointer(*wrong.field.split(".", 1))  # an option's name may have dots
            errors = [{"pointer": place, "detail": wrong.reason}]
            raise Problem("invalid", str(wrong), errors) from None
        self._check_expired_label(config)

    def _check_size(self, config: llr.Config, max_dim: int) -> None:
        for name in ("max_features", "hash_bits"):
            if getattr(self, name) is not None:
                raise llr.ConfigError(name, "leave it out where features have no names")
        dim = config.dim or 1
        if dim * config.scores > max_dim:
            raise llr.ConfigError("dim", f"theta may have at most {max_dim} numbers here")
        if config.regret == "exact" and dim > EXACT_AT_MOST and config.comparator:
            reason = f"exact regret takes dim² numbers: dim {EXACT_AT_MOST} at most, or off"
            raise llr.ConfigError("regret", reason)
        kept, most = config.of_algorithm.numbers(config.options, config.scores, dim), max_dim
        if kept > ROWS_AT_MOST * most:
            reason = f"{config.algorithm} would keep {kept} numbers, {ROWS_AT_MOST * most} at most"
            raise llr.ConfigError("options", reason)

    @property
    def expired_y(self) -> float | None:
        """The label of what expired as a number. Raises `SampleError` if it is no class."""
        label, classes = self.expired_label, self.named_classes
        if isinstance(label, str):
            if classes is None:
                raise llr.DomainError("must be a number", field="expired_label")
            return float(classes.indexes(label))
        if label is not None and classes is not None:
            raise llr.DomainError("must be the name of a class", field="expired_label")
        return label

    def _check_expired_label(self, config: llr.Config) -> None:
        if self.expired_label is None:
            return
        try:
            check_labels(config, np.array([self.expired_y], np.float64))
        except llr.SampleError as wrong:
            place = [{"pointer": "/expired_label", "detail": wrong.reason}]
            raise Problem("invalid", f"expired_label: {wrong.reason}", place) from None


def _check_names(config: llr.NamedConfig, max_dim: int) -> None:
    if config.max_features * config.scores > max_dim:
        reason = f"at most {max_dim // config.scores} names here, a theta of {max_dim} numbers"
        raise llr.ConfigError("max_features", reason)
    if config.scores << config.hash_bits > max(max_dim, 1 << llr.NamedConfig.hash_bits):
        raise llr.ConfigError("hash_bits", "fewer of them here: theta would be too long")


def _whole_if_whole(value: Any) -> Any:
    """JSON has one kind of number: 3.0 in the body is the 3 an option may ask for."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


CREATED_MEMBER = "created"
"""The member of a stored config that has the time of creation."""
REPLAY_MEMBER = "relearn"
"""The member of a stored config that names the replay source."""


class ReplaySource(NamedTuple):
    """The samples that a what-if learns.

    Attributes:
        name: the name of their session when it was forked.
        session: its number in the store.
        samples: how many of its samples, from the first one on.
    """

    name: str
    session: int
    samples: int


def created_of(text: bytes) -> int:
    """When a session with this stored config was created, in milliseconds; 0 if not known."""
    created = from_json(text).get(CREATED_MEMBER, 0)
    return created if type(created) is int and 0 < created < 2**47 else 0


def to_stored(config: SessionConfig, source: ReplaySource | None = None, created: int = 0) -> bytes:
    """The stored form of a config, with the replay source of a what-if and the time of creation."""
    members = config.model_dump(mode="json")
    if source is not None:
        members[REPLAY_MEMBER] = list(source)
    if created:
        members[CREATED_MEMBER] = created
    return to_json(members)


def from_stored(text: bytes) -> tuple[SessionConfig, ReplaySource | None]:
    """Read a stored config, and the replay source if the session is a what-if.

    >>> config = SessionConfig(model="linear")
    >>> from_stored(to_stored(config, ReplaySource("a", 1, 9)))[1]
    ReplaySource(name='a', session=1, samples=9)
    >>> from_stored(to_stored(config)) == (config, None)
    True
    """
    members = from_json(text)
    source = members.pop(REPLAY_MEMBER, None)
    members.pop(CREATED_MEMBER, None)
    if unknown := members.keys() - SessionConfig.model_fields.keys():
        raise too_new(f"the config of a session has {', '.join(sorted(unknown))}")
    return SessionConfig.model_validate(members), source and ReplaySource(*source)
