/* What goes wrong has MySQL's numbers, and the connection goes on. */
#include "check.h"

int main(void)
{
    inia_database *database = memory(), *none;
    inia_connection *connection = shop(database);
    inia_statement *statement;
    char message[200];

    DO(connection, inia_execute(connection, "CREATE TABLE t (id INT PRIMARY KEY, n TINYINT)"));
    CHECK(inia_errno(connection) == 0 && strcmp(inia_sqlstate(connection), "00000") == 0);
    CHECK(strcmp(inia_message(connection), "") == 0);

    /* A text that is no SQL. */
    CHECK(inia_execute(connection, "SELEC 1") == INIA_ERROR);
    CHECK(inia_errno(connection) == 1064 && strcmp(inia_sqlstate(connection), "42000") == 0);
    CHECK(inia_prepare(connection, "SELECT FROM", &statement) == INIA_ERROR && statement == NULL);

    /* A key that exists. */
    DO(connection, inia_prepare(connection, "INSERT INTO t VALUES (?, ?)", &statement));
    DO(connection, inia_bind_int64(statement, 0, 1));
    CHECK(inia_step(statement) == INIA_DONE);
    DO(connection, inia_reset(statement));
    CHECK(inia_step(statement) == INIA_ERROR);
    CHECK(inia_errno(connection) == 1062 && strcmp(inia_sqlstate(connection), "23000") == 0);
    CHECK(strcmp(inia_message(connection), "Duplicate entry '1' for key 't.PRIMARY'") == 0);
    DO(connection, inia_finalize(statement));

    /* The second of three statements fails: the first is done, the third is not. */
    CHECK(inia_execute(connection, "INSERT INTO t VALUES (2, 2); INSERT INTO gone VALUES (1); DELETE FROM t") == INIA_ERROR);
    CHECK(inia_errno(connection) == 1146);
    DO(connection, inia_query(connection, "SELECT COUNT(*) FROM t", &statement));
    CHECK(inia_step(statement) == INIA_ROW && inia_int64(statement, 0) == 2);
    DO(connection, inia_finalize(statement));

    /* Warnings are no errors. */
    DO(connection, inia_execute(connection, "INSERT IGNORE INTO t VALUES (3, 1000)"));
    CHECK(inia_warning_count(connection) == 1);

    /* Errors without a connection belong to the thread. */
    CHECK(inia_open("/dev/null/no/directory", NULL, &none) == INIA_ERROR && none == NULL);
    snprintf(message, sizeof message, "%s", inia_message(NULL));
    CHECK(strlen(message) > 0 && inia_errno(NULL) == 0 && strcmp(inia_sqlstate(NULL), "HY000") == 0);

    DO(NULL, inia_disconnect(connection));
    DO(NULL, inia_close(database));
    return 0;
}
