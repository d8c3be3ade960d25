/* What the parts of the page share: escaping, figures, places in percent. */
#ifndef ARGUS_PAGE_HTML_H
#define ARGUS_PAGE_HTML_H

#include "argus/page.h"

/* Text or an attribute's value in double quotes: what has a meaning in HTML becomes a reference, a control character and what is no
 * UTF-8 a sign that says so. */
void html_text(const struct argus_sink *sink, const char *text);
/* The same of what printf() would print. */
void html_textf(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* " data-t=\"…\"", what the page shows when one points there. */
void html_tip(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "12.3 ms", with a sign if it is not positive or `plus`. Into `buffer`, which is returned. */
const char *html_time(double ns, bool plus, char *buffer, size_t bytes);

/* A stretch of time that fills the width of a picture. */
struct html_scale {
    uint64_t from_ns, to_ns;
};

/* Where `ns` is, in percent of the width; what is outside is at the edge. */
double html_percent(const struct html_scale *scale, uint64_t ns);

/* Lines and labels of time for an SVG, from `zero_ns` on, `height` pixels high. */
void html_axis(const struct argus_sink *sink, const struct html_scale *scale, uint64_t zero_ns,
               unsigned height);

#endif
