"""Parameters: from `%s` and `%(name)s` to question marks, and to literals where a statement takes none."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ._errors import ProgrammingError

_MARK = re.compile(r"%(?:\((?P<name>[^()]*)\)s|(?P<kind>.?))", re.DOTALL)


@lru_cache(maxsize=512)
def _split(sql: str) -> tuple[tuple[str, ...], tuple[str | None, ...]]:
    """The texts around the marks, and the name of each mark; None for `%s`."""
    texts, names, at, text = [], [], 0, ""
    for match in _MARK.finditer(sql):
        text += sql[at : match.start()]
        at = match.end()
        if match["kind"] == "%":
            text += "%"
            continue
        if match["name"] is None and match["kind"] != "s":
            raise ProgrammingError(f"'%{match['kind']}' is no mark; a percent sign is '%%'")
        texts.append(text)
        names.append(match["name"])
        text = ""
    texts.append(text + sql[at:])
    return tuple(texts), tuple(names)


def _values(names: tuple[str | None, ...], params: Any) -> Sequence[Any]:
    if isinstance(params, Mapping):
        try:
            return [params[name] for name in names]
        except KeyError as error:
            raise ProgrammingError(f"there is no parameter {error}") from None
    if any(name is not None for name in names):
        raise ProgrammingError("named marks need a mapping of parameters")
    if isinstance(params, (str, bytes)) or not isinstance(params, Sequence):
        params = (params,)
    values: Sequence[Any] = params
    if len(values) != len(names):
        raise ProgrammingError(f"{len(names)} parameters are needed, {len(values)} are given")
    return values


def _is_list(value: Any) -> bool:
    return isinstance(value, (tuple, list, set, frozenset))


def prepare(sql: str, params: Any) -> tuple[str, tuple[Any, ...]]:
    """The statement with question marks, and their values. A list becomes `(?, ?, …)`, for IN."""
    texts, names = _split(sql)
    values: list[Any] = []
    parts = [texts[0]]
    for value, text in zip(_values(names, params), texts[1:]):
        if _is_list(value):
            if not value:
                raise ProgrammingError("an empty list cannot be a parameter")
            parts.append("(" + ", ".join("?" * len(value)) + ")")
            values.extend(value)
        else:
            parts.append("?")
            values.append(value)
        parts.append(text)
    return "".join(parts), tuple(values)


def prepare_many(sql: str, rows: Sequence[Any]) -> tuple[str, list[tuple[Any, ...]]] | None:
    """As `prepare`, for several sets of values; None where lists are among them."""
    texts, names = _split(sql)
    made = [tuple(_values(names, row)) for row in rows]
    if any(_is_list(value) for row in made for value in row):
        return None
    return "?".join(texts), made


def interpolate(sql: str, params: Any) -> str:
    """The statement with literals."""
    texts, names = _split(sql)
    parts = [texts[0]]
    for value, text in zip(_values(names, params), texts[1:]):
        parts.append(literal(value))
        parts.append(text)
    return "".join(parts)


_ESCAPES = str.maketrans({"\0": "\\0", "\n": "\\n", "\r": "\\r", "\\": "\\\\", "'": "''", "\x1a": "\\Z"})


def literal(value: Any) -> str:
    """A value as a literal of SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, Decimal)):
        return str(value) if isinstance(value, int) else format(value, "f")
    if isinstance(value, float):
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    if isinstance(value, str):
        return f"'{value.translate(_ESCAPES)}'"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"x'{bytes(value).hex()}'"
    if isinstance(value, datetime.timedelta):
        micros = round(value / datetime.timedelta(microseconds=1))
        sign, micros = ("-", -micros) if micros < 0 else ("", micros)
        minutes, micros = divmod(micros, 60_000_000)
        return f"'{sign}{minutes // 60:02}:{minutes % 60:02}:{micros // 1_000_000:02}.{micros % 1_000_000:06}'"
    if isinstance(value, datetime.datetime):
        return f"'{value.replace(tzinfo=None).isoformat(' ')}'"
    if isinstance(value, (datetime.date, datetime.time)):
        return f"'{value.isoformat()}'"
    if _is_list(value):
        return "(" + ", ".join(map(literal, value)) + ")"
    raise ProgrammingError(f"a parameter cannot be of type {type(value).__name__}")
