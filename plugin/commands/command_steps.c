/* Prints an instruction trace of `argus step`: calls, branches, registers. */
#include "plugin/analysis.h"
#include "plugin/memory_limit.h"
#include "plugin/steps/steps_shown.h"

static const struct command_option options[] = {
    {"calls", 0, NULL, "leave out branches"},
    {"instructions", 0, NULL, "print every instruction"},
    {"registers", 0, NULL, "print the registers that changed since the previous line"},
    {"from", 0, "STEP", "begin at this step, from 0"},
    {"limit", 'n', "N", "end after N lines"},
    {"json", 0, NULL, "print one JSON object for each line"},
    COMMAND_OPTIONS_END,
};

static struct argus_error *show(struct session *session, const struct arguments *arguments,
                                struct argus_steps *steps)
{
    struct argus_report_steps_options wanted = {
        .wanted = {.branches = !arguments_has(arguments, "calls"),
                   .instructions = arguments_has(arguments, "instructions")},
        .registers = arguments_has(arguments, "registers"),
        .most_items = UINT64_MAX,
        .json = arguments_has(arguments, "json"),
    };
    uint64_t first = 0;
    struct argus_error *error = arguments_number(arguments, "from", &first);
    if (!error)
        error = arguments_number(arguments, "limit", &wanted.most_items);
    wanted.wanted.first_step = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
    return error ? error : steps_show(session, steps, &wanted);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_steps *steps = NULL;
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error)
        memory_limit_for(session, arguments_word(arguments, 0));
    memory_limit_for_programs(session);
    if (!error)
        error = argus_steps_open(arguments_word(arguments, 0), &steps);
    if (!error)
        error = show(session, arguments, steps);
    argus_steps_close(steps);
    return error;
}

const struct command command_steps = {
    .name = "steps",
    .arguments = "STEPS",
    .missing = "STEPS is missing: a step file that argus step wrote",
    .summary = "print an instruction trace: calls, results, branches",
    .details = "Prints what the thread did, step by step: calls with the registers of their\n"
               "first arguments, results, calls that were stepped over, signals, and the way\n"
               "that each branch took. Calls are indented. Each line ends with its place in\n"
               "the code.",
    .example = "argus steps bad.steps | less\n"
               "argus steps --calls bad.steps\n"
               "argus steps --instructions --registers --from 100 -n 20 bad.steps",
    .options = options,
    .run = run,
};
