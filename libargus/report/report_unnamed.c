#include "report/report_unnamed.h"

#include <stdio.h>

#include "report/lines.h"

static uint64_t count_unnamed(const struct argus_symbols *symbols, struct argus_shown_frames *ret)
{
    uint64_t count = 0;
    *ret = (struct argus_shown_frames){0};
    if (symbols)
        argus_symbols_shown(symbols, ret);
    for (int i = 0; i < ARGUS_LACKS; i++)
        count += ret->unnamed[i];
    return count;
}

void report_unnamed(const struct argus_sink *sink, const struct argus_symbols *symbols)
{
    struct argus_shown_frames shown;
    uint64_t count = count_unnamed(symbols, &shown);
    char text[512];
    const char *between = "";
    if (!count)
        return;
    int used = snprintf(text, sizeof(text), "%llu of %llu frames %s no symbol, because ",
                        (unsigned long long)count, (unsigned long long)shown.frames,
                        count == 1 ? "has" : "have");
    for (int i = 0; i < ARGUS_LACKS; i++) {
        const char *reason = argus_lack_text((enum argus_lack)i);
        if (!shown.unnamed[i])
            continue;
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s", between, reason);
        if (shown.unnamed[i] < count)
            used += snprintf(text + used, sizeof(text) - (size_t)used, " (%llu)",
                             (unsigned long long)shown.unnamed[i]);
        between = ", ";
    }
    argus_sink_printf(sink, "\n");
    report_wrapped(sink, 0, text);
}

json_t *json_unnamed(const struct argus_symbols *symbols)
{
    struct argus_shown_frames shown;
    uint64_t count = count_unnamed(symbols, &shown);
    if (!count)
        return json_null();
    json_t *json = json_object(), *why = json_array();
    json_put(json, "frames", json_integer((json_int_t)shown.frames));
    json_put(json, "unnamed", json_integer((json_int_t)count));
    for (int i = 0; i < ARGUS_LACKS; i++) {
        if (!shown.unnamed[i])
            continue;
        json_t *one = json_object();
        json_put(one, "frames", json_integer((json_int_t)shown.unnamed[i]));
        json_put(one, "reason", json_text(argus_lack_text((enum argus_lack)i)));
        json_add(why, one);
    }
    json_put(json, "why", why);
    return json;
}
