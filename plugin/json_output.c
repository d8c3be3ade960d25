#include "plugin/json_output.h"

#include <time.h>

struct argus_error *json_output(struct session *session, json_t *json)
{
    if (!json)
        return argus_error_memory();
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
    uint64_t wall_ns = argus_trace_ns_to_wall_ns(trace, ns);
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm utc = {0};
    char text[16] = "";
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof(text), "%H:%M:%S", &utc);
    snprintf(buffer, buffer_bytes, "%s.%09u", text, (unsigned)(wall_ns % 1000000000u));
    return buffer;
}
