/* JSON Lines: one row (rows.def) a line, an object with its columns and the member "row", which is
 * the name of its table. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/gzip_sink.h"
#include "export/rows.h"
#include "report/json.h"

struct lines {
    const struct argus_sink *sink;
    bool failed; /* out of memory */
};

/* Numbers above the largest signed one, which most readers lack, become null. */
static json_t *value(const struct row_cell *cell)
{
    switch (cell->type) {
    case ROW_NUMBER:
        return cell->number <= INT64_MAX ? json_ns(cell->number) : json_null();
    case ROW_REAL:
        return json_real(cell->real);
    case ROW_TEXT:
        return json_text(cell->text);
    case ROW_FLAG:
        return json_boolean(cell->number);
    default:
        return json_null();
    }
}

static bool put_line(void *context, const struct row_table *table, const struct row_cell *cells)
{
    struct lines *lines = context;
    json_t *row = json_object();
    json_put(row, "row", json_text(table->name));
    for (size_t i = 0; table->columns[i].name; i++)
        json_put(row, table->columns[i].name, value(&cells[i]));
    char *text = json_dumps(row, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    json_decref(row);
    lines->failed |= !text;
    bool taken = text && argus_sink_printf(lines->sink, "%s\n", text);
    free(text);
    return taken;
}

struct argus_error *argus_export_jsonl(const struct argus_report_context *context,
                                       const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct lines lines = {.sink = context->sink};
    struct row_taker taker = {put_line, &lines};
    rows_put(context, part, &taker);
    *ret_edges_cut = export_count_cut(context->graph, part);
    return lines.failed ? argus_error_memory() : NULL;
}

struct argus_error *argus_export_jsonl_gz(const struct argus_report_context *context,
                                          const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct gzip_sink packed;
    struct argus_report_context through = *context;
    struct argus_error *error = gzip_sink_init(&packed, context->sink);
    if (error)
        return error;
    through.sink = &packed.sink;
    error = argus_export_jsonl(&through, part, ret_edges_cut);
    gzip_sink_end(&packed);
    return error;
}
