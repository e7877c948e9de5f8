/* A program from the first call to the last: a directory, a table, rows in and out, and again after it was closed. */
#include "check.h"

static void write_rows(const char *path)
{
    inia_options options = {0};
    inia_database *database;
    inia_connection *connection;
    inia_statement *insert;

    options.buffer_pool_size = 8 << 20;
    DO(NULL, inia_open(path, &options, &database));
    connection = shop(database);
    DO(connection, inia_execute(connection,
        "CREATE TABLE goods (id INT PRIMARY KEY AUTO_INCREMENT, name TEXT, price DECIMAL(9,2), image BLOB, "
        "stock BIGINT UNSIGNED, weight DOUBLE, made DATETIME(3))"));

    DO(connection, inia_begin(connection));
    DO(connection, inia_prepare(connection,
        "INSERT INTO goods (name, price, image, stock, weight, made) VALUES (?, ?, ?, ?, ?, ?)", &insert));
    CHECK(inia_param_count(insert) == 6);
    DO(connection, inia_bind_text(insert, 0, "tea", SIZE_MAX));
    DO(connection, inia_bind_text(insert, 1, "3.50 a pound", 4));
    DO(connection, inia_bind_blob(insert, 2, "\0\1\2", 3));
    DO(connection, inia_bind_uint64(insert, 3, UINT64_MAX));
    DO(connection, inia_bind_double(insert, 4, 0.25));
    DO(connection, inia_bind_text(insert, 5, "2024-02-29 12:34:56.789", SIZE_MAX));
    CHECK(inia_step(insert) == INIA_DONE);
    CHECK(inia_affected_rows(connection) == 1 && inia_last_insert_id(connection) == 1);

    /* Values stay for the next run; what is bound anew is replaced. */
    DO(connection, inia_reset(insert));
    DO(connection, inia_bind_text(insert, 0, NULL, 0));
    DO(connection, inia_bind_null(insert, 2));
    DO(connection, inia_bind_int64(insert, 3, 0));
    CHECK(inia_step(insert) == INIA_DONE);
    CHECK(inia_last_insert_id(connection) == 2);
    CHECK(inia_in_transaction(connection) == 1);
    DO(connection, inia_commit(connection));
    CHECK(inia_in_transaction(connection) == 0);

    DO(connection, inia_begin(connection));
    DO(connection, inia_execute(connection, "DELETE FROM goods"));
    CHECK(inia_affected_rows(connection) == 2);
    DO(connection, inia_rollback(connection));

    DO(connection, inia_finalize(insert));
    DO(NULL, inia_disconnect(connection));
    DO(NULL, inia_close(database));
}

static void read_rows(const char *path)
{
    static const int types[] = {INIA_INT64, INIA_TEXT, INIA_DECIMAL, INIA_BLOB, INIA_UINT64, INIA_DOUBLE, INIA_DATETIME};
    inia_options options = {0};
    inia_database *database;
    inia_connection *connection;
    inia_statement *select;
    inia_moment made;
    const char *name, *digits;
    size_t length;
    int column;

    options.must_exist = 1;
    DO(NULL, inia_open(path, &options, &database));
    DO(NULL, inia_connect(database, "shop", &connection));
    DO(connection, inia_prepare(connection, "SELECT * FROM goods ORDER BY id", &select));
    CHECK(inia_step(select) == INIA_ROW);
    CHECK(inia_column_count(select) == 7);
    CHECK(strcmp(inia_column_name(select, 6), "made") == 0);
    for (column = 0; column < 7; column++)
        CHECK(inia_column_type(select, column) == types[column] && inia_type(select, column) == types[column]);

    name = inia_text(select, 1, &length);
    CHECK(length == 3 && strcmp(name, "tea") == 0);
    digits = inia_text(select, 0, NULL);
    CHECK(strcmp(digits, "1") == 0 && inia_int64(select, 0) == 1);
    CHECK(strcmp(inia_text(select, 2, NULL), "3.50") == 0 && inia_double(select, 2) == 3.5 && inia_int64(select, 2) == 3);
    CHECK(memcmp(inia_blob(select, 3, &length), "\0\1\2", 3) == 0 && length == 3);
    CHECK(inia_uint64(select, 4) == UINT64_MAX && inia_int64(select, 4) == INT64_MAX);
    CHECK(inia_double(select, 5) == 0.25);
    CHECK(strcmp(inia_text(select, 6, NULL), "2024-02-29 12:34:56.789") == 0);
    DO(connection, inia_moment_of(select, 6, &made));
    CHECK(made.year == 2024 && made.month == 2 && made.day == 29 && made.hour == 12 && made.micros == 789000);
    /* Texts of one row stay where they are until the next step. */
    CHECK(strcmp(name, "tea") == 0 && strcmp(digits, "1") == 0);

    CHECK(inia_step(select) == INIA_ROW);
    CHECK(inia_type(select, 1) == INIA_NULL && inia_text(select, 1, &length) == NULL && length == 0);
    CHECK(inia_type(select, 3) == INIA_NULL && inia_blob(select, 3, &length) == NULL);
    CHECK(inia_type(select, 4) == INIA_UINT64 && inia_uint64(select, 4) == 0);
    CHECK(inia_step(select) == INIA_DONE && inia_step(select) == INIA_DONE);
    DO(connection, inia_finalize(select));

    /* Several results, one after another. */
    DO(connection, inia_query(connection, "SELECT 1; DO 2; SELECT 'three', TIMEDIFF('10:00', '11:30')", &select));
    CHECK(inia_step(select) == INIA_ROW && inia_int64(select, 0) == 1);
    CHECK(inia_next_result(select) == INIA_OK && inia_column_count(select) == 0 && inia_step(select) == INIA_DONE);
    CHECK(inia_next_result(select) == INIA_OK && inia_step(select) == INIA_ROW);
    CHECK(strcmp(inia_text(select, 0, NULL), "three") == 0 && strcmp(inia_text(select, 1, NULL), "-01:30:00") == 0);
    DO(connection, inia_moment_of(select, 1, &made));
    CHECK(made.negative && made.hour == 1 && made.minute == 30);
    CHECK(inia_next_result(select) == INIA_DONE);
    DO(connection, inia_finalize(select));

    DO(NULL, inia_disconnect(connection));
    DO(NULL, inia_close(database));
}

int main(int count, char **arguments)
{
    CHECK(count == 2);
    CHECK(inia_version() >= INIA_VERSION && strchr(inia_release(), '.') != NULL);
    write_rows(arguments[1]);
    read_rows(arguments[1]);
    return 0;
}
