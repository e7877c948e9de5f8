"""PEP 249, clause by clause, and MySQL's values."""

import datetime
import pickle
import threading
from decimal import Decimal

import pytest

import inia


def test_the_module_says_what_it_is():
    assert (inia.apilevel, inia.threadsafety, inia.paramstyle) == ("2.0", 2, "pyformat")
    assert issubclass(inia.IntegrityError, inia.DatabaseError) and issubclass(inia.DatabaseError, inia.Error)
    assert inia.Connection.IntegrityError is inia.IntegrityError


def test_rows_come_back(cursor):
    cursor.execute("INSERT INTO goods (name, price) VALUES (%s, %s), (%s, %s)", ("tea", "3.50", "rice", None))
    assert (cursor.rowcount, cursor.lastrowid, cursor.description) == (2, 1, None)
    cursor.execute("SELECT id, name, price FROM goods WHERE id <= %(last)s ORDER BY id", {"last": 2})
    assert [column[:2] for column in cursor.description] == [("id", "integer"), ("name", "text"), ("price", "decimal")]
    assert [column[6] for column in cursor.description] == [False, True, True]
    assert (cursor.rowcount, cursor.rownumber) == (2, 0)
    assert cursor.fetchone() == (1, "tea", Decimal("3.50"))
    assert cursor.rownumber == 1
    assert cursor.fetchmany(5) == [(2, "rice", None)]
    assert cursor.fetchone() is None and cursor.fetchmany() == [] and cursor.fetchall() == []
    assert list(cursor.execute("SELECT 1 UNION SELECT 2")) == [(1,), (2,)]
    assert cursor.description[0][1] == inia.NUMBER != inia.STRING


def test_every_type_has_its_python_type(cursor):
    cursor.execute(
        "CREATE TABLE t (i INT, u BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(65,2), s TEXT, b VARBINARY(9), bit BIT(9), "
        "day DATE, time TIME(6), at DATETIME(6), y YEAR, j JSON, e ENUM('x','y'), flag BOOLEAN)"
    )
    row = (
        -5,
        2**64 - 1,
        1.5,
        0.1,
        Decimal("1234567890123456789012345678901234567890.25"),
        "é\0\U0001f600",
        b"\0\xff",
        257,
        datetime.date(2024, 2, 29),
        -datetime.timedelta(hours=100, microseconds=1),
        datetime.datetime(2024, 2, 29, 12, 34, 56, 789),
        1999,
        '{"a": [1, 2]}',
        "y",
        1,
    )
    marks = ", ".join(["%s"] * len(row))
    cursor.execute(f"INSERT INTO t VALUES ({marks})", row)
    cursor.execute(f"INSERT INTO t VALUES ({marks})", (None,) * len(row))
    assert cursor.execute("SELECT * FROM t").fetchall() == [row, (None,) * len(row)]
    types = [type(value) for value in cursor.execute("SELECT * FROM t").fetchone()]
    assert types == [type(value) for value in row]


def test_values_that_are_given(cursor):
    values = {
        "CHAR(20)": (True, "1"),
        "DECIMAL(30,0)": (10**25, Decimal(10**25)),
        "BLOB": (bytearray(b"ab"), b"ab"),
        "BINARY(2)": (memoryview(b"cd"), b"cd"),
        "TIME(6)": (datetime.time(1, 2, 3, 4), datetime.timedelta(hours=1, minutes=2, seconds=3, microseconds=4)),
    }
    for column, (given, expected) in values.items():
        cursor.execute(f"CREATE OR REPLACE VIEW v AS SELECT 1; DROP TABLE IF EXISTS t; CREATE TABLE t (c {column})")
        while cursor.nextset():
            pass
        cursor.execute("INSERT INTO t VALUES (%s)", given if isinstance(given, tuple) else (given,))
        assert cursor.execute("SELECT c FROM t").fetchone() == (expected,)
    for wrong in [object(), Decimal("NaN"), datetime.timedelta(days=100), {"a": 1}]:
        with pytest.raises(inia.InterfaceError):
            cursor.execute("SELECT %s", (wrong,))


def test_zero_dates_are_none(cursor):
    cursor.execute("SET sql_mode = ''")
    cursor.execute("CREATE TABLE t (d DATE, t DATETIME)")
    cursor.execute("INSERT INTO t VALUES ('0000-00-00', '2024-00-01')")
    assert cursor.execute("SELECT * FROM t").fetchall() == [(None, None)]
    assert cursor.execute("SELECT * FROM t").arrow().to_pydict() == {"d": [None], "t": [None]}


def test_marks(cursor):
    assert cursor.execute("SELECT '100%'").fetchone() == ("100%",)
    assert cursor.execute("SELECT '100%%', %s", ("%s",)).fetchone() == ("100%", "%s")
    assert cursor.execute("SELECT %(a)s, %(b)s, %(a)s", {"a": 1, "b": 2}).fetchone() == (1, 2, 1)
    assert cursor.execute("SELECT 2 IN %s, 5 IN %s", ([1, 2, 3], (4,))).fetchone() == (1, 0)
    assert cursor.execute("SELECT %s + 1", 1).fetchone() == (2,)
    for text, values in [("%s", ()), ("%s", (1, 2)), ("%d", (1,)), ("%(a)s", (1,)), ("%(a)s", {}), ("%s", ([],))]:
        with pytest.raises(inia.ProgrammingError):
            cursor.execute(f"SELECT {text}", values)


def test_statements_that_cannot_be_prepared_take_values_all_the_same(cursor):
    cursor.execute("USE main", ())
    cursor.execute("LOCK TABLES goods READ", ())
    cursor.execute("UNLOCK TABLES")
    cursor.execute("SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = %s", ("it's \\ a\n text",))
    assert cursor.connection.warnings() == [("Warning", 1642, "it's \\ a\n text")]


def test_literals_are_values():
    from inia._format import literal

    values = [None, True, -5, 2**70, 0.1, 1e300, Decimal("1.50"), "a'\\\0\nb", b"\0'", datetime.date(2024, 1, 2)]
    with inia.connect() as connection:
        for value in values:
            (back,) = connection.execute(f"SELECT {literal(value)}").fetchone()
            assert back == value or str(value) == str(back)
        (back,) = connection.execute(f"SELECT CAST({literal(-datetime.timedelta(hours=1, microseconds=5))} AS TIME(6))").fetchone()
        assert back == -datetime.timedelta(hours=1, microseconds=5)


def test_executemany(cursor):
    cursor.executemany("INSERT INTO goods (name, price) VALUES (%s, %s)", [("a", 1), ("b", 2), ("c", 3)])
    assert cursor.rowcount == 3
    cursor.executemany("UPDATE goods SET price = price + %(more)s WHERE name IN %(names)s", [{"more": 1, "names": ["a", "b"]}])
    assert cursor.rowcount == 2
    cursor.executemany("DELETE FROM goods WHERE name = %s", [])
    assert cursor.rowcount == 0
    with pytest.raises(inia.IntegrityError):
        cursor.executemany("INSERT INTO goods (name) VALUES (%s)", [("d",), ("a",)])
    assert cursor.execute("SELECT name FROM goods ORDER BY 1").fetchall() == [("a",), ("b",), ("c",), ("d",)]


def test_procedures_and_several_results(cursor):
    cursor.execute("CREATE PROCEDURE p (a INT, OUT b INT) BEGIN SELECT a, 'x'; SELECT a + 1 AS next; SET b = a * 2; END")
    assert cursor.callproc("p", (20, None)) == (20, None)
    assert cursor.fetchall() == [(20, "x")]
    assert cursor.nextset() is True
    assert (cursor.description[0][0], cursor.fetchall()) == ("next", [(21,)])
    assert cursor.nextset() is True and cursor.description is None
    assert cursor.nextset() is None
    assert cursor.execute("SELECT @_p_1").fetchone() == (40,)
    cursor.execute("SELECT 1; DO 1; SELECT 2")
    assert cursor.nextset() and cursor.nextset() and cursor.fetchall() == [(2,)]


def test_errors(cursor):
    cases = [
        ("SELEC", inia.ProgrammingError, 1064, "42000"),
        ("SELECT * FROM gone", inia.ProgrammingError, 1146, "42S02"),
        ("INSERT INTO goods VALUES (1, 'a', 1), (1, 'b', 1)", inia.IntegrityError, 1062, "23000"),
        ("INSERT INTO goods VALUES (2, REPEAT('x', 30), 1)", inia.DataError, 1406, "22001"),
        ("SIGNAL SQLSTATE '45000'", inia.OperationalError, 1644, "45000"),
    ]
    for sql, kind, number, state in cases:
        with pytest.raises(kind) as raised:
            cursor.execute(sql)
        error = raised.value
        assert (error.errno, error.sqlstate, error.args[0]) == (number, state, number)
        assert error.args[1] == error.message and str(error).startswith(f"{number} ({state}): ")
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.errno, again.message) == (kind, number, error.message)
    with pytest.raises(inia.ProgrammingError):
        cursor.execute("DO 1").fetchone()
    assert issubclass(inia.Warning, Exception)


def test_transactions(inia_database):
    first, second = inia_database.connect("main"), inia_database.connect("main")
    first.execute("INSERT INTO goods (name) VALUES ('a')")
    assert first.in_transaction
    assert second.execute("SELECT COUNT(*) FROM goods").fetchone() == (0,)
    first.commit()
    second.rollback()
    assert second.execute("SELECT COUNT(*) FROM goods").fetchone() == (1,)
    first.execute("DELETE FROM goods")
    first.rollback()
    assert first.execute("SELECT COUNT(*) FROM goods").fetchone() == (1,)
    first.autocommit = True
    first.execute("DELETE FROM goods")
    assert not first.in_transaction
    first.close()
    second.rollback()
    assert second.execute("SELECT COUNT(*) FROM goods").fetchone() == (0,)
    second.close()


def test_a_connection_commits_as_a_context_and_rolls_back_otherwise(inia_database):
    with inia_database.connect("main") as connection:
        connection.execute("INSERT INTO goods (name) VALUES ('kept')")
    with pytest.raises(ZeroDivisionError), inia_database.connect("main") as connection:
        connection.execute("INSERT INTO goods (name) VALUES ('lost')")
        1 / 0
    with inia_database.connect("main") as connection:
        assert connection.execute("SELECT name FROM goods").fetchall() == [("kept",)]


def test_what_is_closed(inia_database):
    connection = inia_database.connect("main")
    cursor = connection.cursor()
    cursor.close()
    for call in [lambda: cursor.execute("DO 1"), cursor.fetchone, cursor.nextset]:
        with pytest.raises(inia.InterfaceError):
            call()
    connection.close()
    connection.close()
    for call in [connection.cursor, connection.commit, connection.begin]:
        with pytest.raises(inia.InterfaceError):
            call()


def test_rows_that_stream(inia_connection):
    with inia_connection.cursor(stream=True) as stream:
        stream.execute("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
                       "SELECT i, REPEAT('x', 2000) FROM n")
        assert stream.rowcount == -1 and stream.fetchone()[0] == 1
        with pytest.raises(inia.InterfaceError, match="out of sync"):
            inia_connection.commit()
        assert [row[0] for row in stream.fetchmany(3)] == [2, 3, 4]
        assert sum(1 for _ in stream) == 996
    inia_connection.commit()
    early = inia_connection.cursor(stream=True)
    early.execute("SELECT a.*, b.* FROM information_schema.collations a, information_schema.collations b").fetchone()
    early.close()
    inia_connection.commit()


def test_threads(inia_database):
    def work(first):
        with inia_database.connect("main", autocommit=True) as own:
            for n in range(first, first + 50):
                own.execute("INSERT INTO goods (name) VALUES (%s)", (f"n{n}",))
                shared.execute("SELECT COUNT(*) FROM goods").fetchall()

    shared = inia_database.connect("main", autocommit=True)
    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert shared.execute("SELECT COUNT(*) FROM goods").fetchone() == (200,)
    shared.close()


def test_interrupt(inia_database):
    victim, observer = inia_database.connect("main"), inia_database.connect("main")
    errors = []

    def wait():
        try:
            victim.execute("SELECT SLEEP(1000), 1 FROM information_schema.collations ORDER BY 1")
        except inia.Error as error:
            errors.append(error.errno)

    thread = threading.Thread(target=wait)
    thread.start()
    running = "SELECT 1 FROM information_schema.processlist WHERE id = %s AND command = 'Query'"
    while observer.execute(running, (victim.id,)).fetchone() is None:
        pass
    victim.interrupt()
    thread.join()
    assert errors == [1317]
    assert victim.execute("SELECT 1").fetchone() == (1,)
    victim.close()
    observer.close()


def test_a_directory_is_there_again(place):
    from conftest import SMALL

    with inia.connect(place, **SMALL) as connection:
        connection.execute("CREATE TABLE t (n INT)")
        connection.execute("INSERT INTO t VALUES (7)")
    with inia.connect(str(place), must_exist=True, **SMALL) as connection:
        assert connection.execute("SELECT n FROM t").fetchone() == (7,)
        with pytest.raises(inia.OperationalError, match="in use"):
            inia.connect(place, **SMALL)
    with pytest.raises(inia.OperationalError, match="holds no database"):
        inia.open(place / "none", must_exist=True)


def test_dict_cursors(inia_connection):
    cursor = inia_connection.cursor(inia.DictCursor)
    cursor.execute("SELECT 1 AS a, 'x' AS b")
    assert cursor.fetchall() == [{"a": 1, "b": "x"}]


def test_warnings_and_reset(inia_connection):
    inia_connection.execute("SELECT 1 / 0")
    assert [warning[1] for warning in inia_connection.warnings()] == [1365]
    inia_connection.execute("SET @a = 1")
    inia_connection.reset()
    assert inia_connection.execute("SELECT @a, @@autocommit, DATABASE()").fetchone()[:2] == (None, 0)
