/* A user's rules: what Argus cannot know about a program by itself. Which function puts work into a queue and which one does it,
 * where a unit of work begins and ends, which wake-ups mean nothing. docs/man/argus-rules.5.md describes the text.
 *
 * A rule set is made from texts and then only read: several threads may read one at once. It is bound twice. While recording,
 * the rules about queues and units become probes in libraries (plugin/probes/rule_probes.c); while a graph is built, the records of those
 * probes and the stacks of wake-ups are matched with the rules (graph/schema/). The built-in rules are rows of
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

/* What a rule says; graph/schema/rule_kinds.c is the table. */
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

#define ARGUS_PLACE_STEPS     3 /* pointers that are followed for one number */
#define ARGUS_PLACE_ARGUMENTS 6

/* A number that is there when a function begins: "arg2->16:u16". */
struct argus_place {
    uint8_t
        argument; /* 1 to ARGUS_PLACE_ARGUMENTS; 7: the function's result; 0: no number is wanted */
    uint8_t steps; /* then so often "the pointer at this offset of it" */
    uint8_t bytes; /* 1, 2, 4 or 8, of what the last step reads, or without steps of the argument */
    bool is_signed;
    int32_t offsets[ARGUS_PLACE_STEPS];
};

struct argus_user_rule {
    enum argus_rule_kind kind;
    uint32_t line;               /* in `file`, from 1 */
    const char *file;            /* these strings are owned by the set */
    const char *name;            /* of its row in the schema of a graph: "user.enqueue:job_push" */
    const char *description;     /* one sentence */
    const char *function;        /* pattern: argus_function_matches() */
    const char *library;         /* name or path: argus_library_matches(); NULL: any */
    const char *space;           /* keys are compared within one space only */
    const char *label;           /* what a person is shown */
    struct argus_place key, ran; /* `ran`: address of the function that will run, or runs */
    bool weak;                   /* enqueue: its edges may or may not be causality */
    bool fifo;    /* enqueue: what has one key is executed in the order in which it was enqueued */
    bool repeats; /* enqueue: one enqueue may be executed several times */
};

/* What is wrong in a text of rules. */
struct argus_rule_mistake {
    const char *file;      /* owned by the set */
    const char *reason;    /* a sentence without full stop; owned by the set */
    uint32_t line, column; /* from 1; the column counts bytes */
};

struct argus_rule_set;

/* An empty set. */
struct argus_error *argus_rule_set_create(struct argus_rule_set **ret);
/* NULL is fine. */
void argus_rule_set_destroy(struct argus_rule_set *set);

/* Adds the rules of `text`, of `bytes` bytes, which need not end with a NUL; `name` is for messages. With a mistake
 * none of them is added, and the error (ARGUS_ERROR_FORMAT) names the first one; argus_rule_set_mistakes() has all. */
struct argus_error *argus_rule_set_parse(struct argus_rule_set *set, const char *name,
                                         const char *text, size_t bytes);
/* The same with the file `path`. */
struct argus_error *argus_rule_set_read(struct argus_rule_set *set, const char *path);

/* The rules, in the order of the texts: where several fit, the first one counts. A NULL set has none. */
size_t argus_rule_set_rules(const struct argus_rule_set *set, const struct argus_user_rule **ret);
/* What was wrong with the last text, by line and column; at most the first hundred. */
size_t argus_rule_set_mistakes(const struct argus_rule_set *set,
                               const struct argus_rule_mistake **ret);
/* A number that differs between sets that may make different graphs, whatever files they are from: what a saved graph is
 * checked against. 0: no rules. */
uint64_t argus_rule_set_identity(const struct argus_rule_set *set);

/* The word that begins a rule of this kind: "enqueue". */
const char *argus_rule_kind_word(enum argus_rule_kind kind);
/* One sentence: what a rule of this kind says. */
const char *argus_rule_kind_meaning(enum argus_rule_kind kind);
/* "boundary", "edge" or "cull", as of the built-in rules. */
const char *argus_rule_kind_stage(enum argus_rule_kind kind);
/* Does it concern probes (records of callbacks) rather than stacks? */
bool argus_rule_kind_probed(enum argus_rule_kind kind);

struct argus_rule;  /* argus/graph.h */
struct argus_trace; /* argus/trace.h */

/* The rows of the built-in rules, counts 0. Static. */
size_t argus_rules_built_in(const struct argus_rule **ret);
/* How many probes of the trace are at functions that the rule is about; 0 for rules that need none. */
size_t argus_user_rule_probes(const struct argus_user_rule *rule, const struct argus_trace *trace);

/* Reads a number at `*at`, which moves behind it. */
bool argus_place_parse(const char **at, struct argus_place *ret);

/* Is `symbol`, mangled or not, what `pattern` means? A pattern is a name in which * stands for any characters and ? for one. It is
 * compared with the symbol as it is in the file, with its readable form, and with that without its parameter list. Without
 * memory: false. Time: at most the product of the lengths. */
bool argus_function_matches(const char *pattern, const char *symbol);
/* Is `path` of an image a copy of `library`, a file name as in ldd(1) or a path? "libfoo.so.1" is also libfoo.so.1.2. */
bool argus_library_matches(const char *library, const char *path);

#ifdef __cplusplus
}
#endif
#endif
