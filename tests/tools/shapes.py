"""Types of every kind that a tool's parameter may have."""

import dataclasses
import enum
from datetime import date, time
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Flag(enum.Enum):
    ON = True


class Price(BaseModel):
    amount: float
    currency: str = "EUR"


class Item(BaseModel):
    sku: str
    price: Price
    tags: list[str] = []


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Lists(RootModel[list["Lists"]]):
    """Lists of lists of lists."""


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    cat: str  # the name of the other kind: a place is no member of a union


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    inner: Price


class OpenTyped(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]  # pyright: ignore[reportIncompatibleVariableOverride]  # as pydantic documents it


class Aliased(BaseModel):
    number: int = Field(alias="theNumber")


class Span(BaseModel):
    first: int
    last: int

    @model_validator(mode="after")
    def _in_order(self) -> "Span":
        if self.first > self.last:
            raise ValueError("first must not be after last")
        return self


class Booking(BaseModel):
    """Its validators run before the types: they get Python values, not JSON."""

    day: date
    at: time | None = None
    names: set[str] = set()
    word: Word = Word.YES
    where: Path | None = None
    price: Price | None = None

    @model_validator(mode="before")
    @classmethod
    def _as_it_came(cls, value: Any) -> Any:
        return value


class Checked(BaseModel):
    even: int

    @field_validator("even")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise AssertionError("must be\neven")
        return value


class Built(BaseModel):
    """A model with a constructor of its own."""

    number: int

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Person(typing_extensions.TypedDict, total=False):
    name: typing_extensions.Required[str]
    home: Price


class Pair(NamedTuple):
    left: int
    right: str = "r"


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
