/* Shared code of the unit tests of the trace stage. */
#ifndef ARGUS_TESTS_TRACE_FIXTURE_H
#define ARGUS_TESTS_TRACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "argus/trace.h"

/* An empty file of its own for each test; cmocka's setup and teardown. `*state` is a struct
 * fixture. */
struct fixture {
    char path[64];
    int fd;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A header that a writer accepts: Linux, two cpus. `ring_bytes` 0 is a stream. */
struct argus_trace_header fixture_header(uint64_t ring_bytes);

/* A trace with every kind of chunk in the fixture's file; returns its size. */
size_t fixture_write_small(struct fixture *fixture);

/* Fails the test with the error's message if there is an error. */
void assert_ok(struct argus_error *error);

/* Fails the test unless `error` has the code and its message contains `part`; destroys it. */
void assert_error(struct argus_error *error, enum argus_error_code code, const char *part);

/* Reads the whole file; the caller frees. */
uint8_t *fixture_read(const struct fixture *fixture, size_t *ret_length);

/* Replaces the whole file. */
void fixture_replace(struct fixture *fixture, const void *data, size_t length);

/* Opens the fixture's file and reads every record chunk and every table, as a command would.
 * Returns how many record chunks were damaged; the trace is closed again. An error of opening is
 * returned. */
struct argus_error *fixture_read_all(const struct fixture *fixture, size_t *ret_damage,
                                     uint64_t *ret_records);

#endif
