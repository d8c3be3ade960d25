#include "trace/kdebug.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/file.h"

/* By the first four bytes. The byte-swapped magics are there for a clear error message: big-endian
 * Macs no longer produce traces. */
static const struct kdebug_format kdebug_formats[] = {
    {0x55aa0101, "kdebug V1", kdebug_v1_read},
    {0x55aa0200, "kdebug V2", kdebug_v2_read},
    {0x55aa0300, "kdebug V3", kdebug_v3_read},
    {0x00001000, "kdebug V3 (kernel)", kdebug_v3_read},
};

const struct kdebug_format *kdebug_find(uint32_t magic)
{
    for (size_t i = 0; i < sizeof(kdebug_formats) / sizeof(*kdebug_formats); i++)
        if (kdebug_formats[i].magic == magic)
            return &kdebug_formats[i];
    return NULL;
}

struct argus_error *kdebug_bad(const struct kdebug_file *file, uint64_t offset_bytes,
                               const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s: offset %" PRIu64 ": %s", file->trace->path,
                              offset_bytes, reason);
}

struct argus_error *kdebug_get(const struct kdebug_file *file, void *to, size_t length,
                               uint64_t offset_bytes)
{
    int failed = file_read(file->trace->fd, to, length, offset_bytes);
    if (failed == ENODATA)
        return kdebug_bad(file, offset_bytes, "the file ends before the %zu bytes that are wanted",
                          length);
    return failed ? argus_error_os(failed, "cannot read %s", file->trace->path) : NULL;
}

static struct argus_error *keep_text(const struct argus_trace *trace, const char *text,
                                     const char **ret)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(trace->strings, text, strlen(text), &id);
    if (!error)
        *ret = strtab_get(trace->strings, id);
    return error;
}

struct argus_error *kdebug_damage(const struct kdebug_file *file, uint64_t offset_bytes,
                                  uint64_t length_bytes, const char *reason)
{
    struct argus_damage damage = {.offset_bytes = offset_bytes, .length_bytes = length_bytes};
    struct argus_error *error = keep_text(file->trace, reason, &damage.reason);
    if (error)
        return error;
    return vec_push(&file->trace->damage, damage) ? NULL : argus_error_memory();
}

struct argus_error *kdebug_note(const struct kdebug_file *file, const char *format, ...)
{
    char text[256];
    const char *kept;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    utf8_repair(text, strlen(text));
    struct argus_error *error = keep_text(file->trace, text, &kept);
    if (error)
        return error;
    return vec_push(&file->trace->tables.notes, kept) ? NULL : argus_error_memory();
}

struct argus_error *kdebug_add_span(struct kdebug_file *file, uint64_t offset_bytes,
                                    uint64_t length_bytes)
{
    uint64_t file_bytes = file->trace->file_bytes;
    uint64_t left = offset_bytes < file_bytes ? file_bytes - offset_bytes : 0;
    uint64_t inside = length_bytes < left ? length_bytes : left;
    uint64_t whole = inside - inside % kdebug_record_bytes(file->narrow);
    struct argus_error *error = NULL;
    if (inside < length_bytes) {
        file->trace->complete = false;
        error = kdebug_damage(file, offset_bytes + whole, inside - whole,
                              "the records are cut off by the end of the file");
    } else if (whole < inside) {
        error = kdebug_damage(file, offset_bytes + whole, inside - whole,
                              "the last record is not whole");
    }
    struct kdebug_span span = {.offset_bytes = offset_bytes, .length_bytes = whole};
    if (!error && whole && !vec_push(&file->spans, span))
        error = argus_error_memory();
    return error;
}

bool kdebug_set_timebase(struct kdebug_file *file, uint64_t numer, uint64_t denom)
{
    /* mach_timebase_info() returns 1/1 on Intel and 125/3 on Apple silicon. */
    if (!numer || !denom || numer > UINT32_MAX || denom > UINT32_MAX)
        return false;
    file->trace->header.timebase_numer = (uint32_t)numer;
    file->trace->header.timebase_denom = (uint32_t)denom;
    file->trace->header.arch = numer == denom ? ARGUS_ARCH_X86_64 : ARGUS_ARCH_AARCH64;
    file->has_timebase = true;
    return true;
}

static struct argus_error *say_what_is_missing(const struct kdebug_file *file)
{
    struct argus_error *error = NULL;
    if (file->skipped)
        error =
            kdebug_note(file, "%u chunk%s of other kinds (stackshot, configuration …) passed over",
                        file->skipped, file->skipped == 1 ? "" : "s");
    if (!error && !file->has_timebase)
        error = kdebug_note(
            file,
            "the file does not say how long a tick is; by its records this is %s, so %u/%u ns "
            "(argus import --timebase says otherwise)",
            file->trace->header.arch == ARGUS_ARCH_AARCH64 ? "Apple silicon" : "Intel",
            file->trace->header.timebase_numer, file->trace->header.timebase_denom);
    if (!error && !file->has_wall)
        error = kdebug_note(file, "the file does not tell the time of day: it begins in 1970");
    return error;
}

struct argus_error *kdebug_open(struct argus_trace *trace, const struct kdebug_format *format)
{
    struct kdebug_file file = {.trace = trace};
    trace->kdebug = format;
    trace->complete = true;
    trace->header = (struct argus_trace_header){
        .os = ARGUS_OS_DARWIN,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 1,
    };
    snprintf(trace->header.host, sizeof(trace->header.host), "Darwin");
    struct argus_error *error = format->read(&file);
    trace->kdebug_narrow = file.narrow;
    if (!error)
        error = kdebug_index(&file);
    if (!error)
        error = say_what_is_missing(&file);
    if (!error && !tables_finish(&trace->tables))
        error = argus_error_memory();
    vec_deinit(&file.spans);
    return error;
}
