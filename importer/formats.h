/* The formats that argus-import reads, and how a file's format is recognised. */
#ifndef ARGUS_IMPORTER_FORMATS_H
#define ARGUS_IMPORTER_FORMATS_H

#include <stddef.h>
#include <stdio.h>

#include "import_sink.h"

struct format {
    const char *name; /* "perf.data" */
    /* Whether a file that begins with these bytes, or the folder `path` (length 0), may be one. */
    bool (*matches)(const char *path, const unsigned char *bytes, size_t length);
    /* Puts the content of the file into the sink. Errors name offset and reason, where known. */
    struct argus_error *(*read)(const char *path, struct sink *sink);
    bool is_of_a_library; /* that parses the bytes, and may end the process if they are damaged */
};

/* The format of the file or folder; NULL in `*ret`: none of the known ones. */
struct argus_error *format_find(const char *path, const struct format **ret);

/* The format of this number, in the order in which they are tried; NULL: there are not so many. */
const struct format *format_at(size_t number);

/* Prints the name of each format, one a line. */
void formats_print(FILE *out);

/* To add a format: a file with such a row, and its name here and in rows[] of formats.c. */
extern const struct format format_perf_data, format_trace_dat, format_ctf, format_perfetto,
    format_systrace, format_atrace, format_chrome, format_ftrace_text;

#endif
