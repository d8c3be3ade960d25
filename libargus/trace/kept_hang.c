#include "argus/kept_hang.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/append_note.h"

#define HANG_FORM                                                                                  \
    "kept for a hang: pid %" PRIu64 ", tid %" PRIu64 ", from %" PRIu64 " ns, for %" PRIu64         \
    " ns, %s, of %s"
#define DIAGNOSIS_FORM "diagnosed: %s, signature %016" PRIx64 ", %s"

/* --- reading --- */

static bool take_text(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_number(const char **at, int base, uint64_t *ret)
{
    char *end;
    unsigned char first = (unsigned char)**at;
    if (!(base == 16 ? isxdigit(first) : isdigit(first))) /* strtoull() accepts blanks and signs */
        return false;
    errno = 0;
    *ret = strtoull(*at, &end, base);
    *at = end;
    return errno == 0;
}

static bool read_hang(const char *at, struct argus_kept_hang *ret)
{
    struct argus_kept_hang hang = *ret;
    if (!take_text(&at, "kept for a hang: pid ") || !take_number(&at, 10, &hang.pid) ||
        !take_text(&at, ", tid ") || !take_number(&at, 10, &hang.tid) ||
        !take_text(&at, ", from ") || !take_number(&at, 10, &hang.start_ns) ||
        !take_text(&at, " ns, for ") || !take_number(&at, 10, &hang.duration_ns) ||
        !take_text(&at, " ns, "))
        return false;
    hang.over = take_text(&at, "over");
    if ((!hang.over && !take_text(&at, "lasting")) || !take_text(&at, ", of "))
        return false;
    if (hang.duration_ns > UINT64_MAX - hang.start_ns) /* the end of the hang must not overflow */
        return false;
    snprintf(hang.process, sizeof(hang.process), "%s", at);
    *ret = hang;
    return true;
}

static bool read_diagnosis(const char *at, struct argus_kept_hang *ret)
{
    uint64_t signature;
    if (!take_text(&at, "diagnosed: "))
        return false;
    const char *type = at;
    size_t length = strcspn(type, ",");
    at += length;
    if (length == 0 || length >= sizeof(ret->type) || !take_text(&at, ", signature ") ||
        !take_number(&at, 16, &signature) || !take_text(&at, ", "))
        return false;
    snprintf(ret->type, sizeof(ret->type), "%.*s", (int)length, type);
    snprintf(ret->cause, sizeof(ret->cause), "%s", at);
    ret->signature = signature;
    ret->diagnosed = true;
    return true;
}

bool argus_kept_hang_read(const char *note, struct argus_kept_hang *ret)
{
    return read_hang(note, ret) || read_diagnosis(note, ret);
}

bool argus_kept_hang_get(const struct argus_trace *trace, struct argus_kept_hang *ret)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    bool found = false;
    *ret = (struct argus_kept_hang){.pid = 0};
    for (size_t i = 0; i < count; i++) {
        if (read_hang(notes[i], ret))
            found = true;
        else
            read_diagnosis(notes[i], ret);
    }
    return found;
}

/* --- writing --- */

struct argus_error *argus_kept_hang_append(const char *path, const struct argus_kept_hang *hang)
{
    char text[256];
    snprintf(text, sizeof(text), HANG_FORM, hang->pid, hang->tid, hang->start_ns, hang->duration_ns,
             hang->over ? "over" : "lasting", hang->process);
    return trace_append_note(path, text);
}

struct argus_error *argus_kept_hang_append_diagnosis(const char *path,
                                                     const struct argus_kept_hang *hang)
{
    char text[640];
    snprintf(text, sizeof(text), DIAGNOSIS_FORM, hang->type, hang->signature, hang->cause);
    return trace_append_note(path, text);
}
