/* Answers the questions of an analysis (argus/question.h). Sources, in this order: --answers;
 * --auto; otherwise the answers of the last time (plugin/answers/answer_book.h), then the user at a
 * terminal. If none has an answer, the question stays open, and the command says how to continue.
 *
 * To go back to the previous question, the walk is ended and repeated with one answer less:
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

/* The answers so far, for a walk that is repeated. */
struct answered {
    int answer;
    enum argus_answer_by by;
};

struct answers {
    const struct analysis *analysis;
    struct session *session;
    const struct arguments *arguments;
    VEC(struct answered) script;
    size_t asked;            /* number of questions in the current walk */
    const char *rest;        /* unused part of --answers; NULL: none */
    size_t used;             /* number of answers taken from that list */
    bool automatic;          /* --auto */
    bool may_prompt;         /* neither --auto nor --no-ask was given */
    bool back;               /* the walk has to be repeated */
    bool by_user;            /* the user has answered a question in this command */
    struct answer_book book; /* valid if `keeps` */
    const json_t *kept;      /* the book's walk; NULL: it has no further usable answers */
    size_t kept_used;        /* number of answers taken from it */
    bool keeps;              /* answers are kept */
    char bad_answer[160];    /* an answer that does not fit its question; "": none */
};

/* Reads the options. The asker uses `ret`, which must not be moved; `analysis` is borrowed. */
void answers_begin(const struct analysis *analysis, struct answers *ret);
struct argus_asker answers_asker(struct answers *answers);

/* Whether the user wants to go back. If so, frees the error of the walk that ended for it. */
bool answers_again(struct answers *answers, struct argus_error **error);

/* To be called after the analysis. Takes the engine's error and returns it or a better one. An open
 * question is the last of `asked`; it is printed with the command that answers it (with JSON
 * output, as a remark). Answers that the user gave are kept. */
struct argus_error *answers_finish(struct answers *answers, struct argus_error *error,
                                   const struct argus_asked *asked, size_t count);
void answers_deinit(struct answers *answers);

/* The meaning of a word for a question with `count` options; ANSWER_NONE if it has none. */
#define ANSWER_NONE (-100)
int answer_parse(const char *word, size_t count);

/* Writes a question and its options, one per line. */
void answers_write_question(FILE *out, const struct argus_graph *graph,
                            const struct argus_question *question);

#endif
