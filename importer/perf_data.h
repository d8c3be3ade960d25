/* Files of perf record: the parts that the readers of this folder share.
 *
 * There is no library for perf.data; tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h of Linux 6.1 describe it. A file is a header, a table of the
 * events that were recorded (struct perf_event_attr), records, and feature sections behind them.
 */
#ifndef ARGUS_IMPORTER_PERF_DATA_H
#define ARGUS_IMPORTER_PERF_DATA_H

#include <stdio.h>
#include <traceevent/event-parse.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "import_sink.h"
#include "kernel_events.h"

/* One event that perf was told to record. */
struct perf_attr {
    uint64_t config, sample_type, read_format, branch_type, user_registers;
    uint32_t type, user_stack_bytes;
    bool has_trailer;   /* sample_id_all */
    bool is_of_threads; /* of some threads, on whichever CPU; perf sets "inherit" only then */
};

struct perf_section {
    uint64_t offset, bytes;
};

struct perf_file {
    const char *path; /* borrowed, as are `sink` and `events` */
    FILE *file;       /* owned */
    uint64_t file_bytes;
    struct sink *sink;
    struct kernel_events *events;
    struct tep_handle *tep; /* owned */
    VEC(struct perf_attr) attrs;
    struct idmap attr_of_id;
    uint64_t id_count; /* of all events */
    struct perf_section data;
    uint64_t features[4];           /* a bit for each */
    bool has_switches;              /* the file has the tracepoint sched_switch */
    bool has_names;                 /* of a pipe: the names of its tracepoints were read */
    bool is_pipe;                   /* written to a pipe: records take the place of the header */
    struct perf_unpacker *unpacker; /* owned; NULL: no compressed record yet */
};

/* An error about a place in the file. */
struct argus_error *perf_error(uint64_t offset, const char *reason);

/* Reads `bytes` bytes at `offset`; "it ends there" is an error. */
struct argus_error *perf_read(const struct perf_file *perf, uint64_t offset, void *to,
                              size_t bytes);

/* Reads the feature sections: formats of tracepoints, build IDs, machine (perf_features.c). Unknown
 * ones are skipped. */
struct argus_error *perf_read_features(struct perf_file *perf);

/* Takes one record, of which `bytes` bytes, header included, are at `record` (perf_records.c).
 * `offset` is its place in the file. */
struct argus_error *perf_take_record(struct perf_file *perf, const uint8_t *record, size_t bytes,
                                     uint64_t offset);

/* Adds an event: its struct perf_event_attr, and the IDs of its samples (perf_data.c). */
struct argus_error *perf_add_attr(struct perf_file *perf, const uint8_t *attr, size_t attr_bytes,
                                  const uint8_t *ids, size_t id_count);
/* Reads one feature section; unknown ones are skipped (perf_features.c). */
struct argus_error *perf_read_section(struct perf_file *perf, unsigned bit,
                                      struct perf_section section);

/* --- perf_stream.c --- */

/* PERF_RECORD_COMPRESSED and its successor. */
bool perf_is_compressed(uint32_t type);
/* Takes the records in the body of a compressed one. */
struct argus_error *perf_take_compressed(struct perf_file *perf, uint32_t type, const uint8_t *body,
                                         size_t bytes, uint64_t offset);
void perf_unpacker_destroy(struct perf_unpacker *unpacker);
/* Takes a record that only pipes have. `*ret_skip`: how many bytes behind the record belong to it;
 * also in other files. */
struct argus_error *perf_take_stream_record(struct perf_file *perf, const uint8_t *record,
                                            size_t bytes, uint64_t offset, uint64_t *ret_skip);

/* Parts of a sample. */
struct perf_sample {
    uint64_t id, ip, pid, tid, time_ns;
    uint32_t cpu;
    const uint64_t *chain; /* borrowed; NULL: none */
    size_t chain_length;
    const uint8_t *raw; /* of a tracepoint; borrowed */
    uint32_t raw_bytes;
    uint64_t registers[64]; /* by perf's numbers; valid if `has_registers` */
    bool has_registers;
    const uint8_t *stack; /* borrowed; NULL: none */
    uint64_t stack_bytes, stack_asked_bytes;
};

/* Reads a sample's body (perf_sample.c). false: it ends too early. */
bool perf_read_sample(const struct perf_attr *attr, const uint8_t *body, size_t bytes,
                      struct perf_sample *ret);
/* Reads thread, time and CPU behind the body of another record. false: there are none, and they
 * are 0. */
bool perf_read_trailer(const struct perf_file *perf, const uint8_t *body, size_t bytes,
                       struct perf_sample *ret);
/* The ID of a sample, by which its attribute is found; false: it has none. */
bool perf_read_id(const struct perf_attr *first, const uint8_t *body, size_t bytes, uint64_t *ret);

#endif
