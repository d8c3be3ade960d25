/* Writes one HTML page with all that is known about a trace: what was recorded and lost, the hangs
 * with their diagnoses as text and pictures, and the calling contexts as in figures 5 to 7 of the
 * IntroPerf paper.
 *
 * The page is one file that loads nothing from elsewhere. It is complete without scripts; its own
 * scripts add zooming, sorting and tooltips. Its size is bounded: pictures and tables say what they
 * leave out. Everything that comes from a trace is escaped, so a thread named "<script>" appears as
 * just that. The same result gives the same bytes.
 */
#ifndef ARGUS_PAGE_H
#define ARGUS_PAGE_H

#include "argus/contexts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hang and its diagnosis. */
struct argus_page_hang {
    const struct argus_hang *hang;
    const struct argus_diagnosis *diagnosis; /* NULL: none, and `note` says why */
    const char *note;                        /* NULL: nothing to add */
};

struct argus_page {
    const struct argus_hangs *hangs; /* NULL: the page shows contexts only */
    const struct argus_page_hang *diagnosed;
    size_t diagnosed_count;
    /* NULL: none, and `contexts_note` says why */
    const struct argus_contexts_report *contexts;
    const char *contexts_note; /* NULL: nothing to add */
};

/* Writes the page to context->sink. All arguments are borrowed. */
struct argus_error *argus_page_write(const struct argus_report_context *context,
                                     const struct argus_page *page);

#ifdef __cplusplus
}
#endif
#endif
