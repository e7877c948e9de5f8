"""Cursors, as PEP 249 describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _arrow
from ._errors import InterfaceError, NotSupportedError, ProgrammingError
from ._format import interpolate, prepare, prepare_many

if TYPE_CHECKING:
    from ._connection import Connection

_CANNOT_BE_PREPARED = 1295


class Cursor:
    """Runs statements and holds their results.

    With `stream=True` rows are read while they are fetched; the connection takes no other
    statement until the last one. `rowcount` is then -1.
    """

    arraysize = 1

    def __init__(self, connection: Connection, stream: bool = False) -> None:
        self.connection = connection
        self._stream = stream
        self._results: Any = None
        self._closed = False
        self._forget()

    def _forget(self) -> None:
        self._results = None
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.rownumber: int | None = None

    def _raw(self) -> Any:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        return self.connection._raw()

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """Runs a statement. Without parameters the text may hold several, and `%` is itself."""
        raw = self._raw()
        self._forget()
        if parameters is None:
            self._take(raw.run(operation, None, self._stream))
            return self
        sql, values = prepare(operation, parameters)
        if not values:
            self._take(raw.run(sql, None, self._stream))
            return self
        try:
            results = raw.run(sql, values, self._stream)
        except NotSupportedError as error:
            if error.errno != _CANNOT_BE_PREPARED:
                raise
            results = raw.run(interpolate(operation, parameters), None, self._stream)
        self._take(results)
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Any]) -> Cursor:
        """Runs a statement once for each set of parameters; `rowcount` is the sum."""
        raw = self._raw()
        self._forget()
        rows = list(seq_of_parameters)
        if not rows:
            self.rowcount = 0
            return self
        made = prepare_many(operation, rows)
        if made is not None:
            sql, values = made
            try:
                self.rowcount, self.lastrowid = raw.run_many(sql, values)
                return self
            except NotSupportedError as error:
                if error.errno != _CANNOT_BE_PREPARED:
                    raise
        total = 0
        for row in rows:
            total += max(self.execute(operation, row).rowcount, 0)
        self.rowcount = total
        return self

    def callproc(self, procname: str, parameters: Sequence[Any] = ()) -> Sequence[Any]:
        """Calls a procedure. Its results follow each other by `nextset`; what OUT parameters became
        is in the variables `@_NAME_0`, `@_NAME_1`, …"""
        raw = self._raw()
        self._forget()
        name = "`.`".join(part.replace("`", "``") for part in procname.split("."))
        variables = [f"@`_{procname.replace('`', '``')}_{n}`" for n in range(len(parameters))]
        if variables:
            marks = ", ".join(f"{variable} = ?" for variable in variables)
            raw.run(f"SET {marks}", tuple(parameters), False)
        self._take(raw.run(f"CALL `{name}`({', '.join(variables)})", None, self._stream))
        return parameters

    def _take(self, results: Any) -> None:
        self._results = results
        self._describe()

    def _describe(self) -> None:
        columns = self._results.columns()
        self.rownumber = None
        if columns is None:
            self.description = None
            self._end()
            return
        self.description = tuple(
            (name, kind, None, None, None, None, nullable) for name, kind, _, nullable in columns
        )
        self.rownumber = 0
        self.rowcount = -1 if self._stream else self._results.at_hand()
        if self.rowcount == 0:
            self._end(0)

    def _end(self, rows: int | None = None) -> None:
        outcome = self._results.outcome()
        if outcome is not None:
            affected, last_id, _ = outcome
            self.rowcount = affected if rows is None else rows
            self.lastrowid = last_id

    def _readable(self) -> Any:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        if self.description is None:
            raise ProgrammingError("the last statement has no rows")
        return self._results

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        if self.description is None or self._closed:
            self._readable()
        row: tuple[Any, ...] | None = self._results.fetch_one()
        if row is not None:
            self.rownumber += 1  # type: ignore[operator]
        return row

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """Up to `size` rows."""
        rows: list[tuple[Any, ...]] = self._readable().fetch(self.arraysize if size is None else size)
        self.rownumber += len(rows)  # type: ignore[operator]
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        rows: list[tuple[Any, ...]] = self._readable().fetch()
        self.rownumber += len(rows)  # type: ignore[operator]
        return rows

    def nextset(self) -> bool | None:
        """Goes to the next result; None where there is none."""
        if self._closed:
            raise InterfaceError("the cursor is closed")
        if self._results is None or not self._results.next_result():
            return None
        self._describe()
        return True

    def arrow_batches(self) -> Iterator[Any]:
        """The rows that are left as `pyarrow.RecordBatch`es, as they come."""
        return _arrow.batches(self._readable(), self.description or ())

    def arrow(self) -> Any:
        """The rows that are left as a `pyarrow.Table`."""
        return _arrow.table(self._readable(), self.description or ())

    def df(self) -> Any:
        """The rows that are left as a `pandas.DataFrame`."""
        return self.arrow().to_pandas()

    def pl(self) -> Any:
        """The rows that are left as a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.arrow())

    def setinputsizes(self, sizes: Any) -> None:
        """Does nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Closes the cursor, and ends a result that streams."""
        self._forget()
        self._closed = True

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DictCursor(Cursor):
    """A cursor whose rows are dictionaries by column name."""

    def _named(self, row: tuple[Any, ...]) -> dict[str, Any]:
        return {column[0]: value for column, value in zip(self.description or (), row)}

    def fetchone(self) -> Any:
        row = super().fetchone()
        return None if row is None else self._named(row)

    def fetchmany(self, size: int | None = None) -> Any:
        return [self._named(row) for row in super().fetchmany(size)]

    def fetchall(self) -> Any:
        return [self._named(row) for row in super().fetchall()]


__all__ = ["Cursor", "DictCursor"]
