#include "fleet/fleet_sql.h"

#include <stddef.h>

struct argus_error *fleet_sql_error(sqlite3 *handle, const char *path, const char *what)
{
    int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return argus_error_memory();
    return argus_error_create(code == SQLITE_NOTADB ? ARGUS_ERROR_FORMAT : ARGUS_ERROR_IO,
                              "%s %s: %s", what, path, sqlite3_errmsg(handle));
}

struct argus_error *fleet_sql_number(sqlite3 *handle, const char *sql, int64_t *ret)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status == SQLITE_ROW)
        *ret = sqlite3_column_int64(statement, 0);
    struct argus_error *error = status == SQLITE_ROW || status == SQLITE_DONE
                                    ? NULL
                                    : fleet_sql_error(handle, "the database", "cannot read");
    sqlite3_finalize(statement);
    return error;
}
