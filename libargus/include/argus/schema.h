/* A user's rules tell what Argus cannot know about a program by itself: which function puts work
 * into a queue and which function does it, where a unit of work begins and ends, which wake-ups
 * mean nothing. docs/man/argus-rules.5.md describes the text.
 *
 * A rule set is parsed from texts and then only read; several threads may read it at once. It is
 * used twice. During a recording, the rules about queues and units become probes in libraries
 * (plugin/probes/rule_probes.c). During the build of a graph, the records of those probes and the
 * stacks of wake-ups are matched with the rules (graph/schema/). The built-in rules are rows of
 * graph/rules.def and need no set.
 */
#ifndef ARGUS_SCHEMA_H
#define ARGUS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The statement of a rule; graph/schema/rule_kinds.c is the table. */
enum argus_rule_kind {
    ARGUS_RULE_ENQUEUE,
    ARGUS_RULE_CANCEL,
    ARGUS_RULE_EXECUTE,
    ARGUS_RULE_BEGIN,
    ARGUS_RULE_END,
    ARGUS_RULE_IGNORE_WAKEUPS,
    ARGUS_RULE_WEAK_WAKEUPS,
    ARGUS_RULE_STRONG_WAKEUPS,
    ARGUS_RULE_KINDS
};

#define ARGUS_PLACE_STEPS     3 /* most pointers followed to one number */
#define ARGUS_PLACE_ARGUMENTS 6

/* A number that exists when a function begins: "arg2->16:u16". */
struct argus_place {
    /* 1 to ARGUS_PLACE_ARGUMENTS; 7: the function's result; 0: no number is wanted */
    uint8_t argument;
    /* number of steps; each reads the pointer at its offset from the current address */
    uint8_t steps;
    /* 1, 2, 4 or 8: size of what the last step reads, or of the argument if there are no steps */
    uint8_t bytes;
    bool is_signed;
    int32_t offsets[ARGUS_PLACE_STEPS];
};

struct argus_user_rule {
    enum argus_rule_kind kind;
    uint32_t line;               /* in `file`, from 1 */
    const char *file;            /* this and the other strings are owned by the set */
    const char *name;            /* of its row in a graph's schema: "user.enqueue:job_push" */
    const char *description;     /* one sentence */
    const char *function;        /* pattern: argus_function_matches() */
    const char *library;         /* name or path: argus_library_matches(); NULL: any */
    const char *space;           /* keys are compared within one space only */
    const char *label;           /* the text that a person is shown */
    struct argus_place key, ran; /* `ran`: address of the function that will run, or runs */
    bool weak;                   /* enqueue: its edges are weak */
    /* enqueue: entries with the same key are executed in the order in which they were enqueued */
    bool fifo;
    bool repeats; /* enqueue: an entry may be executed several times */
};

/* A mistake in a text of rules. */
struct argus_rule_mistake {
    const char *file;      /* owned by the set */
    const char *reason;    /* a sentence without a full stop; owned by the set */
    uint32_t line, column; /* from 1; the column counts bytes */
};

struct argus_rule_set;

/* An empty set. */
struct argus_error *argus_rule_set_create(struct argus_rule_set **ret);
/* NULL is fine. */
void argus_rule_set_destroy(struct argus_rule_set *set);

/* Adds the rules of `text`, of `bytes` bytes, which need not end with a NUL; `name` is for
 * messages. If there is a mistake, no rule is added and the error (ARGUS_ERROR_FORMAT) names the
 * first mistake; argus_rule_set_mistakes() returns all. */
struct argus_error *argus_rule_set_parse(struct argus_rule_set *set, const char *name,
                                         const char *text, size_t bytes);
/* The same for the file `path`. */
struct argus_error *argus_rule_set_read(struct argus_rule_set *set, const char *path);

/* The rules in the order of the texts. If several rules match, the first one counts. A NULL set has
 * none. */
size_t argus_rule_set_rules(const struct argus_rule_set *set, const struct argus_user_rule **ret);
/* The mistakes of the last text, by line and column; at most the first hundred. */
size_t argus_rule_set_mistakes(const struct argus_rule_set *set,
                               const struct argus_rule_mistake **ret);
/* A number that differs between rule sets that may give different graphs, whatever files they come
 * from. A saved graph is checked against it. 0: no rules. */
uint64_t argus_rule_set_identity(const struct argus_rule_set *set);

/* The word that begins a rule of this kind: "enqueue". */
const char *argus_rule_kind_word(enum argus_rule_kind kind);
/* One sentence: what a rule of this kind states. */
const char *argus_rule_kind_meaning(enum argus_rule_kind kind);
/* "boundary", "edge" or "cull", as for the built-in rules. */
const char *argus_rule_kind_stage(enum argus_rule_kind kind);
/* True: it concerns probes (records of callbacks). False: it concerns stacks. */
bool argus_rule_kind_probed(enum argus_rule_kind kind);

struct argus_rule;  /* argus/graph.h */
struct argus_trace; /* argus/trace.h */

/* The rows of the built-in rules, with counts of 0. Static. */
size_t argus_rules_built_in(const struct argus_rule **ret);
/* How many probes of the trace are at functions that the rule names; 0 for rules that need no
 * probe. */
size_t argus_user_rule_probes(const struct argus_user_rule *rule, const struct argus_trace *trace);

/* Reads a number at `*at` and moves `*at` behind it. */
bool argus_place_parse(const char **at, struct argus_place *ret);

/* Whether `pattern` matches `symbol`, mangled or not. A pattern is a name in which * stands for any
 * characters and ? for one. It is compared with the symbol as in the file, with its demangled form,
 * and with that form without its parameter list. False if out of memory. Time: at most the product
 * of the lengths. */
bool argus_function_matches(const char *pattern, const char *symbol);
/* Whether the image at `path` is a copy of `library`, a file name as printed by ldd(1) or a path.
 * "libfoo.so.1" also matches libfoo.so.1.2. */
bool argus_library_matches(const char *library, const char *path);

#ifdef __cplusplus
}
#endif
#endif
