/* What a sink keeps; only import_sink.c and its tests see it. */
#ifndef ARGUS_IMPORTER_IMPORT_SINK_DATA_H
#define ARGUS_IMPORTER_IMPORT_SINK_DATA_H

#include "base/idmap.h"
#include "base/vec.h"
#include "import_sink.h"
#include "other_kinds.h"

enum { MOST_MARKS = 32768 };

struct kept_record {
    struct argus_record record;
    uint64_t lost;  /* not 0: no record, but a loss at this place */
    uint64_t order; /* of adding */
};

struct kept_stack {
    uint64_t id;
    size_t first, count; /* in `frames` */
};

struct sink {
    struct argus_trace_header header;
    struct argus_error *error; /* the first one; owned */
    uint64_t last_ns;          /* of the records so far */
    VEC(struct kept_record) records;
    VEC(struct argus_thread_entry) threads; /* names owned */
    VEC(struct argus_image_entry) images;   /* paths owned */
    VEC(char *) notes;                      /* owned */
    VEC(struct kept_stack) stacks;
    VEC(uint64_t) frames;
    VEC(struct argus_snapshot) snapshots; /* bytes owned */
    VEC(struct argus_code_entry) code;    /* names owned */
    VEC(char *) marks; /* owned; the number of a mark is ARGUS_PROBE_FIRST_HOOK and its place */
    struct other_kinds others;
    struct idmap thread_of_tid, known_stacks, mark_of_name;
    struct idmap name_of_tid; /* hash of the name that events told last */
};

#endif
