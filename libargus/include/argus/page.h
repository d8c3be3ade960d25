/* One HTML page with all that is known of a trace: what was recorded and lost, the hangs with their diagnoses as text and
 * as pictures, the calling contexts as in the IntroPerf paper's figures 5 to 7.
 *
 * The page is one file that loads nothing from elsewhere. Without scripts it is whole; with them (its own, in the page) one can
 * zoom, sort and point. Its size is bounded: what is left out of a picture or table is said there. All that comes from a
 * trace is written as text, so a thread that calls itself "<script>" is shown as just that. The same result gives the same bytes.
 */
#ifndef ARGUS_PAGE_H
#define ARGUS_PAGE_H

#include "argus/contexts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hang, and what was found out. */
struct argus_page_hang {
    const struct argus_hang *hang;
    const struct argus_diagnosis *diagnosis; /* NULL: there is none, `note` says why */
    const char *note;                        /* NULL: nothing to add */
};

struct argus_page {
    const struct argus_hangs *hangs; /* NULL: the page is about contexts only */
    const struct argus_page_hang *diagnosed;
    size_t diagnosed_count;
    const struct argus_contexts_report
        *contexts;             /* NULL: there are none, `contexts_note` says why */
    const char *contexts_note; /* NULL: nothing to add */
};

/* Writes the page to context->sink. All is borrowed. */
struct argus_error *argus_page_write(const struct argus_report_context *context,
                                     const struct argus_page *page);

#ifdef __cplusplus
}
#endif
#endif
