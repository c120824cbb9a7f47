"""Schemas of the answers of probes and of the catalog."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class Health(BaseModel):
    """The answer of a probe."""

    status: Literal["ok"]


class CatalogOption(BaseModel):
    """An option of a model or of an algorithm."""

    name: str
    summary: str
    kind: str = Field(description="What it is, such as `flag`, `choice` or a kind of number.")
    values: str = Field(description="The values it may have, in words.")
    default: bool | int | float | str | None
    needed: bool = Field(description="Whether it has to be given.")


class CatalogModel(BaseModel):
    """A model."""

    name: str
    summary: str
    domain: str = Field(description="The labels it takes, in words.")
    features: bool = Field(description="Whether samples have an x.")
    exact_regret: bool = Field(description="Whether `regret: exact` is possible.")
    options: list[CatalogOption]


class CatalogAlgorithm(BaseModel):
    """An algorithm."""

    name: str
    summary: str
    base: str | None = Field(description="How theta moves; null where that is not a base.")
    rate: str | None = Field(description="How the step size moves; null if it is fixed.")
    learns_step_size: bool
    needs_eta0: bool
    named_features: bool = Field(description="Whether features may have names.")
    models: list[str] = Field(description="The models it suits.")
    options: list[CatalogOption]


class Catalog(BaseModel):
    """Everything that a config may name."""

    models: list[CatalogModel]
    algorithms: list[CatalogAlgorithm]
    defaults: dict[str, Any] = Field(description="What a config has where it leaves something out.")
    shadows: dict[str, int] = Field(description="`most`: how many shadows a session may have.")
    drift: dict[str, str] = Field(description="The drift test: its name and what it does.")
