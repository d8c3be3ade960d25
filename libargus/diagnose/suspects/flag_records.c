#include "diagnose/suspects/flag_records.h"

#include "diagnose/suspects/chunk_records.h"
#include "diagnose/suspects/code_place.h"
#include "event/tracepoints.h"

/* A debugger's record is written when the thread has stopped, so it is later than the edge. */
enum { NEAR_NS = 10000000 };

struct flag_search {
    const struct argus_trace *trace;
    uint64_t tid, address, time_ns;
    uint64_t where, distance_ns; /* of the nearest record so far */
    bool found;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void look_at(struct flag_search *search, const struct argus_record *record)
{
    uint64_t id = record->debugid;
    uint64_t ns = argus_trace_ticks_to_ns(search->trace, record->timestamp);
    if ((id != ARGUS_ID_FLAG_WRITE && id != ARGUS_ID_FLAG_READ) || record->tid != search->tid ||
        record->arg[0] != search->address || distance(ns, search->time_ns) >= search->distance_ns)
        return;
    search->distance_ns = distance(ns, search->time_ns);
    search->where = record->arg[2];
    search->found = true;
}

static bool look_at_all(void *context, struct argus_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        look_at(context, &records[i]);
    return true;
}

static struct argus_error *read_near(struct flag_search *search)
{
    uint64_t time_ns = search->time_ns;
    struct window near = {time_ns > NEAR_NS ? time_ns - NEAR_NS : 0, time_ns + NEAR_NS + 1};
    return chunk_records_read_window(search->trace, near, look_at_all, search);
}

struct argus_error *flag_record_code(struct diagnoser *d, const struct flag_access_at *access,
                                     uint64_t *ret)
{
    const struct argus_vertex *v = &d->view.vertices[access->vertex];
    struct flag_search search = {.trace = argus_graph_trace(d->view.graph),
                                 .tid = d->view.threads[v->thread].tid,
                                 .address = access->address,
                                 .time_ns = access->time_ns,
                                 .distance_ns = NEAR_NS};
    *ret = 0;
    struct argus_error *error = search.address && search.trace ? read_near(&search) : NULL;
    if (!error && search.found)
        *ret = ARGUS_FLAG_PC(search.where);
    return error;
}

struct argus_error *flag_record_place(struct diagnoser *d, const struct flag_access_at *access,
                                      char **ret)
{
    uint64_t pc = 0;
    *ret = NULL;
    struct argus_error *error = d->symbols ? flag_record_code(d, access, &pc) : NULL;
    if (error || !pc)
        return error;
    /* x86 reports the address behind the instruction, as if it were a return address */
    bool is_behind =
        argus_trace_header(argus_graph_trace(d->view.graph))->arch != ARGUS_ARCH_AARCH64;
    *ret = text_code_place(d, &d->view.vertices[access->vertex], pc, is_behind);
    return *ret ? NULL : argus_error_memory();
}

struct write_search {
    const struct argus_trace *trace;
    uint64_t tid, address, code;
    struct window part;
    bool found;
};

static bool look_for_write(void *context, struct argus_record *records, size_t count)
{
    struct write_search *search = context;
    for (size_t i = 0; i < count && !search->found; i++) {
        const struct argus_record *record = &records[i];
        if (record->debugid != ARGUS_ID_FLAG_WRITE || record->tid != search->tid ||
            record->arg[0] != search->address ||
            (search->code && ARGUS_FLAG_PC(record->arg[2]) != search->code))
            continue;
        uint64_t ns = argus_trace_ticks_to_ns(search->trace, record->timestamp);
        search->found = ns >= search->part.start_ns && ns < search->part.end_ns;
    }
    return true;
}

struct argus_error *flag_records_has_write(struct diagnoser *d, uint32_t thread, uint64_t address,
                                           uint64_t code, struct window part, bool *ret)
{
    struct write_search search = {.trace = argus_graph_trace(d->view.graph),
                                  .tid = d->view.threads[thread].tid,
                                  .address = address,
                                  .code = code,
                                  .part = part};
    const struct argus_chunk *chunks = NULL;
    size_t count = search.trace ? argus_trace_chunks(search.trace, &chunks) : 0;
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && !search.found && i < count; i++)
        if (argus_trace_ticks_to_ns(search.trace, chunks[i].last_ticks) >= part.start_ns &&
            argus_trace_ticks_to_ns(search.trace, chunks[i].first_ticks) < part.end_ns)
            error = chunk_records_read(search.trace, &chunks[i], look_for_write, &search);
    *ret = search.found;
    return error;
}
