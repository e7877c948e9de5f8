"""Connections and databases, as PEP 249 describes them and beyond."""

from __future__ import annotations

import os
from typing import Any

from . import _errors, _inia
from ._cursor import Cursor
from ._errors import InterfaceError


class Connection:
    """A connection. Threads may share it; their statements wait for each other and are of one transaction."""

    # PEP 249 wishes the exceptions here, too.
    Warning = _errors.Warning
    Error = _errors.Error
    InterfaceError = _errors.InterfaceError
    DatabaseError = _errors.DatabaseError
    DataError = _errors.DataError
    OperationalError = _errors.OperationalError
    IntegrityError = _errors.IntegrityError
    InternalError = _errors.InternalError
    ProgrammingError = _errors.ProgrammingError
    NotSupportedError = _errors.NotSupportedError

    def __init__(self, database: Database, owned: bool, schema: str | None, autocommit: bool) -> None:
        self.database = database
        self._owned = owned
        self._connection: Any = database._raw().connect(None)
        if schema is not None:
            name = schema.replace("`", "``")
            if owned:
                self._connection.run(f"CREATE DATABASE IF NOT EXISTS `{name}`")
            self._connection.run(f"USE `{name}`")
        self._autocommit = True
        self.autocommit = autocommit

    def _raw(self) -> Any:
        if self._connection is None:
            raise InterfaceError("the connection is closed")
        return self._connection

    @property
    def autocommit(self) -> bool:
        """Whether every statement is a transaction of its own."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, on: bool) -> None:
        if on != self._autocommit:
            self._raw().run(f"SET autocommit = {int(on)}")
            self._autocommit = on

    def cursor(self, cursor: type[Cursor] = Cursor, *, stream: bool = False) -> Cursor:
        """A new cursor."""
        self._raw()
        return cursor(self, stream)

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """Runs a statement by a new cursor."""
        return self.cursor().execute(operation, parameters)

    def begin(self) -> None:
        """Begins a transaction, which commits the one that is open."""
        self._raw().run("START TRANSACTION")

    def commit(self) -> None:
        """Commits; the changes are durable when the call returns."""
        self._raw().run("COMMIT")

    def rollback(self) -> None:
        """Rolls back."""
        self._raw().run("ROLLBACK")

    def interrupt(self) -> None:
        """Ends the statement that another thread runs by this connection, with error 1317."""
        self._raw().interrupt()

    def reset(self) -> None:
        """Rolls back and returns to the state of a new connection."""
        raw = self._raw()
        raw.reset()
        if not self._autocommit:
            raw.run("SET autocommit = 0")

    def warnings(self) -> list[tuple[str, int, str]]:
        """Level, number and text of the last statement's conditions."""
        warnings: list[tuple[str, int, str]] = self._raw().warnings()
        return warnings

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._raw().in_transaction())

    @property
    def id(self) -> int:
        """The number that CONNECTION_ID() gives."""
        return int(self._raw().id)

    def close(self) -> None:
        """Rolls back what is not committed, and ends the connection."""
        if self._connection is None:
            return
        self._connection.close()
        self._connection = None
        if self._owned:
            self.database.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._connection is None:
            return
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def __del__(self) -> None:
        # A result that streams ends by its own end.
        if getattr(self, "_connection", None) is not None:
            try:
                self.close()
            except _errors.Error:
                pass


class Server:
    """MySQL clients' way to a database, until it is stopped."""

    def __init__(self, server: Any) -> None:
        self._server = server

    @property
    def url(self) -> str:
        """How root connects."""
        return str(self._server.url)

    def stop(self) -> None:
        """Ends the clients' connections; the database stays open."""
        self._server.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Template:
    """A closed database in memory, of which `open` makes copies within a few milliseconds."""

    def __init__(self, template: Any) -> None:
        self._template = template

    def open(self) -> Database:
        """A database with what the template holds."""
        return Database(self._template.open())


class Database:
    """An open database, for programs with several connections."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def _raw(self) -> Any:
        if self._database is None:
            raise InterfaceError("the database is closed")
        return self._database

    def connect(self, schema: str | None = None, *, autocommit: bool = False) -> Connection:
        """A connection, with a default database that exists."""
        return Connection(self, False, schema, autocommit)

    def serve(self, address: str = "127.0.0.1:0") -> Server:
        """Opens the database to MySQL clients at "host:port" or "unix:PATH"."""
        return Server(self._raw().serve(address))

    def into_template(self) -> Template:
        """Closes a database in memory and keeps it as a template. No connection may be open."""
        raw, self._database = self._raw(), None
        return Template(raw.into_template())

    def close(self) -> None:
        """Closes the database, with its last connection."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(path: str | os.PathLike[str] = ":memory:", **options: Any) -> Database:
    """Opens the database in a directory, which is made where it is missing, or one in memory.

    Options: `buffer_pool_size` and `work_memory` in bytes, `secure_file_priv`, `must_exist`.
    """
    return Database(_inia.Database.open(os.fspath(path), **options))


def connect(
    path: str | os.PathLike[str] = ":memory:",
    database: str | None = "main",
    *,
    autocommit: bool = False,
    **options: Any,
) -> Connection:
    """Opens a database, and connects. `database` is the default database, which is made where it is missing."""
    opened = open(path, **options)
    try:
        return Connection(opened, True, database, autocommit)
    except BaseException:
        opened.close()
        raise
