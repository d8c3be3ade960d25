/* Compares two instruction traces of `argus step`, or the turns of a loop in one: which branch
 * decided, and which variable it depended on. */
#include "argus/diverge.h"

#include <string.h>

#include "plugin/analysis.h"
#include "plugin/command.h"
#include "plugin/memory_limit.h"

static const struct command_option options[] = {
    {"spin", 0, NULL, "look at one trace alone: what the loop in which it ends waits for"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *compare(struct session *session, const struct arguments *arguments,
                                   struct argus_steps *normal, struct argus_steps *bad)
{
    struct argus_divergence *divergence = NULL;
    struct argus_sink sink = session_sink(session);
    session_progress(session, "comparing", 0, 0);
    struct argus_error *error = argus_diverge(normal, bad, &divergence);
    session_end_progress(session);
    if (error)
        return error;
    error =
        argus_report_divergence(&sink, normal, bad, divergence, arguments_has(arguments, "json"));
    argus_divergence_destroy(divergence);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_steps *normal = NULL, *bad = NULL;
    bool alone = arguments_has(arguments, "spin") || arguments_count(arguments) == 1;
    struct argus_error *error = arguments_expect(arguments, 1, alone ? 1 : 2);
    for (size_t i = 0; !error && i < arguments_count(arguments); i++)
        memory_limit_for(session, arguments_word(arguments, i));
    memory_limit_for_programs(session);
    if (!error && !alone)
        error = argus_steps_open(arguments_word(arguments, 0), &normal);
    if (!error)
        error = argus_steps_open(arguments_word(arguments, alone ? 0 : 1), &bad);
    if (!error)
        error = compare(session, arguments, normal, bad);
    argus_steps_close(normal);
    argus_steps_close(bad);
    return error;
}

const struct command command_diverge = {
    .name = "diverge",
    .arguments = "[NORMAL] BAD",
    .missing = "BAD is missing: a step file that argus step wrote",
    .summary = "compare two instruction traces: which branch decided, by which variable",
    .details = "NORMAL and BAD are step files ('argus step') of one function in two runs, one\n"
               "that went well and one that spins. Prints the first place at which they\n"
               "differ, the branches that only one of them took in some direction, and the\n"
               "variables that those depend on, each with the command that watches it. A loop\n"
               "counts as one turn. argus-diverge(1) says how, and what can be wrong.\n"
               "\n"
               "With BAD alone: the branches that could lead out of the loop in which it ends.\n"
               "What the thread itself writes in every turn (counters, deadlines) comes last.",
    .example = "argus diverge good.steps bad.steps\n"
               "argus diverge --spin bad.steps",
    .options = options,
    .run = run,
};
