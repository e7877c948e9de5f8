"""The plugin for pytest, and the examples of the README."""

import pathlib
import re
import time

import pytest

import inia

README = pathlib.Path(__file__).parent.parent / "README.md"
MAIN_README = README.parent.parent / "README.md"


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


def blocks(readme=README):
    return re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_readme_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = blocks()[number]
    if "sqlalchemy" in code:
        pytest.importorskip("sqlalchemy")
    if ".arrow()" in code or ".df()" in code:
        pytest.importorskip("pyarrow")
    exec(compile(code, f"README.md, example {number}", "exec"), {"__name__": "readme"})


def test_the_main_readme_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    with inia.connect("some/directory") as connection:
        connection.execute("CREATE TABLE goods (id INT, name TEXT)")
        connection.execute("INSERT INTO goods VALUES (1, 'tea'), (2, 'rice')")
    (code,) = blocks(MAIN_README)
    run = {"inia": inia}
    exec(compile(code, "README.md", "exec"), run)
    assert capsys.readouterr().out == "2 rice\n"
    assert run["frame"].shape == (2, 2)
