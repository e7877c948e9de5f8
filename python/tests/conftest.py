import pytest

import inia


@pytest.fixture(scope="session")
def inia_schema():
    return "CREATE TABLE goods (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) UNIQUE, price DECIMAL(9,2))"


@pytest.fixture
def cursor(inia_connection):
    with inia_connection.cursor() as cursor:
        yield cursor


@pytest.fixture
def place(tmp_path):
    return tmp_path / "data"


SMALL = {"buffer_pool_size": 8 << 20}


@pytest.fixture
def directory(place):
    with inia.connect(place, **SMALL) as connection:
        yield connection
