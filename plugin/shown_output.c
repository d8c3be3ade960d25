#include "plugin/shown_output.h"

#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/shown.h"

struct shown_output {
    struct shown shown;
    FILE *to;
    bool owned;
    uint64_t left_bytes; /* that may still be written */
};

static bool write_to(void *context, const char *text, size_t bytes)
{
    const struct shown_output *output = context;
    return fwrite(text, 1, bytes, output->to) == bytes;
}

static bool put(struct shown_output *output, const char *text, size_t bytes)
{
    if (bytes > output->left_bytes)
        return false;
    output->left_bytes -= bytes;
    return shown_put(&output->shown, text, bytes, write_to, output) && !fflush(output->to);
}

static int close_output(void *cookie)
{
    struct shown_output *output = cookie;
    bool done = shown_end(&output->shown, write_to, output) && !fflush(output->to);
    if (output->owned && fclose(output->to))
        done = false;
    free(output);
    return done ? 0 : EOF;
}

#ifdef __APPLE__

static int write_cookie(void *cookie, const char *text, int bytes)
{
    return put(cookie, text, (size_t)bytes) ? bytes : -1;
}

static FILE *open_cookie(struct shown_output *output)
{
    return funopen(output, NULL, write_cookie, NULL, close_output);
}

#else

static ssize_t write_cookie(void *cookie, const char *text, size_t bytes)
{
    return put(cookie, text, bytes) ? (ssize_t)bytes : 0; /* fopencookie(3): 0 is an error */
}

static FILE *open_cookie(struct shown_output *output)
{
    return fopencookie(output, "w",
                       (cookie_io_functions_t){.write = write_cookie, .close = close_output});
}

#endif

static FILE *open_limited(FILE *to, bool colours, bool owned, uint64_t most_bytes)
{
    struct shown_output *output = calloc(1, sizeof(*output));
    if (!output)
        return NULL;
    *output = (struct shown_output){
        .shown = {.lines = true, .colours = colours},
        .to = to,
        .owned = owned,
        .left_bytes = most_bytes,
    };
    FILE *out = open_cookie(output);
    if (!out) {
        free(output);
        return NULL;
    }
    int fd = fileno(to);
    if (fd >= 0 && isatty(fd))
        setvbuf(out, NULL, _IOLBF, BUFSIZ);
    return out;
}

FILE *shown_output_open(FILE *to, bool colours, bool owned)
{
    return open_limited(to, colours, owned, UINT64_MAX);
}

FILE *shown_output_open_limited(FILE *to, bool colours, uint64_t most_bytes)
{
    return open_limited(to, colours, false, most_bytes);
}
