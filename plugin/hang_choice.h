/* Chooses the hang that `argus diagnose` explains: the one that the user named, the one that the
 * trace was kept for, the only one, or the answer to a question. */
#ifndef ARGUS_PLUGIN_HANG_CHOICE_H
#define ARGUS_PLUGIN_HANG_CHOICE_H

#include "plugin/hang_options.h"

struct hang_choice {
    struct argus_hang hang;
    struct argus_asked *asked; /* owned; if there were several hangs: the question which one */
    size_t asked_count;
};

/* Chooses by the word after FILE (a vertex, or an index in `argus hangs`) or by the options. The
 * error is ARGUS_ERROR_QUESTION if the question was not answered; `ret->asked` then has it.
 * Call hang_choice_deinit() in any case. */
struct argus_error *hang_choice_make(const struct analysis *analysis,
                                     const struct argus_hang_options *options,
                                     struct argus_asker asker, struct hang_choice *ret);
void hang_choice_deinit(struct hang_choice *choice);

#endif
