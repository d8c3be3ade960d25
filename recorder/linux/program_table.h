/* The BPF programs: which tracepoint each belongs to, and what is lost without it. */
#ifndef ARGUS_RECORDER_LINUX_PROGRAM_TABLE_H
#define ARGUS_RECORDER_LINUX_PROGRAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "category.h"

/* A setting of struct bpf_settings (an offset) that is only true while this program runs; the other programs of the same
 * setting are then left out as well, because they do the work together. */
#define PROGRAM_NO_SETTING ((size_t)-1)

struct program_row {
    enum category category;
    const char *program;      /* function in bpf/ */
    const char *tracepoint;   /* name of the raw tracepoint; NULL: attached elsewhere */
    const char *lost_without; /* ends the sentence "this kernel has no tracepoint …: " */
    bool required;            /* without it the trace is worth nothing: another backend has to do */
    size_t setting;           /* PROGRAM_NO_SETTING, or see above */
};

extern const struct program_row program_table[];
extern const size_t program_table_length;

#endif
