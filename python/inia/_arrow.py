"""Results as Arrow's columns. Values go from the engine's rows into buffers; no Python object is made for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._errors import NotSupportedError

_DECIMAL_DIGITS = 76


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise NotSupportedError("results as columns need pyarrow: pip install pyarrow") from None
    return pyarrow


def _type(pa: Any, name: str, scale: int) -> Any:
    if name == "decimal256":
        return pa.decimal256(_DECIMAL_DIGITS, scale)
    if name == "timestamp":
        return pa.timestamp("us")
    if name == "duration":
        return pa.duration("us")
    if name == "double":
        return pa.float64()
    return getattr(pa, name)()


def _array(pa: Any, count: int, column: tuple[Any, ...]) -> Any:
    name, scale, bitmap, buffers = column
    if name == "null":
        return pa.nulls(count)
    parts = [None if bitmap is None else pa.py_buffer(bitmap), *map(pa.py_buffer, buffers)]
    return pa.Array.from_buffers(_type(pa, name, scale), count, parts)


def _narrow(pa: Any, array: Any) -> Any:
    """Decimals in the 128 bits that all libraries read, where they fit."""
    if not pa.types.is_decimal256(array.type) or array.type.scale > 38:
        return array
    try:
        return array.cast(pa.decimal128(38, array.type.scale))
    except pa.ArrowInvalid:
        return array


_EMPTY = {
    "null": "null",
    "integer": "int64",
    "bit": "uint64",
    "double": "double",
    "bytes": "large_binary",
    "date": "date32",
    "time": "duration",
    "datetime": "timestamp",
}


def _nothing(pa: Any, columns: Any, description: Any) -> Any:
    """A table without rows."""
    arrays = []
    for (_, kind, unsigned, _), _ in zip(columns, description):
        name = "uint64" if kind == "integer" and unsigned else _EMPTY.get(kind, "large_string")
        of = pa.decimal128(38, 0) if kind == "decimal" else _type(pa, name, 0)
        arrays.append(pa.array([], of))
    return pa.Table.from_arrays(arrays, names=[column[0] for column in description])


def batches(results: Any, description: Any) -> Iterator[Any]:
    """The rows as record batches."""
    pa = _pyarrow()
    names = [column[0] for column in description]
    while (taken := results.fetch_columns()) is not None:
        count, columns = taken
        arrays = [_narrow(pa, _array(pa, count, column)) for column in columns]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def table(results: Any, description: Any) -> Any:
    """The rows as a table."""
    pa = _pyarrow()
    tables = [pa.Table.from_batches([batch]) for batch in batches(results, description)]
    if not tables:
        return _nothing(pa, results.columns(), description)
    if len(tables) == 1:
        return tables[0]
    # The scale of decimals may differ between batches.
    return pa.concat_tables(tables, promote_options="permissive")
