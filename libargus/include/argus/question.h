/* Questions: a walk asks where the graph is ambiguous. The answer comes from a person, a list, or a
 * default.
 *
 * The engine calls `ask` for every question, in a fixed order for the same trace and the same
 * answers. The front end decides where answers come from: a prompt, --answers, --auto. The engine
 * records every question with its answer and the source of the answer, for the report.
 *
 * A question has no words: argus_question_text() and its companions (argus/report.h) put it into a
 * sentence, for the prompt as for the report.
 */
#ifndef ARGUS_QUESTION_H
#define ARGUS_QUESTION_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum argus_question_kind {
    ARGUS_QUESTION_HANG,        /* several hangs: which one to explain */
    ARGUS_QUESTION_PREDECESSOR, /* several causes: which one to follow */
    ARGUS_QUESTION_WEAK,        /* a weak edge: follow it or stop */
    ARGUS_QUESTION_BASELINE,    /* several similar vertices: which one is the normal case */
};

/* How alike two vertices are, from 0 to 1 in each part. */
struct argus_likeness {
    double stack;  /* where they waited */
    double before; /* what they did before */
    double peers;  /* with which threads they communicated */
    double object; /* what they waited for */
    /* what the `depth` vertices before them were; not compared if `depth` is 0 */
    double context;
    uint32_t depth;
    bool one_graph;   /* both are of one graph */
    bool same_thread; /* of the same thread; in two graphs: of threads with the same name */
    enum argus_outcome outcome; /* of the wait of the second one */
};

enum argus_option_kind {
    ARGUS_OPTION_STOP,     /* the walk ends here */
    ARGUS_OPTION_NONE,     /* none of the other options */
    ARGUS_OPTION_CAUSE,    /* an edge to follow */
    ARGUS_OPTION_BASELINE, /* a normal case */
    ARGUS_OPTION_HANG,     /* a hang to explain */
};

#define ARGUS_SHARED_FUNCTION_BYTES 61

struct argus_option {
    enum argus_option_kind kind;
    uint32_t vertex; /* ARGUS_NONE: the option has no vertex */
    union {
        struct {
            uint32_t edge;
            /* the wait that the edge ended, and how long its source worked during it; 0: the edge
             * ended no wait */
            uint64_t waited_ns, worked_ns;
            /* a rare function that both stacks have ("": none), and how many vertices have it */
            char function[ARGUS_SHARED_FUNCTION_BYTES];
            uint32_t function_vertices;
        } cause;
        struct {
            uint32_t process; /* its thread ended the wait of `vertex` */
            struct argus_likeness likeness;
        } baseline;
        struct {
            uint32_t thread;
            enum argus_vertex_type type;
            uint64_t start_ns, end_ns;
        } hang;
    };
};

/* Why the default option is the default. */
enum argus_default_reason {
    ARGUS_DEFAULT_ONLY,            /* nothing else is known */
    ARGUS_DEFAULT_LATEST,          /* the latest cause */
    ARGUS_DEFAULT_LATEST_STRONG,   /* the latest of the strong ones */
    ARGUS_DEFAULT_SURER_CAUSES,    /* what is behind it is surer than what is behind the others */
    ARGUS_DEFAULT_ENDED_WAIT,      /* it ended the wait before the vertex */
    ARGUS_DEFAULT_SHARED_FUNCTION, /* both stacks have a rare function: that of the option */
    ARGUS_DEFAULT_MOST_SIMILAR,
    ARGUS_DEFAULT_LONGEST,
};

struct argus_question {
    enum argus_question_kind kind;
    uint32_t vertex; /* what the question is about; ARGUS_NONE for a hang */
    bool again;      /* of a baseline: after the path of another one, on which all was normal */
    const struct argus_option *options;
    size_t option_count;
    size_t default_option;
    enum argus_default_reason default_reason;
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

/* A question and its answer. The options are owned by the result that contains it. */
struct argus_asked {
    struct argus_question question;
    int answer; /* option index, or ARGUS_ANSWER_STOP, or ARGUS_ANSWER_OPEN if it is still open */
    enum argus_answer_by by;
};

/* The option that came second to the default; option_count if there is no other. */
size_t argus_asked_runner_up(const struct argus_asked *asked);

#ifdef __cplusplus
}
#endif
#endif
