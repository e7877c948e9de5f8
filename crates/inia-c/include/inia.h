/* Inia in a C program: a MySQL-compatible database in this process, without a server.
 *
 *     inia_database *database;
 *     inia_connection *connection;
 *     inia_statement *statement;
 *     if (inia_open(":memory:", NULL, &database) != INIA_OK) ...
 *     inia_connect(database, NULL, &connection);
 *     inia_execute(connection, "CREATE DATABASE shop; USE shop; CREATE TABLE goods (id INT, name TEXT)");
 *     inia_prepare(connection, "SELECT name FROM goods WHERE id = ?", &statement);
 *     inia_bind_int64(statement, 0, 7);
 *     while (inia_step(statement) == INIA_ROW)
 *         puts(inia_text(statement, 0, NULL));
 *     inia_finalize(statement);
 *     inia_disconnect(connection);
 *     inia_close(database);
 *
 * Link with -linia. A static library also needs -lpthread -ldl -lm.
 *
 * Errors. Functions that return int return INIA_OK, INIA_ROW or INIA_DONE, or a negative number: INIA_ERROR where the
 * database refused, INIA_MISUSE where the call itself is wrong. inia_errno, inia_sqlstate and inia_message then say why,
 * with MySQL's numbers; the number is 0 for what is no statement's error. Each connection keeps its last error until its
 * next call. With NULL for the connection they give the calling thread's last error of inia_open, inia_connect,
 * inia_serve or of a handle that is not open. A panic inside the library is an error, too; the connection is then of no
 * further use.
 *
 * Handles. A handle is a number in the shape of a pointer: it must not be dereferenced. NULL, a handle that was closed,
 * and one of another kind are INIA_MISUSE, never a crash. Closing NULL does nothing. Every handle is closed once, in any
 * order: statements of a closed connection are errors, a database closes with its last connection and server.
 *
 * Threads. Every function may be called by every thread. Calls on one connection wait for each other; its statements
 * share one transaction, so a thread normally has a connection of its own. inia_interrupt never waits.
 *
 * Texts. Arguments are UTF-8 that ends with a zero byte, or has a length. Results are UTF-8 with a zero byte behind.
 * Pointers to values are good until the statement's next step, result, reset or end; those of inia_message, inia_sqlstate and
 * inia_server_url until the same thread calls the same function again.
 *
 * NULL. inia_type gives INIA_NULL for a NULL value; inia_text and inia_blob then give a null pointer, numbers are 0.
 *
 * Positions of parameters and columns count from 0.
 */
#ifndef INIA_H
#define INIA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface's version. It grows when functions are added; a change of an existing one makes a new library name. */
#define INIA_VERSION 1
/* The version of the library that is linked: INIA_VERSION or greater. */
uint32_t inia_version(void);
/* The release, such as "0.1.0". */
const char *inia_release(void);

typedef struct inia_database inia_database;
typedef struct inia_connection inia_connection;
typedef struct inia_statement inia_statement;
typedef struct inia_server inia_server;

#define INIA_OK 0
#define INIA_ROW 1
#define INIA_DONE 2
#define INIA_ERROR (-1)
#define INIA_MISUSE (-2)

/* Databases ------------------------------------------------------------------------------------------------------- */

/* How a database is opened. Zero, as by `inia_options options = {0};`, is the default of every field. */
typedef struct inia_options {
    uint64_t buffer_pool_size;    /* bytes for pages; by default a quarter of the memory, taken as it is used */
    uint64_t work_memory;         /* bytes that statements may hold; by default a quarter of the memory */
    const char *secure_file_priv; /* where LOAD DATA and INTO OUTFILE may go; by default nowhere */
    int must_exist;               /* refuse to make a database where there is none */
    int reserved[7];              /* for options to come: zeros, all else is INIA_MISUSE */
} inia_options;

/* Opens the database in a directory, which is made where it is missing; ":memory:" is a new one in memory. `options` may
 * be NULL. A directory belongs to one process at a time. */
int inia_open(const char *path, const inia_options *options, inia_database **database);
int inia_close(inia_database *database);

/* Opens the database to MySQL clients at "host:port" (port 0 is any free one), or at "unix:PATH". */
int inia_serve(inia_database *database, const char *address, inia_server **server);
/* How root connects, such as "mysql://root@127.0.0.1:3306/". */
const char *inia_server_url(inia_server *server);
/* Ends the clients' connections; the database stays open. */
int inia_server_stop(inia_server *server);

/* Connections ----------------------------------------------------------------------------------------------------- */

/* A session of root. `schema` is the default database, or NULL. */
int inia_connect(inia_database *database, const char *schema, inia_connection **connection);
/* Rolls back and ends the session. */
int inia_disconnect(inia_connection *connection);

/* Runs statements that are separated by semicolons, up to the first that fails. Their rows are left out. */
int inia_execute(inia_connection *connection, const char *sql);
int inia_begin(inia_connection *connection);
int inia_commit(inia_connection *connection);
int inia_rollback(inia_connection *connection);
/* 1 where a transaction is open, 0 where none is. */
int inia_in_transaction(inia_connection *connection);
/* Ends the statement that the connection runs: that fails with error 1317. */
int inia_interrupt(inia_connection *connection);
/* The number that CONNECTION_ID() gives; 0 for a handle that is not open. */
uint32_t inia_connection_id(inia_connection *connection);

/* Of the last statement. */
uint64_t inia_affected_rows(inia_connection *connection);
uint64_t inia_last_insert_id(inia_connection *connection);
uint32_t inia_warning_count(inia_connection *connection);

/* The last error: 0, "00000" and "" where there is none. */
int inia_errno(inia_connection *connection);
const char *inia_sqlstate(inia_connection *connection);
const char *inia_message(inia_connection *connection);

/* Statements ------------------------------------------------------------------------------------------------------ */

/* Prepares one statement. It may run many times. */
int inia_prepare(inia_connection *connection, const char *sql, inia_statement **statement);
/* Makes a statement that runs a text once: of statements that cannot be prepared, or of several, whose results
 * inia_next_result gives one after another. */
int inia_query(inia_connection *connection, const char *sql, inia_statement **statement);
int inia_finalize(inia_statement *statement);

int inia_param_count(inia_statement *statement);
/* Values stay until they are replaced; what is not bound is NULL. The bytes are copied. A length of SIZE_MAX means that
 * the text ends with a zero byte. */
int inia_bind_null(inia_statement *statement, int position);
int inia_bind_int64(inia_statement *statement, int position, int64_t value);
int inia_bind_uint64(inia_statement *statement, int position, uint64_t value);
int inia_bind_double(inia_statement *statement, int position, double value);
int inia_bind_text(inia_statement *statement, int position, const char *text, size_t length);
int inia_bind_blob(inia_statement *statement, int position, const void *bytes, size_t length);

/* Whether rows are read while they are stepped through, in memory that does not grow with their number. The connection
 * takes no other call until the last row, inia_reset or inia_finalize. Without it a result is read whole by the first
 * step, which is faster for small ones. */
int inia_set_streaming(inia_statement *statement, int on);

/* Runs the statement, if it does not run yet, and goes to the next row: INIA_ROW; INIA_DONE at the end. */
int inia_step(inia_statement *statement);
/* Goes to the next result: INIA_OK, then inia_step gives its rows; INIA_DONE where there is none. */
int inia_next_result(inia_statement *statement);
/* Ends the run; the next step begins anew. */
int inia_reset(inia_statement *statement);

/* The columns of the present result, once the statement runs; 0 where it has none. */
int inia_column_count(inia_statement *statement);
/* A column's name, or NULL. */
const char *inia_column_name(inia_statement *statement, int column);
/* What a column holds: one of the types below; INIA_NULL for a column of nothing but NULL. */
int inia_column_type(inia_statement *statement, int column);

#define INIA_NULL 0
#define INIA_INT64 1
#define INIA_UINT64 2
#define INIA_DOUBLE 3
#define INIA_DECIMAL 4
#define INIA_TEXT 5
#define INIA_BLOB 6
#define INIA_JSON 7
#define INIA_DATE 8
#define INIA_TIME 9
#define INIA_DATETIME 10

/* The type of a value of the present row; INIA_MISUSE where there is no such value. */
int inia_type(inia_statement *statement, int column);
/* Numbers convert into each other, limited to what the type holds; texts that begin with a number give it. */
int64_t inia_int64(inia_statement *statement, int column);
uint64_t inia_uint64(inia_statement *statement, int column);
double inia_double(inia_statement *statement, int column);
/* Every value as a text. `length`, which may be NULL, receives the bytes without the zero behind them. */
const char *inia_text(inia_statement *statement, int column, size_t *length);
/* The bytes of a value: those of its text where it is not a binary string. */
const void *inia_blob(inia_statement *statement, int column, size_t *length);

/* The parts of a date, a time or both. Hours of a time go up to 838. */
typedef struct inia_moment {
    uint16_t year;
    uint8_t month, day;
    uint16_t hour;
    uint8_t minute, second;
    uint32_t micros;
    int negative;
} inia_moment;
int inia_moment_of(inia_statement *statement, int column, inia_moment *moment);

#ifdef __cplusplus
}
#endif
#endif
