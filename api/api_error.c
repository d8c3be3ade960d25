#include "api/api.h"

#include <stdlib.h>
#include <string.h>

/* The published numbers never change, so they are not those of enum argus_error_code. */
static const enum argus_failure failures[] = {
    [ARGUS_ERROR_MEMORY] = ARGUS_FAILURE_MEMORY,
    [ARGUS_ERROR_IO] = ARGUS_FAILURE_IO,
    [ARGUS_ERROR_FORMAT] = ARGUS_FAILURE_FORMAT,
    [ARGUS_ERROR_VERSION] = ARGUS_FAILURE_VERSION,
    [ARGUS_ERROR_USAGE] = ARGUS_FAILURE_USAGE,
    [ARGUS_ERROR_NOT_FOUND] = ARGUS_FAILURE_NOT_FOUND,
    [ARGUS_ERROR_PERMISSION] = ARGUS_FAILURE_PERMISSION,
    [ARGUS_ERROR_UNSUPPORTED] = ARGUS_FAILURE_UNSUPPORTED,
    [ARGUS_ERROR_INTERRUPTED] = ARGUS_FAILURE_INTERRUPTED,
};

enum argus_failure argus_error_failure(const struct argus_error *error)
{
    bool known = (size_t)error->code < sizeof(failures) / sizeof(failures[0]);
    return known && failures[error->code] ? failures[error->code] : ARGUS_FAILURE_OTHER;
}

const char *argus_error_text(const struct argus_error *error)
{
    return error->message;
}

void argus_error_free(struct argus_error *error)
{
    argus_error_destroy(error);
}

/* --- text in memory --- */

static bool append(void *context, const char *text, size_t bytes)
{
    struct api_text *into = context;
    if (into->length + bytes + 1 > into->room) {
        size_t room = 2 * (into->length + bytes + 1);
        char *moved = realloc(into->text, room);
        if (!moved) {
            into->failed = true;
            return false;
        }
        into->text = moved;
        into->room = room;
    }
    memcpy(into->text + into->length, text, bytes);
    into->length += bytes;
    into->text[into->length] = '\0';
    return true;
}

struct argus_sink api_text_sink(struct api_text *text)
{
    return (struct argus_sink){append, text, 0, false};
}
