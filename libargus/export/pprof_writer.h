/* Writes pprof's format: one gzip-packed message Profile of
 * github.com/google/pprof/proto/profile.proto. Parts of a message may be written one after the
 * other, so each sample and frame is written as soon as it is complete.
 *
 * Order of the calls: _init(), _add_type() for each value of a sample, any number of samples and
 * frames, _end(). A lack of memory is kept until the end. */
#ifndef ARGUS_EXPORT_PPROF_WRITER_H
#define ARGUS_EXPORT_PPROF_WRITER_H

#include "argus/report.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "export/gzip_sink.h"

struct pprof_message {
    VEC(uint8_t) bytes;
    bool failed; /* no memory */
};

struct pprof_writer {
    struct gzip_sink packed;
    struct strtab *texts; /* borrowed */
    struct idmap mappings;
    struct pprof_message message, sample, inner; /* what is being written */
    bool closed;                                 /* the sink accepts no more */
    bool failed;                                 /* no memory */
};

/* `ret` must not be moved. `texts` is borrowed, and gets further texts. Only error: MEMORY. */
struct argus_error *pprof_init(struct pprof_writer *ret, const struct argus_sink *to,
                               struct strtab *texts);
/* Writes the texts and the end of the file, and frees what belongs to the writer. Only error:
 * MEMORY, also of an earlier call. */
struct argus_error *pprof_end(struct pprof_writer *writer);

/* A value that each sample has, such as "cpu" in "nanoseconds". */
void pprof_add_type(struct pprof_writer *writer, const char *type, const char *unit);
/* The type that is shown at first. */
void pprof_choose_type(struct pprof_writer *writer, const char *type);
/* When the trace began, and how long it is. */
void pprof_add_time(struct pprof_writer *writer, uint64_t wall_ns, uint64_t length_ns);

/* A sample: its frames, from the innermost on; then a value for each type; then labels with a text,
 * or, if that is NULL, with a number. */
void pprof_add_frame_of_sample(struct pprof_writer *writer, uint32_t frame);
void pprof_add_value(struct pprof_writer *writer, int64_t value);
void pprof_add_label(struct pprof_writer *writer, const char *key, const char *text,
                     uint64_t number);
void pprof_end_sample(struct pprof_writer *writer);

/* Frame `frame` of the samples: a function, and its file; both are numbers of `texts`. File 0:
 * none. */
void pprof_add_frame(struct pprof_writer *writer, uint32_t frame, uint32_t name, uint32_t image);

/* The number of a text. */
uint32_t pprof_text(struct pprof_writer *writer, const char *text);

#endif
