"""The plugin for pytest, and the examples of the README."""

import pathlib
import re
import time

import pytest

import inia

README = pathlib.Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("round", range(3))
def test_every_test_has_a_database_of_its_own(inia_connection, round):
    assert inia_connection.execute("SELECT COUNT(*) FROM goods").fetchone() == (0,)
    inia_connection.execute("INSERT INTO goods (name) VALUES ('x')")
    inia_connection.commit()


def test_a_server_for_a_driver(inia_url):
    assert re.fullmatch(r"mysql://root@127\.0\.0\.1:\d+/main", inia_url)


def test_templates_need_memory(place):
    with pytest.raises(inia.OperationalError):
        inia.open(place, buffer_pool_size=8 << 20).into_template()


def test_a_copy_is_there_soon(inia_template, record_property):
    inia_template.open().close()
    began = time.perf_counter()
    for _ in range(20):
        inia_template.open().connect("main").close()
    record_property("milliseconds_per_database", (time.perf_counter() - began) * 50)


def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_readme_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = blocks()[number]
    if "sqlalchemy" in code:
        pytest.importorskip("sqlalchemy")
    if ".arrow()" in code or ".df()" in code:
        pytest.importorskip("pyarrow")
    exec(compile(code, f"README.md, example {number}", "exec"), {"__name__": "readme"})
