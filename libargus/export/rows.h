/* The rows of a trace (rows.def), for writers of tables. */
#ifndef ARGUS_EXPORT_ROWS_H
#define ARGUS_EXPORT_ROWS_H

#include "argus/export.h"

#define ROWS_FORMAT  "argus-rows"
#define ROWS_VERSION 1

enum row_type { ROW_NULL, ROW_NUMBER, ROW_REAL, ROW_TEXT, ROW_FLAG, ROW_ID, ROW_REFERENCE };

struct row_column {
    const char *name;
    enum row_type type;
};

#define ROW_MOST_COLUMNS 16

struct row_table {
    const char *name;
    struct row_column columns[ROW_MOST_COLUMNS + 1]; /* a NULL name ends them */
};

/* A value: `type` is NULL, NUMBER, REAL, TEXT or FLAG. */
struct row_cell {
    enum row_type type;
    uint64_t number; /* also of a FLAG: 0 or 1 */
    double real;
    const char *text; /* borrowed while the row is put */
};

/* What takes the rows. `put` gets as many cells as the table has columns, and returns false to end
 * the rows. */
struct row_taker {
    bool (*put)(void *context, const struct row_table *table, const struct row_cell *cells);
    void *context;
};

/* The tables, in the order in which their rows come. */
size_t rows_tables(const struct row_table **ret);
size_t row_table_columns(const struct row_table *table);

/* Puts all rows of `part`. */
void rows_put(const struct argus_report_context *context, const struct argus_export *part,
              const struct row_taker *taker);

#endif
