"""SQLAlchemy's dialect: `inia+embedded:///some/directory?database=shop`, or `inia+embedded://` in memory.

It is the dialect of MySQL, by another driver. A directory is opened once per engine, whose pool has the connections;
the query's `database` is the default database, "main" without it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import pool
from sqlalchemy.dialects.mysql import BIT
from sqlalchemy.dialects.mysql.base import MySQLCompiler, MySQLDialect, MySQLExecutionContext, MySQLIdentifierPreparer
from sqlalchemy.engine import URL

import inia


class _Bit(BIT):
    """BIT, which comes as a number."""

    def result_processor(self, dialect: Any, coltype: Any) -> None:
        return None


class IniaExecutionContext(MySQLExecutionContext):
    """A statement, whose rows stream where that is asked for."""

    def create_server_side_cursor(self) -> Any:
        return self._dbapi_connection.cursor(stream=True)


class IniaDialect(MySQLDialect):
    """MySQL's dialect over a database in this process."""

    name = "mysql"
    driver = "embedded"
    default_paramstyle = "format"
    supports_statement_cache = True
    supports_unicode_statements = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_native_decimal = True
    supports_server_side_cursors = True
    execution_ctx_cls = IniaExecutionContext
    statement_compiler = MySQLCompiler
    preparer = MySQLIdentifierPreparer
    colspecs = {**MySQLDialect.colspecs, BIT: _Bit}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._opened: inia.Database | None = None
        self._place: tuple[str, str] | None = None

    @classmethod
    def import_dbapi(cls) -> Any:
        return inia

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        return pool.QueuePool

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        options = dict(url.query)
        name = str(options.pop("database", "main"))
        sizes = {key: int(str(value)) for key, value in options.items()}
        return [], {"path": url.database or ":memory:", "database": name, **sizes}

    def connect(self, *args: Any, **options: Any) -> Any:
        path, name = options.pop("path"), options.pop("database")
        if self._opened is None:
            self._opened = inia.open(path, **options)
            with self._opened.connect(autocommit=True) as first:
                first.execute(f"CREATE DATABASE IF NOT EXISTS `{name.replace('`', '``')}`")
        return self._opened.connect(name)

    def _detect_charset(self, connection: Any) -> str:
        return "utf8mb4"

    def _extract_error_code(self, exception: Any) -> int:
        return int(exception.errno)

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return isinstance(e, inia.InterfaceError) and "closed" in str(e)

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.execute("DO 1")
        return True

    def get_isolation_level_values(self, dbapi_conn: Any) -> Any:
        return (*super().get_isolation_level_values(dbapi_conn), "AUTOCOMMIT")

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            super().set_isolation_level(dbapi_connection, level)


dialect = IniaDialect
