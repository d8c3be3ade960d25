/* Questions: where the graph is ambiguous a walk asks, and the answer comes from a person, a list, or a default.
 *
 * The engine calls `ask` for every question, in a fixed order for the same trace and the same answers. Who answers
 * is the front end's business: a prompt, --answers, --auto. The engine writes down every question with
 * its answer and who gave it, for the report.
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
    ARGUS_QUESTION_BASELINE,    /* several similar vertices: which is the normal case */
    ARGUS_QUESTION_CULPRIT,     /* go on into this culprit or stop */
};

struct argus_option {
    const char *text; /* one line */
    uint32_t vertex;  /* what it is about, ARGUS_NONE for "stop" */
};

struct argus_question {
    enum argus_question_kind kind;
    const char *text; /* one line, ends in "?" */
    const struct argus_option *options;
    size_t option_count;
    size_t default_option;
    const char *default_reason; /* why it is the default */
    size_t
        runner_up; /* what would be the default without the default; the same: the first other option */
};

/* Answers of an asker. */
enum { ARGUS_ANSWER_OPEN = -1, ARGUS_ANSWER_STOP = -2, ARGUS_ANSWER_DEFAULT = -3 };

/* Somebody just now; --answers; the default; what somebody answered to this question an earlier time. */
enum argus_answer_by { ARGUS_BY_USER, ARGUS_BY_LIST, ARGUS_BY_AUTO, ARGUS_BY_FILE };

/* Returns an option's index, or ARGUS_ANSWER_STOP (end the walk here), ARGUS_ANSWER_DEFAULT (take the default),
 * ARGUS_ANSWER_OPEN (nobody can answer now: the command ends with ARGUS_ERROR_QUESTION). `*ret_by` says who answered. */
typedef int (*argus_ask)(void *context, const struct argus_question *question,
                         enum argus_answer_by *ret_by);

struct argus_asker {
    argus_ask ask;
    void *context;
};

/* An asker that takes every default: --auto. */
struct argus_asker argus_asker_auto(void);

/* A question that was asked, with its answer. All strings are owned by the result that holds it. */
struct argus_asked {
    enum argus_question_kind kind;
    char *text;
    char **options;
    size_t option_count;
    size_t default_option;
    char *default_reason;
    size_t runner_up;
    int answer; /* option index, or ARGUS_ANSWER_STOP, or ARGUS_ANSWER_OPEN for the one that is open */
    enum argus_answer_by by;
};

/* The option that came second to the default; option_count when there is no other. */
size_t argus_asked_runner_up(const struct argus_asked *asked);

const char *argus_question_kind_name(enum argus_question_kind kind); /* "hang", "predecessor" … */

#ifdef __cplusplus
}
#endif
#endif
