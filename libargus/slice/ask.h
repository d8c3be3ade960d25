/* The list of questions that one walk has asked. Shared by slice and diagnose. */
#ifndef ARGUS_SLICE_ASK_H
#define ARGUS_SLICE_ASK_H

#include "argus/error.h"
#include "argus/question.h"
#include "base/vec.h"

struct ask_list {
    struct argus_asker asker;
    VEC(struct argus_asked) asked;
};

/* Asks, and records question and answer. `*ret` is an option's index or ARGUS_ANSWER_STOP. An
 * answer that is no option counts as the default. If there is no answer: ARGUS_ERROR_QUESTION, and
 * the question is the last in the list. */
struct argus_error *ask(struct ask_list *list, const struct argus_question *question, int *ret);

/* Transfers the list to the caller, who owns the array. */
struct argus_asked *ask_list_take(struct ask_list *list, size_t *ret_count);

/* Frees what one of them owns. */
void asked_free_options(struct argus_asked *asked);
void asked_free(struct argus_asked *asked, size_t count);

#endif
