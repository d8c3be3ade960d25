/* The BPF programs: which tracepoint each belongs to, and what is lost without it. */
#ifndef ARGUS_RECORDER_LINUX_PROGRAM_TABLE_H
#define ARGUS_RECORDER_LINUX_PROGRAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "category.h"

#define PROGRAM_NO_SETTING ((size_t)-1)

struct program_row {
    enum category category;
    const char *program;      /* function in bpf/ */
    const char *tracepoint;   /* name of the raw tracepoint; NULL: attached elsewhere */
    const char *lost_without; /* ends the sentence "this kernel has no tracepoint …: " */
    bool required;            /* without it the trace is useless: another backend is tried */
    /* Offsets in struct bpf_settings, or PROGRAM_NO_SETTING. The first setting is true only if this
     * program and all others of the same setting run; if one is missing, all are left out. If the
     * second setting is true, this program is not needed. */
    size_t setting, instead_of;
};

#define PROGRAM_MOST 64 /* rows */

extern const struct program_row program_table[];
extern const size_t program_table_length;

#endif
