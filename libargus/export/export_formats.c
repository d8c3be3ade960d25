/* The formats. To add one: a row, its writer (export_writers.h), a sentence in the help of
 * `argus graph export` and a row in docs/formats.md. */
#include <string.h>

#include "export/export_writers.h"

#ifdef WITH_PROTOBUF
#define BY_PROTOBUF(write) NULL, write
#else
#define BY_PROTOBUF(write) "libprotobuf-c", NULL
#endif

static const struct argus_export_format formats[] = {
    {"trace-events", "json", "ui.perfetto.dev or chrome://tracing", NULL, argus_export_trace_events,
     200000, false, false, false},
    {"perfetto", "pftrace perfetto-trace", "ui.perfetto.dev or Perfetto's trace_processor",
     BY_PROTOBUF(argus_export_perfetto), 1000000, true, true, false},
    {"pprof", "pb.gz pprof", "pprof: go tool pprof, speedscope", NULL, argus_export_pprof,
     UINT32_MAX, true, false, false},
    {"firefox", "profile.json firefox.json", "profiler.firefox.com", NULL, argus_export_firefox,
     1000000, false, true, false},
    {"dot", "dot gv", "Graphviz: dot -Tsvg", NULL, argus_export_dot, 500, false, false, false},
    {"jsonl", "jsonl ndjson", "programs that read JSON Lines", NULL, argus_export_jsonl, UINT32_MAX,
     false, true, true},
    {"jsonl-gz", "jsonl.gz ndjson.gz", "programs that read JSON Lines: DuckDB, pandas, Spark", NULL,
     argus_export_jsonl_gz, UINT32_MAX, true, true, true},
    {"sqlite", "sqlite sqlite3 db", "SQLite", NULL, argus_export_sqlite, UINT32_MAX, true, true,
     true},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

size_t argus_export_formats(const struct argus_export_format **ret)
{
    *ret = formats;
    return FORMATS;
}

const struct argus_export_format *argus_export_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0)
            return &formats[i];
    return NULL;
}

/* Whether `path` ends with "." and `suffix`, and has something in front of them. */
static bool ends_with(const char *path, const char *suffix, size_t length)
{
    size_t bytes = strlen(path);
    return bytes > length + 1 && path[bytes - length - 1] == '.' &&
           memcmp(path + bytes - length, suffix, length) == 0;
}

const struct argus_export_format *argus_export_format_of(const char *path)
{
    const struct argus_export_format *best = NULL;
    size_t longest = 0; /* "x.profile.json" is not just any ".json" */
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *at = formats[i].suffixes; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (length > longest && ends_with(path, at, length)) {
                best = &formats[i];
                longest = length;
            }
            at += length;
        }
    return best;
}
