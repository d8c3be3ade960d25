#include "plugin/json_output.h"

#include "base/wall_time.h"

struct argus_error *json_output(struct session *session, const char *format, json_t *json)
{
    if (format)
        json = json_with_format(format, json);
    if (!json_is_whole(json)) {
        json_decref(json);
        return argus_error_memory();
    }
    int failed = json_dumpf(json, session->out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(json);
    session_printf(session, "\n");
    if (failed)
        return argus_error_create(ARGUS_ERROR_IO, "cannot write the JSON");
    return NULL;
}

const char *clock_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                       size_t buffer_bytes)
{
    return wall_clock_text(argus_trace_ns_to_wall_ns(trace, ns), 9, buffer, buffer_bytes);
}
