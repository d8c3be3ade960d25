/* Small helpers over SQLite. */
#ifndef ARGUS_FLEET_SQL_H
#define ARGUS_FLEET_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "argus/error.h"

/* The error of the last call on `handle`: "WHAT PATH: …". */
struct argus_error *fleet_sql_error(sqlite3 *handle, const char *path, const char *what);

/* The first column of the first row of a query; unchanged if there is no row. */
struct argus_error *fleet_sql_number(sqlite3 *handle, const char *sql, int64_t *ret);

#endif
