/* One trace as an SQLite database: a table for each row of rows.def. SQLite writes into a file of
 * its own, which has no name any more while it is filled, and is then copied to the sink. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/rows.h"

enum { MOST_TABLES = 16, STATEMENT_BYTES = 1024, COPY_BYTES = 1 << 16 };

/* In the file's header, as PRAGMA application_id: "ARGU". */
#define APPLICATION 0x41524755

struct database {
    sqlite3 *connection;
    sqlite3_stmt *inserts[MOST_TABLES]; /* by table */
    const struct row_table *tables;
    bool failed;
};

static bool execute(struct database *database, const char *statement)
{
    database->failed |=
        sqlite3_exec(database->connection, statement, NULL, NULL, NULL) != SQLITE_OK;
    return !database->failed;
}

static const char *column_type(const struct row_column *column)
{
    static const char *const types[] = {[ROW_NUMBER] = "INTEGER",
                                        [ROW_REAL] = "REAL",
                                        [ROW_TEXT] = "TEXT",
                                        [ROW_FLAG] = "INTEGER",
                                        [ROW_ID] = "INTEGER PRIMARY KEY",
                                        [ROW_REFERENCE] = "INTEGER"};
    return types[column->type];
}

static void create_table(struct database *database, size_t number)
{
    const struct row_table *table = &database->tables[number];
    char create[STATEMENT_BYTES], insert[STATEMENT_BYTES];
    struct text head = {create, sizeof(create), 0}, row = {insert, sizeof(insert), 0};
    text_add(&head, "CREATE TABLE \"%s\" (", table->name);
    text_add(&row, "INSERT INTO \"%s\" VALUES (", table->name);
    for (size_t i = 0; table->columns[i].name; i++) {
        text_add(&head, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name,
                 column_type(&table->columns[i]));
        text_add(&row, "%s?", i ? ", " : "");
    }
    text_add(&head, ")");
    text_add(&row, ")");
    if (execute(database, create))
        database->failed |= sqlite3_prepare_v2(database->connection, insert, -1,
                                               &database->inserts[number], NULL) != SQLITE_OK;
}

/* Numbers above the largest signed one, which SQLite lacks, become null. */
static int bind(sqlite3_stmt *insert, int at, const struct row_cell *cell)
{
    switch (cell->type) {
    case ROW_NUMBER:
    case ROW_FLAG:
        return cell->number <= INT64_MAX
                   ? sqlite3_bind_int64(insert, at, (sqlite3_int64)cell->number)
                   : sqlite3_bind_null(insert, at);
    case ROW_REAL:
        return sqlite3_bind_double(insert, at, cell->real);
    case ROW_TEXT:
        return sqlite3_bind_text(insert, at, cell->text, -1, SQLITE_TRANSIENT);
    default:
        return sqlite3_bind_null(insert, at);
    }
}

static bool put_row(void *context, const struct row_table *table, const struct row_cell *cells)
{
    struct database *database = context;
    sqlite3_stmt *insert = database->inserts[table - database->tables];
    for (size_t i = 0; table->columns[i].name; i++)
        database->failed |= bind(insert, (int)i + 1, &cells[i]) != SQLITE_OK;
    database->failed |= sqlite3_step(insert) != SQLITE_DONE;
    database->failed |= sqlite3_reset(insert) != SQLITE_OK;
    return !database->failed;
}

/* What queries look rows up by, besides their own numbers. */
static const char indexes[] = "CREATE INDEX vertex_thread ON vertex (thread, start_ns);"
                              "CREATE INDEX edge_to ON edge (to_vertex);"
                              "CREATE INDEX edge_from ON edge (from_vertex);"
                              "CREATE INDEX context_parent ON context (parent);";

static void fill(struct database *database, const struct argus_report_context *context,
                 const struct argus_export *part)
{
    struct row_taker taker = {put_row, database};
    char pragmas[160];
    size_t count = rows_tables(&database->tables);
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
             "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN",
             APPLICATION, ROWS_VERSION);
    execute(database, pragmas);
    for (size_t i = 0; i < count && i < MOST_TABLES && !database->failed; i++)
        create_table(database, i);
    if (!database->failed)
        rows_put(context, part, &taker);
    if (!database->failed && execute(database, indexes))
        execute(database, "COMMIT");
}

/* Fills the database at `path`, an empty file, and removes its name. */
static struct argus_error *write_database(const char *path,
                                          const struct argus_report_context *context,
                                          const struct argus_export *part)
{
    struct database database = {.connection = NULL};
    struct argus_error *error = NULL;
    database.failed = sqlite3_open_v2(path, &database.connection, SQLITE_OPEN_READWRITE, NULL);
    unlink(path); /* nothing stays, whatever ends this program */
    if (!database.failed)
        fill(&database, context, part);
    if (database.failed)
        error = argus_error_create(ARGUS_ERROR_IO, "cannot write the database %s: %s", path,
                                   sqlite3_errmsg(database.connection));
    for (size_t i = 0; i < MOST_TABLES; i++)
        sqlite3_finalize(database.inserts[i]);
    if (sqlite3_close(database.connection) != SQLITE_OK && !error)
        error = argus_error_create(ARGUS_ERROR_IO, "cannot close the database %s", path);
    return error;
}

static struct argus_error *copy(int fd, const struct argus_sink *sink)
{
    char *piece = malloc(COPY_BYTES);
    struct argus_error *error = piece ? NULL : argus_error_memory();
    off_t at = 0;
    for (ssize_t bytes = 1; !error && bytes > 0; at += bytes) {
        bytes = pread(fd, piece, COPY_BYTES, at);
        if (bytes < 0)
            error = argus_error_os(errno, "cannot read the database");
        else if (bytes && !sink->write(sink->context, piece, (size_t)bytes))
            break; /* whoever reads has closed its end */
    }
    free(piece);
    return error;
}

struct argus_error *argus_export_sqlite(const struct argus_report_context *context,
                                        const struct argus_export *part, uint64_t *ret_edges_cut)
{
    const char *folder = part->folder ? part->folder : getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof(path), "%s/.argus-export-XXXXXX", folder && folder[0] ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return argus_error_os(errno, "cannot create %s", path);
    struct argus_error *error = write_database(path, context, part);
    if (!error)
        error = copy(fd, context->sink);
    close(fd);
    *ret_edges_cut = export_count_cut(context->graph, part);
    return error;
}
