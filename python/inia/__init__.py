"""Inia in Python: a MySQL-compatible database in this process, without a server. See PEP 249.

    import inia

    with inia.connect("some/directory") as connection:       # or ":memory:"
        connection.execute("CREATE TABLE goods (id INT PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO goods VALUES (%s, %s)", (1, "tea"))
        for id, name in connection.execute("SELECT * FROM goods"):
            print(id, name)
"""

from ._connection import Connection, Database, Server, Template, connect, open
from ._cursor import Cursor, DictCursor
from ._errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from ._inia import __version__
from ._types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
# Threads may share the module and connections.
threadsafety = 2
# `%(name)s`, and `%s` as well.
paramstyle = "pyformat"

__all__ = [
    "BINARY",
    "Binary",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "Database",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "DictCursor",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ROWID",
    "STRING",
    "Server",
    "Template",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "open",
    "paramstyle",
    "threadsafety",
]
