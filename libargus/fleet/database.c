#include "fleet/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/fleet_sql.h"
#include "report/json.h"

/* "ARGF": tells the file from other SQLite databases (PRAGMA application_id). */
#define APPLICATION_ID 0x41524746

enum { BUSY_MS = 60000 }; /* how long to wait for another command that writes */

/* Of a text in a row; what argus writes is much shorter. */
enum { MOST_TEXT_BYTES = 16 << 20 };

/* What a file of a stranger could have beside tables and indexes: code that runs when a row is read
 * or written, perhaps without end. SQLite takes these types and names in any case. */
#define SQL_IS_TABLE                                                                               \
    "lower(m.type) = 'table' AND m.rootpage > 0 AND m.sql NOT LIKE 'create%virtual%table%'"
static const char with_code[] =
    "SELECT (SELECT count(*) FROM sqlite_master m WHERE NOT coalesce(lower(m.type) = 'index' OR "
    "(" SQL_IS_TABLE "), 0)) + (SELECT count(*) FROM sqlite_master m, pragma_table_xinfo(m.name) c "
    "WHERE " SQL_IS_TABLE " AND c.hidden <> 0)";

struct fleet_database {
    sqlite3 *handle;
    sqlite3_stmt *add, *add_share, *drop_shares;
    char *path;
    char salt[40];
};

static const struct fleet_column columns[] = {
#define FLEET_COLUMN(name, kind, description) {#name, FLEET_##kind},
#include "fleet/fleet_columns.def"
#undef FLEET_COLUMN
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

size_t fleet_columns(const struct fleet_column **ret)
{
    *ret = columns;
    return COLUMNS;
}

sqlite3 *fleet_database_handle(const struct fleet_database *database)
{
    return database->handle;
}

const char *fleet_database_salt(const struct fleet_database *database)
{
    return database->salt;
}

struct argus_error *fleet_database_error(const struct fleet_database *database, const char *what)
{
    return fleet_sql_error(database->handle, database->path, what);
}

/* Prepares a statement and binds texts to its parameters, which end with NULL; a text of the list
 * itself must not be NULL. NULL: it failed. */
static sqlite3_stmt *prepare(const struct fleet_database *database, const char *sql,
                             const char *const *texts)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    for (int i = 0; texts && texts[i]; i++)
        sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    return statement;
}

/* --- opening --- */

static struct argus_error *run(const struct fleet_database *database, const char *sql)
{
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK
               ? NULL
               : fleet_database_error(database, "cannot use");
}

static struct argus_error *check_tables(const struct fleet_database *database)
{
    int64_t count = 0;
    struct argus_error *error = fleet_sql_number(database->handle, with_code, &count);
    if (error || !count)
        return error;
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "%s is not a hang database: it has views, triggers, virtual "
                              "tables or computed columns",
                              database->path);
}

/* The statements with which the tables are made; NULL without memory. */
static char *tables_sql(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT);"
                               "CREATE TABLE files (path TEXT PRIMARY KEY, bytes INTEGER, "
                               "changed_ns INTEGER, hangs INTEGER, why TEXT);"
                               "CREATE TABLE packages (build_id TEXT PRIMARY KEY, package TEXT, "
                               "version TEXT);"
                               "CREATE TABLE shares (key TEXT, reason TEXT, ns INTEGER, "
                               "PRIMARY KEY (key, reason)) WITHOUT ROWID;"
                               "CREATE TABLE hangs (");
    for (size_t i = 0; i < COLUMNS; i++)
        sqlite3_str_appendf(sql, "%s%s %s%s", i ? ", " : "", columns[i].name,
                            columns[i].kind == FLEET_TEXT ? "TEXT" : "INTEGER",
                            i ? "" : " PRIMARY KEY");
    sqlite3_str_appendf(sql,
                        ");CREATE INDEX hangs_by_signature ON hangs (signature, wall_ns);"
                        "CREATE INDEX hangs_by_program ON hangs (program, version);"
                        "INSERT INTO meta VALUES ('salt', lower(hex(randomblob(16))));"
                        "PRAGMA application_id=%d;PRAGMA user_version=%d;",
                        APPLICATION_ID, FLEET_DATABASE_VERSION);
    return sqlite3_str_finish(sql);
}

/* Two commands may make the same database at once: the second one waits, and then finds it made. */
static struct argus_error *make_tables(const struct fleet_database *database)
{
    char *sql = tables_sql();
    struct argus_error *error = sql ? run(database, "BEGIN IMMEDIATE") : argus_error_memory();
    int64_t version = 0;
    if (!error)
        error = fleet_sql_number(database->handle, "PRAGMA user_version", &version);
    if (!error && version == 0)
        error = run(database, sql);
    if (!error)
        error = run(database, "COMMIT");
    sqlite3_free(sql);
    return error;
}

static struct argus_error *check_version(const struct fleet_database *database, bool create)
{
    int64_t application = 0, version = 0, tables = 0;
    sqlite3 *handle = database->handle;
    struct argus_error *error = fleet_sql_number(handle, "PRAGMA application_id", &application);
    if (!error)
        error = fleet_sql_number(handle, "PRAGMA user_version", &version);
    if (!error)
        error = fleet_sql_number(handle, "SELECT count(*) FROM sqlite_master", &tables);
    if (error)
        return argus_error_context(
            error, error->code == ARGUS_ERROR_FORMAT ? "%s is not a hang database" : "%s",
            database->path);
    if (!tables && create)
        return make_tables(database);
    if (application != APPLICATION_ID)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "%s is another SQLite database, not one of argus fleet",
                                  database->path);
    if (version != FLEET_DATABASE_VERSION)
        return argus_error_create(ARGUS_ERROR_VERSION,
                                  "%s has version %lld of the hang database; this argus reads "
                                  "version %d",
                                  database->path, (long long)version, FLEET_DATABASE_VERSION);
    return check_tables(database);
}

static struct argus_error *read_salt(struct fleet_database *database)
{
    sqlite3_stmt *statement = prepare(database, "SELECT value FROM meta WHERE name = 'salt'", NULL);
    if (statement && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        snprintf(database->salt, sizeof(database->salt), "%s",
                 (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return database->salt[0] ? NULL : fleet_database_error(database, "cannot read");
}

static struct argus_error *open_as(struct fleet_database *database, const char *name, int flags)
{
    sqlite3_close(database->handle);
    database->handle = NULL;
    if (sqlite3_open_v2(name, &database->handle, flags, NULL) != SQLITE_OK)
        return fleet_database_error(database, "cannot open");
    sqlite3_busy_timeout(database->handle, BUSY_MS);
    sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, MOST_TEXT_BYTES);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return check_version(database, flags & SQLITE_OPEN_CREATE);
}

/* Whether it failed because the folder cannot be written, where a reader needs files of its own
 * beside the database, and a writer left none there that must be read as well. */
static bool is_only_unwritable(const struct fleet_database *database)
{
    int code = sqlite3_errcode(database->handle) & 0xff;
    struct stat info;
    char *log = sqlite3_mprintf("%s-wal", database->path);
    bool has_log = !log || (stat(log, &info) == 0 && info.st_size);
    sqlite3_free(log);
    return !has_log && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY);
}

static struct argus_error *open_immutable(struct fleet_database *database)
{
    sqlite3_str *name = sqlite3_str_new(NULL);
    const char *at = database->path;
    while (at[0] == '/' && at[1] == '/') /* "//" would begin the name of a host */
        at++;
    sqlite3_str_appendall(name, "file:");
    for (; *at; at++)
        sqlite3_str_appendf(name, strchr("?#%", *at) ? "%%%02x" : "%c", *at);
    sqlite3_str_appendall(name, "?immutable=1");
    char *uri = sqlite3_str_finish(name);
    struct argus_error *error =
        uri ? open_as(database, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) : argus_error_memory();
    sqlite3_free(uri);
    return error;
}

static struct argus_error *open_handle(struct fleet_database *database, bool create)
{
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (!create && access(database->path, R_OK) != 0)
        return errno == ENOENT
                   ? argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                        "there is no hang database %s; argus fleet add DIR makes "
                                        "it",
                                        database->path)
                   : argus_error_os(errno, "cannot read %s", database->path);
    if (create) { /* hangs say what a user did: the file is for the user alone */
        int fd = open(database->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
    }
    struct argus_error *error = open_as(database, database->path, flags);
    if (error && !create && is_only_unwritable(database)) {
        argus_error_destroy(error);
        error = open_immutable(database);
    }
    if (!error && create)
        error = run(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    return error ? error : read_salt(database);
}

struct argus_error *fleet_database_open(const char *path, bool create, struct fleet_database **ret)
{
    struct fleet_database *database = calloc(1, sizeof(*database));
    struct argus_error *error = argus_error_memory();
    if (database && (database->path = strdup(path)))
        error = open_handle(database, create);
    if (error) {
        fleet_database_close(database);
        return error;
    }
    *ret = database;
    return NULL;
}

void fleet_database_close(struct fleet_database *database)
{
    if (!database)
        return;
    sqlite3_finalize(database->add);
    sqlite3_finalize(database->add_share);
    sqlite3_finalize(database->drop_shares);
    sqlite3_close(database->handle);
    free(database->path);
    free(database);
}

struct argus_error *fleet_database_begin(struct fleet_database *database)
{
    return run(database, "BEGIN IMMEDIATE");
}

struct argus_error *fleet_database_commit(struct fleet_database *database)
{
    return run(database, "COMMIT");
}

/* --- files and packages --- */

static bool has_row(sqlite3_stmt *statement)
{
    bool found = statement && sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

static struct argus_error *finish_write(const struct fleet_database *database,
                                        sqlite3_stmt *statement)
{
    bool done = statement && sqlite3_step(statement) == SQLITE_DONE;
    struct argus_error *error = done ? NULL : fleet_database_error(database, "cannot write");
    sqlite3_finalize(statement);
    return error;
}

bool fleet_database_has_file(struct fleet_database *database, const struct fleet_file *file)
{
    const char *const texts[] = {file->path, NULL};
    sqlite3_stmt *statement = prepare(
        database,
        "SELECT 1 FROM files WHERE path = ? AND bytes = ? AND changed_ns = ? AND why IS NULL",
        texts);
    if (statement) {
        sqlite3_bind_int64(statement, 2, file->bytes);
        sqlite3_bind_int64(statement, 3, file->changed_ns);
    }
    return has_row(statement);
}

struct argus_error *fleet_database_put_file(struct fleet_database *database,
                                            const struct fleet_file *file)
{
    const char *const texts[] = {file->path, NULL};
    sqlite3_stmt *statement =
        prepare(database, "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", texts);
    if (statement) {
        sqlite3_bind_int64(statement, 2, file->bytes);
        sqlite3_bind_int64(statement, 3, file->changed_ns);
        sqlite3_bind_int64(statement, 4, file->hangs);
        sqlite3_bind_text(statement, 5, file->why, -1, SQLITE_STATIC);
    }
    return finish_write(database, statement);
}

bool fleet_database_package(struct fleet_database *database, const char *build_id,
                            char *ret_package, size_t package_bytes, char *ret_version,
                            size_t version_bytes)
{
    const char *const texts[] = {build_id, NULL};
    sqlite3_stmt *statement =
        prepare(database,
                "SELECT coalesce(package, ''), coalesce(version, '') FROM packages "
                "WHERE build_id = ?",
                texts);
    bool found = statement && sqlite3_step(statement) == SQLITE_ROW;
    if (found) {
        snprintf(ret_package, package_bytes, "%s", (const char *)sqlite3_column_text(statement, 0));
        snprintf(ret_version, version_bytes, "%s", (const char *)sqlite3_column_text(statement, 1));
    }
    sqlite3_finalize(statement);
    return found;
}

struct argus_error *fleet_database_put_package(struct fleet_database *database,
                                               const char *build_id, const char *package,
                                               const char *version)
{
    static const char *const statements[] = {
        "INSERT OR REPLACE INTO packages VALUES (?, ?, ?)",
        "UPDATE hangs SET package = ?2, version = coalesce(nullif(?3, ''), version) "
        "WHERE build_id = ?1 AND package IS NULL",
        "UPDATE hangs SET culprit_package = ?2, "
        "culprit_version = coalesce(nullif(?3, ''), culprit_version) "
        "WHERE culprit_build_id = ?1 AND culprit_package IS NULL"};
    const char *const texts[] = {build_id, package, version, NULL};
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof(statements) / sizeof(statements[0]); i++)
        error = finish_write(database, prepare(database, statements[i], texts));
    return error;
}

/* --- rows --- */

static char *add_sql(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "INSERT INTO hangs VALUES (");
    for (size_t i = 0; i < COLUMNS; i++)
        sqlite3_str_appendall(sql, i ? ", ?" : "?");
    sqlite3_str_appendall(sql, ") ON CONFLICT (key) DO UPDATE SET ");
    for (size_t i = 1; i < COLUMNS; i++)
        sqlite3_str_appendf(sql, "%s%s = excluded.%s", i > 1 ? ", " : "", columns[i].name,
                            columns[i].name);
    sqlite3_str_appendf(sql,
                        " WHERE (hangs.ongoing AND excluded.duration_ns > hangs.duration_ns) OR "
                        "(?%d AND (excluded.file = hangs.file OR "
                        "excluded.duration_ns >= hangs.duration_ns))",
                        (int)COLUMNS + 1);
    return sqlite3_str_finish(sql);
}

static struct argus_error *prepare_add(struct fleet_database *database)
{
    if (database->add)
        return NULL;
    char *sql = add_sql();
    database->add_share = prepare(database, "INSERT OR REPLACE INTO shares VALUES (?, ?, ?)", NULL);
    database->drop_shares = prepare(database, "DELETE FROM shares WHERE key = ?", NULL);
    database->add = sql ? prepare(database, sql, NULL) : NULL;
    sqlite3_free(sql);
    return database->add && database->add_share && database->drop_shares
               ? NULL
               : fleet_database_error(database, "cannot write");
}

static void bind_value(sqlite3_stmt *statement, int at, const json_t *value)
{
    if (json_is_string(value))
        sqlite3_bind_text(statement, at, json_string_value(value), -1, SQLITE_STATIC);
    else if (json_is_integer(value))
        sqlite3_bind_int64(statement, at, json_integer_value(value));
    else if (json_is_boolean(value))
        sqlite3_bind_int64(statement, at, json_is_true(value));
    else
        sqlite3_bind_null(statement, at);
}

static int add_shares(struct fleet_database *database, const char *key, const json_t *shares)
{
    sqlite3_stmt *statement = database->add_share;
    sqlite3_bind_text(database->drop_shares, 1, key, -1, SQLITE_STATIC);
    int status = sqlite3_step(database->drop_shares);
    sqlite3_reset(database->drop_shares);
    for (size_t i = 0; status == SQLITE_DONE && i < json_array_size(shares); i++) {
        const json_t *share = json_array_get(shares, i);
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        bind_value(statement, 2, json_object_get(share, "reason"));
        bind_value(statement, 3, json_object_get(share, "ns"));
        status = sqlite3_step(statement);
        sqlite3_reset(statement);
    }
    return status;
}

struct argus_error *fleet_database_add(struct fleet_database *database, const json_t *row,
                                       bool again, bool *ret_added)
{
    const char *key = json_string_value(json_object_get(row, "key"));
    const char *const texts[] = {key, NULL};
    struct argus_error *error = prepare_add(database);
    if (error || !key)
        return error ? error : argus_error_create(ARGUS_ERROR_FORMAT, "a hang has no key");
    *ret_added = !has_row(prepare(database, "SELECT 1 FROM hangs WHERE key = ?", texts));
    for (size_t i = 0; i < COLUMNS; i++)
        bind_value(database->add, (int)i + 1, json_object_get(row, columns[i].name));
    sqlite3_bind_int(database->add, (int)COLUMNS + 1, again);
    int status = sqlite3_step(database->add);
    sqlite3_reset(database->add);
    if (status == SQLITE_DONE && sqlite3_changes(database->handle))
        status = add_shares(database, key, json_object_get(row, "shares"));
    return status == SQLITE_DONE ? NULL : fleet_database_error(database, "cannot write");
}

/* --- reading --- */

static json_t *column_value(sqlite3_stmt *statement, int at, enum fleet_kind kind)
{
    if (sqlite3_column_type(statement, at) == SQLITE_NULL)
        return json_null();
    if (kind == FLEET_FLAG)
        return json_boolean(sqlite3_column_int64(statement, at));
    if (kind == FLEET_NUMBER)
        return json_integer(sqlite3_column_int64(statement, at));
    return json_text((const char *)sqlite3_column_text(statement, at));
}

/* Returns SQLite's status: SQLITE_DONE for success. */
static int read_shares(sqlite3_stmt *statement, const char *key, json_t *row)
{
    int status;
    json_t *shares = json_array();
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *share = json_object();
        json_put(share, "reason", json_text((const char *)sqlite3_column_text(statement, 0)));
        json_put(share, "ns", json_integer(sqlite3_column_int64(statement, 1)));
        json_add(shares, share);
    }
    sqlite3_reset(statement);
    json_put(row, "shares", shares);
    return status;
}

static int read_row(sqlite3_stmt *rows, sqlite3_stmt *shares, json_t *row)
{
    for (size_t i = 0; i < COLUMNS; i++)
        json_put(row, columns[i].name, column_value(rows, (int)i, columns[i].kind));
    return read_shares(shares, (const char *)sqlite3_column_text(rows, 0), row);
}

static struct argus_error *take_rows(const struct fleet_database *database, sqlite3_stmt *rows,
                                     sqlite3_stmt *shares,
                                     struct argus_error *(*take)(void *context, json_t *row),
                                     void *context)
{
    struct argus_error *error = NULL;
    int status = SQLITE_DONE;
    while (!error && (status = sqlite3_step(rows)) == SQLITE_ROW) {
        json_t *row = json_object();
        if (!row)
            error = argus_error_memory();
        else if (read_row(rows, shares, row) != SQLITE_DONE)
            error = fleet_database_error(database, "cannot read");
        else
            error = take(context, row);
        json_decref(row);
    }
    return error || status == SQLITE_DONE ? error : fleet_database_error(database, "cannot read");
}

struct argus_error *fleet_database_rows(const struct fleet_database *database,
                                        struct argus_error *(*take)(void *context, json_t *row),
                                        void *context)
{
    sqlite3_stmt *rows =
        prepare(database, "SELECT * FROM hangs ORDER BY substr(time, 1, 10), key", NULL);
    sqlite3_stmt *shares = prepare(
        database, "SELECT reason, ns FROM shares WHERE key = ? ORDER BY ns DESC, reason", NULL);
    struct argus_error *error = rows && shares ? take_rows(database, rows, shares, take, context)
                                               : fleet_database_error(database, "cannot read");
    sqlite3_finalize(rows);
    sqlite3_finalize(shares);
    return error;
}
