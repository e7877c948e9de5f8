#!/usr/bin/env python3
"""Measures the package beside sqlite3 and, where it is installed, duckdb: in memory, one thread, interleaved rounds, medians.

    python compare.py [ROUNDS]

Each figure is microseconds for one operation: a SELECT of a row by its key, an INSERT of a row in a transaction of
thousand, a row of executemany, a row of a scan as tuples, and a row of a scan as Arrow's columns.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import inia

ROWS = 20_000
CALLS = 5_000
TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(40), n BIGINT, price DOUBLE)"


class Target:
    """A database with the table, and how its driver is used."""

    def __init__(self, name: str, connection: Any, mark: str, begin: str) -> None:
        self.name, self.connection, self.mark, self.begin = name, connection, mark, begin
        self.cursor = connection.cursor()
        self.cursor.execute(TABLE)
        self.next = 0

    def sql(self, text: str) -> str:
        return text.replace("?", self.mark)

    def rows(self, count: int) -> list[tuple[int, str, int, float]]:
        first, self.next = self.next, self.next + count
        return [(n, f"name {n}", n * 7, n / 3) for n in range(first, first + count)]

    def fill(self) -> None:
        self.cursor.execute(self.begin)
        self.cursor.executemany(self.sql("INSERT INTO t VALUES (?, ?, ?, ?)"), self.rows(ROWS))
        self.cursor.execute("COMMIT")


def inia_target() -> Target:
    return Target("inia", inia.connect(buffer_pool_size=256 << 20, autocommit=True), "%s", "START TRANSACTION")


def sqlite_target() -> Target:
    return Target("sqlite3", sqlite3.connect(":memory:", isolation_level=None), "?", "BEGIN")


def duckdb_target() -> Target | None:
    try:
        import duckdb
    except ImportError:
        return None
    return Target("duckdb", duckdb.connect(":memory:"), "?", "BEGIN")


def select(target: Target) -> int:
    text = target.sql("SELECT name, n FROM t WHERE id = ?")
    execute, calls = target.cursor.execute, CALLS if target.name != "duckdb" else CALLS // 10
    for n in range(calls):
        execute(text, ((n * 7919) % ROWS,))
        target.cursor.fetchone()
    return calls


def insert(target: Target) -> int:
    text = target.sql("INSERT INTO t VALUES (?, ?, ?, ?)")
    rows = target.rows(1000)
    target.cursor.execute(target.begin)
    for row in rows:
        target.cursor.execute(text, row)
    target.cursor.execute("COMMIT")
    return len(rows)


def insert_many(target: Target) -> int:
    rows = target.rows(5000 if target.name != "duckdb" else 500)
    target.cursor.execute(target.begin)
    target.cursor.executemany(target.sql("INSERT INTO t VALUES (?, ?, ?, ?)"), rows)
    target.cursor.execute("COMMIT")
    return len(rows)


def scan(target: Target) -> int:
    target.cursor.execute(f"SELECT id, name, n, price FROM t WHERE id < {ROWS}")
    return len(target.cursor.fetchall())


def columns(target: Target) -> int:
    target.cursor.execute(f"SELECT id, name, n, price FROM t WHERE id < {ROWS}")
    if target.name == "inia":
        return int(target.cursor.arrow().num_rows)
    if target.name == "duckdb":
        return int(target.cursor.to_arrow_table().num_rows)
    return 0


WORK: dict[str, Callable[[Target], int]] = {
    "select by key": select,
    "insert": insert,
    "insert, executemany": insert_many,
    "scan, a row": scan,
    "scan to Arrow, a row": columns,
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    targets = [target for target in (inia_target(), sqlite_target(), duckdb_target()) if target]
    for target in targets:
        target.fill()
    figures: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, work in WORK.items():
            for target in targets:
                began = time.perf_counter()
                count = work(target)
                if count:
                    took = (time.perf_counter() - began) * 1e6 / count
                    figures.setdefault((name, target.name), []).append(took)
    print(f"{'microseconds':24}" + "".join(f"{target.name:>10}" for target in targets))
    for name in WORK:
        cells = [figures.get((name, target.name)) for target in targets]
        print(f"{name:24}" + "".join(f"{statistics.median(cell):10.2f}" if cell else f"{'–':>10}" for cell in cells))


if __name__ == "__main__":
    main()
