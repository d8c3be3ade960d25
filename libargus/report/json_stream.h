/* An object with lists that may be longer than memory allows: each element is written, and freed,
 * as soon as it is made. The text is the same as that of json_write() for the whole object. */
#ifndef ARGUS_REPORT_JSON_STREAM_H
#define ARGUS_REPORT_JSON_STREAM_H

#include <stdbool.h>

#include "report/json.h"

struct json_stream {
    const struct argus_sink *sink; /* borrowed */
    bool has_member, has_element;
    bool closed; /* the sink accepts no more, which is not a failure */
    bool failed; /* no memory */
    /* jansson writes few bytes at a time */
    char pending[4096];
    size_t pending_bytes;
};

/* `format` is the first member, as in json_write(). After this the stream must be ended, but for an
 * error that takes the place of the answer. */
void json_stream_begin(struct json_stream *stream, const struct argus_sink *sink,
                       const char *format);
/* Writes a member, or the next element of the list, and frees it. NULL: no memory. False: nothing
 * that follows would be written, so it need not be made. */
bool json_stream_put(struct json_stream *stream, const char *key, json_t *value);
bool json_stream_add(struct json_stream *stream, json_t *element);
/* A member that is a list; json_stream_add() until its end. */
void json_stream_list(struct json_stream *stream, const char *key);
void json_stream_list_end(struct json_stream *stream);
/* MEMORY: something was not made, and the text ended there. */
struct argus_error *json_stream_end(struct json_stream *stream);

#endif
