/* Calls that make no sense are INIA_MISUSE: nothing crashes, and no memory is read that is not there. */
#include "check.h"

int main(void)
{
    inia_database *database = memory();
    inia_connection *connection = shop(database), *other;
    inia_statement *statement, *closed;
    inia_options options = {0};
    size_t length = 7;

    /* NULL. */
    CHECK(inia_open(NULL, NULL, &database) == INIA_MISUSE && database == NULL);
    CHECK(inia_open(":memory:", NULL, NULL) == INIA_MISUSE);
    options.reserved[3] = 1;
    CHECK(inia_open(":memory:", &options, &database) == INIA_MISUSE && sizeof options == 56);
    database = memory();
    CHECK(inia_connect(NULL, NULL, &other) == INIA_MISUSE && other == NULL);
    CHECK(inia_connect(database, NULL, NULL) == INIA_MISUSE);
    CHECK(inia_execute(NULL, "SELECT 1") == INIA_MISUSE && strlen(inia_message(NULL)) > 0);
    CHECK(inia_execute(connection, NULL) == INIA_MISUSE && strlen(inia_message(connection)) > 0);
    CHECK(inia_execute(connection, "SELECT '\xff\xfe'") == INIA_MISUSE);
    CHECK(inia_prepare(connection, "SELECT 1", NULL) == INIA_MISUSE);
    CHECK(inia_step(NULL) == INIA_MISUSE && inia_next_result(NULL) == INIA_MISUSE);
    CHECK(inia_text(NULL, 0, &length) == NULL && length == 0);
    CHECK(inia_interrupt(NULL) == INIA_MISUSE && inia_begin(NULL) == INIA_MISUSE);
    CHECK(inia_affected_rows(NULL) == 0 && inia_connection_id(NULL) == 0);
    CHECK(inia_server_url(NULL) == NULL);
    CHECK(inia_close(NULL) == INIA_OK && inia_disconnect(NULL) == INIA_OK && inia_finalize(NULL) == INIA_OK);
    CHECK(inia_server_stop(NULL) == INIA_OK);

    /* Handles of another kind, and numbers that are no handles. */
    CHECK(inia_step((inia_statement *)connection) == INIA_MISUSE);
    CHECK(inia_close((inia_database *)connection) == INIA_MISUSE);
    CHECK(inia_step((inia_statement *)(uintptr_t)0xdeadbeef12345678) == INIA_MISUSE);

    /* Positions. */
    DO(connection, inia_prepare(connection, "SELECT ?", &statement));
    CHECK(inia_bind_int64(statement, 1, 1) == INIA_MISUSE && inia_bind_int64(statement, -1, 1) == INIA_MISUSE);
    CHECK(inia_bind_text(statement, 0, "\xff", 1) == INIA_MISUSE && inia_bind_blob(statement, 0, NULL, 3) == INIA_MISUSE);
    CHECK(inia_type(statement, 0) == INIA_MISUSE && inia_column_count(statement) == 0);
    CHECK(inia_step(statement) == INIA_ROW && inia_type(statement, 0) == INIA_NULL);
    CHECK(inia_type(statement, 1) == INIA_MISUSE && inia_type(statement, -1) == INIA_MISUSE);
    CHECK(inia_text(statement, 99, &length) == NULL && inia_column_name(statement, 1) == NULL);
    CHECK(inia_moment_of(statement, 0, NULL) == INIA_MISUSE);
    CHECK(inia_step(statement) == INIA_DONE && inia_text(statement, 0, NULL) == NULL);

    /* A statement that was closed, also when its place is used again. */
    closed = statement;
    DO(connection, inia_finalize(statement));
    CHECK(inia_step(closed) == INIA_MISUSE && inia_finalize(closed) == INIA_MISUSE);
    DO(connection, inia_prepare(connection, "SELECT 1", &statement));
    CHECK(statement != closed && inia_step(closed) == INIA_MISUSE && inia_step(statement) == INIA_ROW);

    /* A statement outlives its connection, and a connection its database. */
    DO(connection, inia_reset(statement));
    DO(NULL, inia_disconnect(connection));
    CHECK(inia_disconnect(connection) == INIA_MISUSE && inia_execute(connection, "DO 1") == INIA_MISUSE);
    CHECK(inia_step(statement) == INIA_ERROR);
    DO(NULL, inia_finalize(statement));
    DO(NULL, inia_connect(database, NULL, &connection));
    DO(NULL, inia_close(database));
    CHECK(inia_close(database) == INIA_MISUSE && inia_connect(database, NULL, &other) == INIA_MISUSE);
    DO(connection, inia_execute(connection, "CREATE DATABASE still_open"));
    DO(NULL, inia_disconnect(connection));
    return 0;
}
