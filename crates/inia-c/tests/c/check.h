/* What the test programs share. */
#include "inia.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where a condition does not hold. */
#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

/* Ends the program where a call fails, with the connection's error. */
#define DO(connection, call)                                                       \
    do {                                                                           \
        if ((call) != INIA_OK) {                                                   \
            fprintf(stderr, "%s:%d: %s: %d %s %s\n", __FILE__, __LINE__, #call,    \
                inia_errno(connection), inia_sqlstate(connection),                 \
                inia_message(connection));                                         \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

static inline inia_database *memory(void)
{
    inia_options options = {0};
    inia_database *database;
    options.buffer_pool_size = 8 << 20;
    DO(NULL, inia_open(":memory:", &options, &database));
    return database;
}

static inline inia_connection *shop(inia_database *database)
{
    inia_connection *connection;
    DO(NULL, inia_connect(database, NULL, &connection));
    DO(connection, inia_execute(connection, "CREATE DATABASE IF NOT EXISTS shop; USE shop"));
    return connection;
}
