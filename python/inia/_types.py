"""The constructors and type objects of PEP 249."""

from __future__ import annotations

import datetime
import time


class DBAPIType:
    """Equals the kinds of columns that `description` names."""

    def __init__(self, name: str, *kinds: str) -> None:
        self.name, self.kinds = name, frozenset(kinds)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DBAPIType):
            return self.kinds == other.kinds
        return other in self.kinds

    def __hash__(self) -> int:
        return hash(self.kinds)

    def __repr__(self) -> str:
        return self.name


STRING = DBAPIType("STRING", "text", "json")
BINARY = DBAPIType("BINARY", "bytes")
NUMBER = DBAPIType("NUMBER", "integer", "bit", "decimal", "double")
DATETIME = DBAPIType("DATETIME", "date", "time", "datetime")
ROWID = DBAPIType("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    return datetime.date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    return datetime.time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    return datetime.datetime(*time.localtime(ticks)[:6])
