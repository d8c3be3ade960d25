#include "page/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/whole_number.h"

#define CONTROL "\xc2\xb7" /* a middle dot */

static const char *reference_of(unsigned char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return "&#10;";
    default:
        return c < 0x20 || c == 0x7f ? CONTROL : NULL;
    }
}

/* `text` is well-formed UTF-8. */
static void write_text(const struct argus_sink *sink, const char *text)
{
    const char *from = text;
    for (; *text; text++) {
        const char *reference = reference_of((unsigned char)*text);
        if (!reference)
            continue;
        if (text > from)
            sink->write(sink->context, from, (size_t)(text - from));
        sink->write(sink->context, reference, strlen(reference));
        from = text + 1;
    }
    if (text > from)
        sink->write(sink->context, from, (size_t)(text - from));
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

void html_text(const struct argus_sink *sink, const char *text)
{
    char *copy = is_ascii(text) ? NULL : strdup(text);
    if (copy)
        utf8_repair(copy, strlen(copy));
    else if (!is_ascii(text))
        text = "?"; /* no memory */
    write_text(sink, copy ? copy : text);
    free(copy);
}

static void text_of(const struct argus_sink *sink, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        return;
    html_text(sink, text);
    free(text);
}

void html_textf(const struct argus_sink *sink, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_of(sink, format, arguments);
    va_end(arguments);
}

void html_tip(const struct argus_sink *sink, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    argus_sink_printf(sink, " data-t=\"");
    text_of(sink, format, arguments);
    argus_sink_printf(sink, "\"");
    va_end(arguments);
}

const char *html_time(double ns, bool plus, char *buffer, size_t bytes)
{
    char text[32];
    argus_duration_text(whole_number(fabs(ns)), text, sizeof(text));
    snprintf(buffer, bytes, "%s%s", ns < 0 ? "\xe2\x88\x92" : plus ? "+" : "", text);
    return buffer;
}

double html_percent(const struct html_scale *scale, uint64_t ns)
{
    if (ns <= scale->from_ns || scale->to_ns <= scale->from_ns)
        return 0;
    if (ns >= scale->to_ns)
        return 100;
    return (double)(ns - scale->from_ns) * 100 / (double)(scale->to_ns - scale->from_ns);
}

/* A step of 1, 2 or 5 times a power of ten, so that the width has at most six steps. */
static uint64_t step_of(uint64_t width_ns)
{
    uint64_t step = 1;
    while (width_ns / step > 6) {
        if (width_ns / (step * 2) <= 6)
            return step * 2;
        if (width_ns / (step * 5) <= 6)
            return step * 5;
        step *= 10;
    }
    return step;
}

void html_axis(const struct argus_sink *sink, const struct html_scale *scale, uint64_t zero_ns,
               unsigned height)
{
    uint64_t step = step_of(scale->to_ns - scale->from_ns);
    uint64_t before = zero_ns > scale->from_ns ? (zero_ns - scale->from_ns) / step : 0;
    uint64_t first_ns = zero_ns - before * step;
    uint64_t steps = scale->to_ns >= first_ns ? (scale->to_ns - first_ns) / step + 1 : 0;
    argus_sink_printf(sink, "<g class=\"axis\">");
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t at = first_ns + i * step;
        char text[40];
        double x = html_percent(scale, at);
        bool is_before = at < zero_ns;
        html_time(is_before ? -(double)(zero_ns - at) : (double)(at - zero_ns), at > zero_ns, text,
                  sizeof(text));
        argus_sink_printf(sink,
                          "<line x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"0\" y2=\"%u\"/>"
                          "<text x=\"%.3f%%\" y=\"%u\"%s>%s</text>",
                          x, x, height - 18, x, height - 4,
                          x > 92  ? " class=\"end\""
                          : x < 4 ? " class=\"begin\""
                                  : "",
                          at == zero_ns ? "0" : text);
    }
    argus_sink_printf(sink, "</g>\n");
}
