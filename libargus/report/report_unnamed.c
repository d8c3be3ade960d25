#include "report/report_unnamed.h"

#include <stdarg.h>
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

static void __attribute__((format(printf, 4, 5)))
add_text(char *buffer, size_t bytes, size_t *used, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = *used < bytes ? vsnprintf(buffer + *used, bytes - *used, format, list) : 0;
    va_end(list);
    *used += length > 0 ? (size_t)length : 0;
}

const char *argus_report_unnamed(const struct argus_symbols *symbols, char *buffer,
                                 size_t buffer_bytes)
{
    struct argus_shown_frames shown;
    uint64_t count = count_unnamed(symbols, &shown);
    size_t used = 0;
    if (!count)
        return NULL;
    add_text(buffer, buffer_bytes, &used, "%llu of %llu frames %s no symbol, because ",
             (unsigned long long)count, (unsigned long long)shown.frames,
             count == 1 ? "has" : "have");
    const char *between = "";
    for (int i = 0; i < ARGUS_LACKS; i++) {
        if (!shown.unnamed[i])
            continue;
        add_text(buffer, buffer_bytes, &used, "%s%s", between, argus_lack_text((enum argus_lack)i));
        if (shown.unnamed[i] < count)
            add_text(buffer, buffer_bytes, &used, " (%llu)", (unsigned long long)shown.unnamed[i]);
        between = ", ";
    }
    return buffer;
}

void report_unnamed(const struct argus_sink *sink, const struct argus_symbols *symbols)
{
    char text[512];
    if (!argus_report_unnamed(symbols, text, sizeof(text)))
        return;
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
