"""Fixtures for pytest: every test gets a database in memory of its own.

A project says what its databases begin with by a fixture of the session:

    @pytest.fixture(scope="session")
    def inia_schema():
        return "CREATE TABLE goods (id INT PRIMARY KEY, name TEXT)"

The statements run once. Each test gets a copy, which shares memory with the original until it writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import inia

# The default database of tests, and little memory for each of them.
_NAME = "main"
_POOL = 16 << 20


@pytest.fixture(scope="session")
def inia_schema() -> str:
    """Statements that every database begins with."""
    return ""


@pytest.fixture(scope="session")
def inia_template(inia_schema: str) -> inia.Template:
    """The database that tests get copies of."""
    database = inia.open(":memory:", buffer_pool_size=_POOL)
    connection = database.connect(autocommit=True)
    connection.execute(f"CREATE DATABASE {_NAME}; USE {_NAME}")
    if inia_schema.strip():
        cursor = connection.execute(inia_schema)
        while cursor.nextset():
            pass
        cursor.close()
    connection.close()
    return database.into_template()


@pytest.fixture
def inia_database(inia_template: inia.Template) -> Iterator[inia.Database]:
    """A database of the test's own."""
    with inia_template.open() as database:
        yield database


@pytest.fixture
def inia_connection(inia_database: inia.Database) -> Iterator[inia.Connection]:
    """A connection to it."""
    connection = inia_database.connect(_NAME)
    yield connection
    connection.close()


@pytest.fixture
def inia_url(inia_database: inia.Database) -> Iterator[str]:
    """Where MySQL clients reach it: for a program that is tested by its driver."""
    with inia_database.serve() as server:
        yield server.url + _NAME
