/* Who answers the questions of an analysis (argus/question.h): --answers first, then --auto or a person at a terminal;
 * otherwise the question stays open, and the command says how to go on.
 */
#ifndef ARGUS_PLUGIN_ANSWERS_H
#define ARGUS_PLUGIN_ANSWERS_H

#include "argus/question.h"
#include "plugin/command.h"

#define ANSWERS_OPTIONS                                                                            \
    {"answers", 0, "LIST", "answer the questions in order: numbers, 'stop', 'default'"},           \
        {"auto", 0, NULL, "take the default of every question that is not answered"},              \
    {                                                                                              \
        "no-ask", 0, NULL, "do not prompt; an open question is a failure"                          \
    }

struct answers {
    struct session *session;
    const struct arguments *arguments;
    const char *rest;     /* of --answers, not used yet; NULL: none */
    size_t used;          /* answers taken from the list */
    bool automatic;       /* --auto */
    bool may_prompt;      /* neither --auto nor --no-ask */
    char bad_answer[160]; /* an answer of the list that does not fit its question; "" none */
};

/* Reads the options. `ret` is what the asker works on, and must stay where it is. */
void answers_begin(struct session *session, const struct arguments *arguments, struct answers *ret);
struct argus_asker answers_asker(struct answers *answers);

/* After the analysis: takes the engine's error and returns it, or a better one. An open question, the last of `asked`, is
 * printed with the command that answers it (beside JSON as a remark). */
struct argus_error *answers_finish(struct answers *answers, struct argus_error *error,
                                   const struct argus_asked *asked, size_t count);

#endif
