"""The exceptions of PEP 249. Each has MySQL's number as `errno`, its `sqlstate` and its `message`."""

from __future__ import annotations


class Warning(Exception):
    """A warning that a program asked to be an error."""


class Error(Exception):
    """Every error of this module."""

    errno: int = 0
    sqlstate: str = "HY000"
    message: str = ""

    def __init__(self, message: str = "", errno: int = 0, sqlstate: str = "HY000") -> None:
        # MySQL's drivers give (number, text); programs read them by `args`.
        super().__init__(errno, message)
        self.errno, self.sqlstate, self.message = errno, sqlstate, message

    def __str__(self) -> str:
        if self.errno:
            return f"{self.errno} ({self.sqlstate}): {self.message}"
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.errno, self.sqlstate)


class InterfaceError(Error):
    """A call that this module does not take."""


class DatabaseError(Error):
    """An error of the database."""


class DataError(DatabaseError):
    """A value does not fit."""


class OperationalError(DatabaseError):
    """What may go well another time: a lock, a disk, a connection."""


class IntegrityError(DatabaseError):
    """A key or a constraint refuses a row."""


class InternalError(DatabaseError):
    """An error inside the database."""


class ProgrammingError(DatabaseError):
    """A statement that cannot be run: its syntax, its names, its parameters."""


class NotSupportedError(DatabaseError):
    """Something that the database does not have."""


# Numbers whose SQLSTATE does not say which class they are of.
_BY_NUMBER: dict[int, type[Error]] = {
    1022: IntegrityError,
    1048: IntegrityError,
    1169: IntegrityError,
    1364: IntegrityError,
    3819: IntegrityError,
    1264: DataError,
    1265: DataError,
    1366: DataError,
    1205: OperationalError,
    1213: OperationalError,
    1317: OperationalError,
    3024: OperationalError,
    1044: OperationalError,
    1045: OperationalError,
    1142: OperationalError,
    1143: OperationalError,
    1210: ProgrammingError,
    1007: ProgrammingError,
    1008: ProgrammingError,
    1235: NotSupportedError,
    1295: NotSupportedError,
}

_BY_STATE: dict[str, type[Error]] = {
    "08": OperationalError,
    "0A": NotSupportedError,
    "21": DataError,
    "22": DataError,
    "23": IntegrityError,
    "28": OperationalError,
    "3D": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "70": OperationalError,
}


def make(kind: str, errno: int, sqlstate: str, message: str) -> Error:
    """The exception for an error of the library."""
    if kind == "statement":
        by_state = _BY_STATE.get(sqlstate[:2], OperationalError)
        return _BY_NUMBER.get(errno, by_state)(message, errno, sqlstate)
    if kind == "database":
        return OperationalError(message, errno, sqlstate)
    if kind == "conversion":
        return DataError(message, errno, sqlstate)
    return InterfaceError(message, errno, sqlstate)
