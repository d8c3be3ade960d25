/* Who answers the questions of an analysis (argus/question.h): --answers first, then --auto, or what was kept of the last
 * time (plugin/answers/answer_book.h) and then a person at a terminal; otherwise the question stays open, and the command says
 * how to go on.
 *
 * Whoever wants to go back to the question before ends the walk and has it done again, with one answer less:
 *
 *     answers_begin(&analysis, &answers);
 *     do
 *         error = walk(…, answers_asker(&answers));
 *     while (answers_again(&answers, &error));
 *     error = answers_finish(&answers, error, asked, count);
 *     answers_deinit(&answers);
 */
#ifndef ARGUS_PLUGIN_ANSWERS_H
#define ARGUS_PLUGIN_ANSWERS_H

#include "argus/question.h"
#include "base/vec.h"
#include "plugin/analysis.h"
#include "plugin/answers/answer_book.h"

#define ANSWERS_OPTIONS                                                                            \
    {"answers", 0, "LIST", "answer the questions in order: numbers, 'stop', 'default'"},           \
        {"auto", 0, NULL, "take the default of every question that is not answered"},              \
    {                                                                                              \
        "no-ask", 0, NULL, "do not prompt; an open question is a failure"                          \
    }

/* What was answered to the questions so far, for a walk that is done again. */
struct answered {
    int answer;
    enum argus_answer_by by;
};

struct answers {
    const struct analysis *analysis;
    struct session *session;
    const struct arguments *arguments;
    VEC(struct answered) script;
    size_t asked;            /* questions of the walk that is under way */
    const char *rest;        /* of --answers, not used yet; NULL: none */
    size_t used;             /* answers taken from that list */
    bool automatic;          /* --auto */
    bool may_prompt;         /* neither --auto nor --no-ask */
    bool back;               /* the walk is to be done again */
    bool by_user;            /* somebody has answered, here and now */
    struct answer_book book; /* when `keeps` */
    const json_t *kept;      /* the book's walk; NULL: nothing that is of use any more */
    size_t kept_used;        /* answers taken from it */
    bool keeps;              /* answers are kept */
    char bad_answer[160];    /* an answer that does not fit its question; "" none */
};

/* Reads the options. `ret` is what the asker works on, and must stay where it is; `analysis` is borrowed. */
void answers_begin(const struct analysis *analysis, struct answers *ret);
struct argus_asker answers_asker(struct answers *answers);

/* Whether the user wants to go back; takes the error of the walk that ended for it. */
bool answers_again(struct answers *answers, struct argus_error **error);

/* After the analysis: takes the engine's error and returns it, or a better one. An open question, the last of `asked`, is
 * printed with the command that answers it (beside JSON as a remark). What a person has answered is kept. */
struct argus_error *answers_finish(struct answers *answers, struct argus_error *error,
                                   const struct argus_asked *asked, size_t count);
void answers_deinit(struct answers *answers);

/* What a word means for a question with `count` options; ANSWER_NONE if nothing. */
#define ANSWER_NONE (-100)
int answer_parse(const char *word, size_t count);

/* Writes options as lines. */
void answers_write_options(FILE *out, const char *const *texts, size_t count, size_t default_option,
                           const char *reason);

#endif
