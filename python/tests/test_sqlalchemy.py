"""SQLAlchemy's core and ORM, and what its MySQL dialect reflects."""

import datetime

import pytest

sa = pytest.importorskip("sqlalchemy")
from sqlalchemy.dialects.mysql import BIT, BIGINT  # noqa: E402
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship  # noqa: E402


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(50), unique=True)
    born: Mapped[datetime.date | None]
    bits: Mapped[int | None] = mapped_column(BIT(4))
    notes: Mapped[dict | None] = mapped_column(sa.JSON)
    pets: Mapped[list["Pet"]] = relationship(back_populates="owner", cascade="all, delete-orphan")


class Pet(Base):
    __tablename__ = "pets"
    id: Mapped[int] = mapped_column(BIGINT(unsigned=True), primary_key=True)
    owner_id: Mapped[int] = mapped_column(sa.ForeignKey("people.id"))
    owner: Mapped[Person] = relationship(back_populates="pets")


@pytest.fixture(params=["memory", "directory"])
def engine(request, tmp_path):
    place = "" if request.param == "memory" else f"/{tmp_path / 'data'}"
    engine = sa.create_engine(f"inia+embedded://{place}?database=shop&buffer_pool_size=8388608")
    yield engine
    engine.dispose()


def test_objects_are_rows(engine):
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        ada = Person(name="Ada", born=datetime.date(1815, 12, 10), bits=5, notes={"a": [1, None]}, pets=[Pet(), Pet()])
        session.add(ada)
        session.commit()
    with Session(engine) as session:
        ada = session.scalars(sa.select(Person).where(Person.name.in_(["Ada", "Bob"]))).one()
        assert (ada.born.year, ada.bits, ada.notes, len(ada.pets)) == (1815, 5, {"a": [1, None]}, 2)
        session.add(Person(name="Ada"))
        with pytest.raises(sa.exc.IntegrityError) as raised:
            session.flush()
        assert raised.value.orig.errno == 1062
        session.rollback()
        session.delete(session.scalars(sa.select(Person)).one())
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Pet)) == 0


def test_tables_are_reflected(engine):
    Base.metadata.create_all(engine)
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_table_names()) == ["people", "pets"]
    assert [column["name"] for column in inspector.get_columns("people")] == ["id", "name", "born", "bits", "notes"]
    assert inspector.get_foreign_keys("pets")[0]["referred_table"] == "people"
    assert inspector.get_unique_constraints("people")[0]["column_names"] == ["name"]
    Base.metadata.drop_all(engine)
    assert sa.inspect(engine).get_table_names() == []


def test_isolation_and_streams(engine):
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "REPEATABLE READ"
        other = connection.execution_options(isolation_level="AUTOCOMMIT")
        other.execute(sa.text("CREATE TABLE t (n INT)"))
        other.execute(sa.text("INSERT INTO t VALUES (:n)"), [{"n": 1}, {"n": 2}])
    with engine.connect().execution_options(stream_results=True) as connection:
        assert connection.execute(sa.text("SELECT n FROM t ORDER BY n")).scalars().all() == [1, 2]
        assert connection.dialect.server_version_info[:2] == (8, 0)
