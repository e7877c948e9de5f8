"""Results as columns of Arrow, pandas and polars."""

import datetime
from decimal import Decimal

import pytest

pa = pytest.importorskip("pyarrow")

TYPES = (
    "CREATE TABLE t (i INT, u BIGINT UNSIGNED, d DOUBLE, n DECIMAL(20,4), s TEXT, b BLOB, day DATE, "
    "time TIME(3), at DATETIME(6), j JSON, bit BIT(3))"
)
ROW = {
    "i": -1,
    "u": 2**64 - 1,
    "d": 0.5,
    "n": Decimal("-12345.6789"),
    "s": "é",
    "b": b"\0\1",
    "day": datetime.date(1969, 12, 31),
    "time": -datetime.timedelta(hours=1, milliseconds=5),
    "at": datetime.datetime(1960, 1, 2, 3, 4, 5, 678901),
    "j": "[1]",
    "bit": 5,
}


@pytest.fixture
def rows(cursor):
    cursor.execute(TYPES)
    marks = ", ".join(["%s"] * len(ROW))
    for _ in range(5):
        cursor.execute(f"INSERT INTO t VALUES ({marks})", tuple(ROW.values()))
        cursor.execute(f"INSERT INTO t VALUES ({marks})", (None,) * len(ROW))
    return cursor


def test_every_type_is_a_column(rows):
    table = rows.execute("SELECT * FROM t").arrow()
    table.validate(full=True)
    assert table.column_names == list(ROW)
    assert [str(field.type) for field in table.schema] == [
        "int64", "uint64", "double", "decimal128(38, 4)", "large_string", "large_binary",
        "date32[day]", "duration[us]", "timestamp[us]", "large_string", "uint64",
    ]  # fmt: skip
    for name, value in ROW.items():
        assert table[name].to_pylist() == [value, None] * 5, name


def test_rows_that_were_fetched_are_no_columns_any_more(rows):
    rows.execute("SELECT i FROM t")
    rows.fetchone()
    assert rows.arrow()["i"].to_pylist() == [None, -1] * 4 + [None]
    assert rows.fetchall() == []


def test_a_result_without_rows_has_columns(rows):
    table = rows.execute("SELECT * FROM t WHERE i = 7").arrow()
    assert (table.num_rows, table.column_names) == (0, list(ROW))
    assert str(table.schema.field("u").type) == "uint64"


def test_streams_are_batches(inia_connection):
    inia_connection.execute("CREATE TABLE t (n INT PRIMARY KEY, pad VARCHAR(1000))")
    inia_connection.cursor().executemany("INSERT INTO t VALUES (%s, REPEAT('x', 1000))", [(n,) for n in range(1000)])
    cursor = inia_connection.cursor(stream=True)
    batches = list(cursor.execute("SELECT * FROM t ORDER BY n").arrow_batches())
    assert len(batches) > 2
    assert [n for batch in batches for n in batch["n"].to_pylist()] == list(range(1000))


def test_decimals_of_many_digits(cursor):
    value = Decimal("9" * 60)
    table = cursor.execute("SELECT CAST(%s AS DECIMAL(65,2)) AS n", (value,)).arrow()
    assert table["n"].to_pylist() == [value]


def test_pandas(rows):
    pytest.importorskip("pandas")
    frame = rows.execute("SELECT i, s, at FROM t WHERE i IS NOT NULL").df()
    assert frame["i"].sum() == -5 and list(frame["s"]) == ["é"] * 5
    assert str(frame["at"].dtype) == "datetime64[us]"


def test_polars(rows):
    pytest.importorskip("polars")
    frame = rows.execute("SELECT i, u, n FROM t").pl()
    assert frame["i"].sum() == -5 and frame["u"].null_count() == 5
