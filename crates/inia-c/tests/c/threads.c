/* Threads: each with its connection, several with one, one that ends another's statement, and rows that stream. */
#include "check.h"

enum { ROWS = 60 };

struct work {
    inia_database *database;
    inia_connection *connection;
    int first;
};

static void *insert(void *argument)
{
    struct work *work = argument;
    inia_connection *connection = work->connection;
    inia_statement *statement;
    int n;

    if (connection == NULL)
        DO(NULL, inia_connect(work->database, "shop", &connection));
    DO(connection, inia_prepare(connection, "INSERT INTO t VALUES (?)", &statement));
    for (n = work->first; n < work->first + ROWS; n++) {
        DO(connection, inia_bind_int64(statement, 0, n));
        CHECK(inia_step(statement) == INIA_DONE);
        DO(connection, inia_reset(statement));
    }
    DO(connection, inia_finalize(statement));
    if (work->connection == NULL)
        DO(NULL, inia_disconnect(connection));
    return NULL;
}

static int64_t count_at(inia_connection *connection, int line)
{
    inia_statement *statement;
    int64_t rows;

    DO(connection, inia_query(connection, "SELECT COUNT(*) FROM t", &statement));
    if (inia_step(statement) != INIA_ROW)
        { fprintf(stderr, "line %d\n", line); DO(connection, INIA_ERROR); }
    rows = inia_int64(statement, 0);
    DO(connection, inia_finalize(statement));
    return rows;
}

static void *endless(void *argument)
{
    inia_connection *connection = argument;
    CHECK(inia_execute(connection, "SELECT SLEEP(1000) UNION SELECT 1/0 FROM t") == INIA_OK
        || inia_errno(connection) == 1317);
    return NULL;
}

#define count(connection) count_at(connection, __LINE__)

/* The id of a connection that sleeps in its statement, by another connection. */
static int sleeps(inia_connection *observer, inia_connection *connection)
{
    inia_statement *statement;
    int found;

    DO(observer, inia_prepare(observer,
        "SELECT 1 FROM information_schema.processlist WHERE id = ? AND command = 'Query'", &statement));
    DO(observer, inia_bind_int64(statement, 0, inia_connection_id(connection)));
    found = inia_step(statement) == INIA_ROW;
    DO(observer, inia_finalize(statement));
    return found;
}

int main(void)
{
    inia_database *database = memory();
    inia_connection *connection = shop(database), *observer;
    inia_statement *stream, *other;
    inia_server *server, *second;
    struct work work[4];
    pthread_t threads[4];
    int n, last;

    DO(connection, inia_execute(connection, "CREATE TABLE t (n INT PRIMARY KEY)"));
    for (n = 0; n < 4; n++) {
        work[n].database = database;
        work[n].connection = n < 2 ? NULL : connection;
        work[n].first = n * ROWS;
        CHECK(pthread_create(&threads[n], NULL, insert, &work[n]) == 0);
    }
    for (n = 0; n < 4; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
    CHECK(count(connection) == 4 * ROWS);

    /* Another thread ends a statement. */
    DO(NULL, inia_connect(database, "shop", &observer));
    CHECK(pthread_create(&threads[0], NULL, endless, connection) == 0);
    while (!sleeps(observer, connection))
        ;
    CHECK(inia_interrupt(connection) == INIA_OK);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(count(connection) == 4 * ROWS);

    /* Rows that stream: the connection is theirs until the end. */
    DO(connection, inia_prepare(connection, "SELECT a.n, b.n FROM t a JOIN t b ORDER BY a.n, b.n", &stream));
    DO(connection, inia_set_streaming(stream, 1));
    for (n = 0; inia_step(stream) == INIA_ROW; n++) {
        last = (int)inia_int64(stream, 1);
        CHECK(inia_int64(stream, 0) * 4 * ROWS + last == n);
        if (n == 5)
            CHECK(inia_execute(connection, "DO 1") == INIA_ERROR
                && inia_query(connection, "DO 1", &other) == INIA_OK && inia_step(other) == INIA_ERROR
                && inia_finalize(other) == INIA_OK && inia_disconnect(connection) == INIA_ERROR);
    }
    CHECK(n == 16 * ROWS * ROWS);
    CHECK(count(connection) == 4 * ROWS);

    /* A stream that is left early. */
    DO(connection, inia_reset(stream));
    CHECK(inia_step(stream) == INIA_ROW);
    DO(connection, inia_finalize(stream));
    CHECK(count(connection) == 4 * ROWS);

    /* Clients come while the program goes on. */
    DO(NULL, inia_serve(database, "127.0.0.1:0", &server));
    CHECK(strncmp(inia_server_url(server), "mysql://root@127.0.0.1:", 23) == 0);
    CHECK(inia_serve(database, "127.0.0.1:0", &second) == INIA_ERROR && second == NULL);
    DO(NULL, inia_server_stop(server));
    CHECK(inia_server_url(server) == NULL && inia_server_stop(server) == INIA_MISUSE);

    DO(NULL, inia_disconnect(observer));
    DO(NULL, inia_disconnect(connection));
    DO(NULL, inia_close(database));
    return 0;
}
