#include "argus/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compat.h"

static struct argus_error out_of_memory = {
    .code = ARGUS_ERROR_MEMORY,
    .message = "out of memory",
};

struct argus_error *argus_error_memory(void)
{
    return &out_of_memory;
}

/* Takes ownership of `message` (from malloc; NULL if that failed). */
static struct argus_error *error_from_message(enum argus_error_code code, char *message)
{
    struct argus_error *error = message ? malloc(sizeof(*error)) : NULL;
    if (!error) {
        free(message);
        return argus_error_memory();
    }
    error->code = code;
    error->message = message;
    return error;
}

static char *format_message(const char *format, va_list args)
{
    char *message = NULL;
    return vasprintf(&message, format, args) < 0 ? NULL : message;
}

struct argus_error *argus_error_create(enum argus_error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *message = format_message(format, args);
    va_end(args);
    return error_from_message(code, message);
}

struct argus_error *argus_error_os(int error_number, const char *format, ...)
{
    bool denied = error_number == EPERM || error_number == EACCES;
    va_list args;
    va_start(args, format);
    char *what = format_message(format, args);
    va_end(args);
    if (!what)
        return argus_error_memory();

    char reason[128], *message = NULL;
    if (asprintf(&message, "%s: %s", what, error_text(error_number, reason, sizeof(reason))) < 0)
        message = NULL;
    free(what);
    return error_from_message(denied ? ARGUS_ERROR_PERMISSION : ARGUS_ERROR_IO, message);
}

struct argus_error *argus_error_context(struct argus_error *error, const char *format, ...)
{
    if (error == &out_of_memory)
        return error;
    va_list args;
    va_start(args, format);
    char *context = format_message(format, args);
    va_end(args);
    if (!context)
        return error;

    char *message = NULL;
    if (asprintf(&message, "%s: %s", context, error->message) < 0)
        message = NULL;
    free(context);
    if (!message)
        return error;
    free((char *)error->message);
    error->message = message;
    return error;
}

struct argus_error *argus_error_replace(struct argus_error *error, char *message)
{
    if (error == &out_of_memory) {
        free(message);
        return error;
    }
    free((char *)error->message);
    error->message = message;
    return error;
}

void argus_error_destroy(struct argus_error *error)
{
    if (!error || error == &out_of_memory)
        return;
    free((char *)error->message);
    free(error);
}
