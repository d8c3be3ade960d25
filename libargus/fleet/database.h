/* The hang database: an SQLite file with one row for each hang (fleet_columns.def), how its time
 * was spent, and the files that were added.
 *
 * Several commands may read it while one adds. An object belongs to one thread, and must not be
 * used after fork(). */
#ifndef ARGUS_FLEET_DATABASE_H
#define ARGUS_FLEET_DATABASE_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"

#define FLEET_DATABASE_VERSION 1

enum fleet_kind { FLEET_TEXT, FLEET_NUMBER, FLEET_FLAG };

struct fleet_column {
    const char *name;
    enum fleet_kind kind;
};

/* The columns of a hang, in order. Returns their number. */
size_t fleet_columns(const struct fleet_column **ret);

struct fleet_database;

/* Opens the database. `create`: makes the file, for the user alone, if there is none; otherwise a
 * missing file is ARGUS_ERROR_NOT_FOUND, and a file in a folder that cannot be written is read as
 * it is. Another SQLite file is an error. */
struct argus_error *fleet_database_open(const char *path, bool create, struct fleet_database **ret);
void fleet_database_close(struct fleet_database *database); /* NULL is allowed */

/* For queries; borrowed. */
sqlite3 *fleet_database_handle(const struct fleet_database *database);
/* The error of the last call on the handle. `what`: what failed, e.g. "cannot read". */
struct argus_error *fleet_database_error(const struct fleet_database *database, const char *what);

/* A random text that is made with the database: pseudonyms are made with it. Borrowed. */
const char *fleet_database_salt(const struct fleet_database *database);

struct argus_error *fleet_database_begin(struct fleet_database *database);
struct argus_error *fleet_database_commit(struct fleet_database *database);

/* A file that was added. */
struct fleet_file {
    const char *path;
    int64_t bytes, changed_ns; /* size and time of the last change */
    int64_t hangs;
    const char *why; /* why it could not be read; NULL: it could */
};

/* Whether the file was read and added as it is now. */
bool fleet_database_has_file(struct fleet_database *database, const struct fleet_file *file);
struct argus_error *fleet_database_put_file(struct fleet_database *database,
                                            const struct fleet_file *file);

/* The package and version that were noted for a build ID; the package is "" in databases of older
 * programs if it was not found. False: none were. */
bool fleet_database_package(struct fleet_database *database, const char *build_id,
                            char *ret_package, size_t package_bytes, char *ret_version,
                            size_t version_bytes);
/* Notes them, also in all hangs of this build that have no package. */
struct argus_error *fleet_database_put_package(struct fleet_database *database,
                                               const char *build_id, const char *package,
                                               const char *version);

/* Adds a row. A hang that is known stays as it is, unless it had not ended and lasts longer now.
 * `again`: it is replaced, unless another file has more of it. `*ret_added`: it was not known. */
struct argus_error *fleet_database_add(struct fleet_database *database, const json_t *row,
                                       bool again, bool *ret_added);

/* Calls `take` with the row of each hang, by day (UTC) and key, including `shares`. The row is
 * borrowed. Ends with the first error of `take`. */
struct argus_error *fleet_database_rows(const struct fleet_database *database,
                                        struct argus_error *(*take)(void *context, json_t *row),
                                        void *context);

#endif
