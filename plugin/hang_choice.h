/* Which hang `argus diagnose` explains: the one that is named, the one that the trace was kept for, the
 * only one, or a question. */
#ifndef ARGUS_PLUGIN_HANG_CHOICE_H
#define ARGUS_PLUGIN_HANG_CHOICE_H

#include "plugin/hang_options.h"

struct hang_choice {
    struct argus_hang hang;
    struct argus_asked asked; /* owned while `has_asked` */
    bool has_asked;           /* there were several hangs, and the asker was asked */
};

/* Chooses by the word behind FILE (a vertex, a number of `argus hangs`) or by the options. The error is ARGUS_ERROR_QUESTION
 * when nobody answered; `ret->asked` is then filled. End with hang_choice_deinit() in any case. */
struct argus_error *hang_choice_make(const struct analysis *analysis,
                                     const struct argus_hang_options *options,
                                     struct argus_asker asker, struct hang_choice *ret);
void hang_choice_deinit(struct hang_choice *choice);

#endif
