/* Questions: a walk asks where the graph is ambiguous. The answer comes from a person, a list, or a
 * default.
 *
 * The engine calls `ask` for every question, in a fixed order for the same trace and the same
 * answers. The front end decides where answers come from: a prompt, --answers, --auto. The engine
 * records every question with its answer and the source of the answer, for the report.
 */
#ifndef ARGUS_QUESTION_H
#define ARGUS_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum argus_question_kind {
    ARGUS_QUESTION_HANG,        /* which hang or process is meant */
    ARGUS_QUESTION_PREDECESSOR, /* several causes: which one to follow */
    ARGUS_QUESTION_WEAK,        /* a weak edge: follow it or stop */
    ARGUS_QUESTION_BASELINE,    /* several similar vertices: which one is the normal case */
    ARGUS_QUESTION_CULPRIT,     /* continue with this culprit or stop */
};

struct argus_option {
    const char *text; /* one line */
    uint32_t vertex;  /* the vertex of this option, ARGUS_NONE for "stop" */
};

struct argus_question {
    enum argus_question_kind kind;
    const char *text; /* one line that ends in "?" */
    const struct argus_option *options;
    size_t option_count;
    size_t default_option;
    const char *default_reason; /* why the default is the default */
    /* the option that comes second to the default; if equal to the default, the first other
     * option */
    size_t runner_up;
};

/* Special answers of an asker. */
enum { ARGUS_ANSWER_OPEN = -1, ARGUS_ANSWER_STOP = -2, ARGUS_ANSWER_DEFAULT = -3 };

/* Source of an answer: a person just now; --answers; the default; a person who answered this
 * question on an earlier run. */
enum argus_answer_by { ARGUS_BY_USER, ARGUS_BY_LIST, ARGUS_BY_AUTO, ARGUS_BY_FILE };

/* Returns the index of an option, or ARGUS_ANSWER_STOP (end the walk here), ARGUS_ANSWER_DEFAULT
 * (take the default), ARGUS_ANSWER_OPEN (no answer is available: the command ends with
 * ARGUS_ERROR_QUESTION). `*ret_by` is the source of the answer. */
typedef int (*argus_ask)(void *context, const struct argus_question *question,
                         enum argus_answer_by *ret_by);

struct argus_asker {
    argus_ask ask;
    void *context;
};

/* An asker that takes every default (--auto). */
struct argus_asker argus_asker_auto(void);

/* A question and its answer. All strings are owned by the result that contains it. */
struct argus_asked {
    enum argus_question_kind kind;
    char *text;
    char **options;
    size_t option_count;
    size_t default_option;
    char *default_reason;
    size_t runner_up;
    int answer; /* option index, or ARGUS_ANSWER_STOP, or ARGUS_ANSWER_OPEN if it is still open */
    enum argus_answer_by by;
};

/* The option that came second to the default; option_count if there is no other. */
size_t argus_asked_runner_up(const struct argus_asked *asked);

const char *argus_question_kind_name(enum argus_question_kind kind); /* "hang", "predecessor" … */

#ifdef __cplusplus
}
#endif
#endif
