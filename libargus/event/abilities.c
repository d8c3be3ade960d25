#include "argus/abilities.h"

#include <stdlib.h>
#include <string.h>

enum source_id {
#define SOURCE(symbol, ...) SOURCE_##symbol,
#define ABILITY(...)
#include "event/abilities.def"
#undef SOURCE
#undef ABILITY
    SOURCE_COUNT,
    SOURCE_ALWAYS = SOURCE_COUNT,
};

static const struct {
    const char *text;
    uint32_t first, last;
} sources[SOURCE_COUNT] = {
#define SOURCE(symbol, text, first, last, ...) [SOURCE_##symbol] = {text, first, last},
#define ABILITY(...)
#include "event/abilities.def"
#undef SOURCE
#undef ABILITY
};

static const struct {
    const char *rules, *how;
    enum source_id source, and;
} rows[] = {
#define SOURCE(...)
#define ABILITY(rules, how, source, and) {rules, how, SOURCE_##source, SOURCE_## and },
#include "event/abilities.def"
#undef SOURCE
#undef ABILITY
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static void count_record(struct argus_abilities *abilities, uint32_t debugid)
{
    uint32_t event = ARGUS_DEBUGID_EVENT(debugid);
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        abilities->sources[i].count += event >= sources[i].first && event <= sources[i].last;
}

/* Damaged chunks are skipped here; the callers that analyze the trace report them. */
static struct argus_error *count_chunk(const struct argus_trace *trace,
                                       const struct argus_chunk *chunk,
                                       struct argus_record *records,
                                       struct argus_abilities *abilities)
{
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    for (uint32_t i = 0; !error && i < chunk->count; i++)
        count_record(abilities, records[i].debugid);
    if (!error || error->code != ARGUS_ERROR_FORMAT)
        return error;
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *count_all(const struct argus_trace *trace, argus_progress progress,
                                     void *context, struct argus_abilities *abilities)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; i < count && !error; i++) {
        error = count_chunk(trace, &chunks[i], records, abilities);
        if (!error && progress && !progress(context, "counting records", (double)i / (double)count))
            error = argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
    }
    free(records);
    return error;
}

static bool has(const struct argus_abilities *abilities, enum source_id source)
{
    return source == SOURCE_ALWAYS || abilities->sources[source].count;
}

/* The first of the two sources of which the trace has no records. */
static const char *missing_of(const struct argus_abilities *abilities, size_t row)
{
    if (!has(abilities, rows[row].source))
        return sources[rows[row].source].text;
    return has(abilities, rows[row].and) ? NULL : sources[rows[row].and ].text;
}

/* Rows with the same name are adjacent. What is missing is the source that the best of these rows
 * needs. */
static size_t judge(struct argus_abilities *abilities, size_t row)
{
    struct argus_ability *ability = &abilities->entries[abilities->count++];
    size_t next = row;
    *ability =
        (struct argus_ability){.rules = rows[row].rules, .missing = missing_of(abilities, row)};
    for (; next < ROWS && !strcmp(rows[next].rules, ability->rules); next++)
        if (!ability->how && !missing_of(abilities, next))
            ability->how = rows[next].how;
    return next;
}

struct argus_error *argus_abilities_read(const struct argus_trace *trace, argus_progress progress,
                                         void *context, struct argus_abilities *ret)
{
    *ret = (struct argus_abilities){0};
    if (argus_trace_header(trace)->os != ARGUS_OS_DARWIN)
        return NULL;
    ret->sources = calloc(SOURCE_COUNT, sizeof(*ret->sources));
    ret->entries = calloc(ROWS, sizeof(*ret->entries));
    struct argus_error *error = ret->sources && ret->entries ? NULL : argus_error_memory();
    if (!error)
        error = count_all(trace, progress, context, ret);
    if (error) {
        argus_abilities_deinit(ret);
        return error;
    }
    ret->source_count = SOURCE_COUNT;
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        ret->sources[i].text = sources[i].text;
    for (size_t row = 0; row < ROWS;)
        row = judge(ret, row);
    return NULL;
}

void argus_abilities_deinit(struct argus_abilities *abilities)
{
    free(abilities->sources);
    free(abilities->entries);
    *abilities = (struct argus_abilities){0};
}
