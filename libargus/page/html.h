/* Shared by the parts of the page: escaping, numbers, positions in percent. */
#ifndef ARGUS_PAGE_HTML_H
#define ARGUS_PAGE_HTML_H

#include "argus/page.h"

/* The beginning of a page, up to its body, and its end with the script, from </main> on (page.c).
 */
void html_begin(const struct argus_sink *sink, const char *title);
void html_end(const struct argus_sink *sink);

/* Writes text, or an attribute's value in double quotes. Characters with a meaning in HTML become
 * references; control characters and invalid UTF-8 become visible signs. */
void html_text(const struct argus_sink *sink, const char *text);
/* The same for the output of printf(). */
void html_textf(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes " data-t=\"…\"": the text that the page shows when the pointer is on the element. */
void html_tip(const struct argus_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "12.3 ms", with a sign if it is not positive or if `plus`. Written into `buffer`, which is
 * returned. */
const char *html_time(double ns, bool plus, char *buffer, size_t bytes);

/* A period of time that fills the width of a picture. */
struct html_scale {
    uint64_t from_ns, to_ns;
};

/* The position of `ns` in percent of the width; times outside the period are at the edge. */
double html_percent(const struct html_scale *scale, uint64_t ns);

/* Writes lines and labels of the time axis for an SVG, starting at `zero_ns`, `height` pixels
 * high. */
void html_axis(const struct argus_sink *sink, const struct html_scale *scale, uint64_t zero_ns,
               unsigned height);

#endif
