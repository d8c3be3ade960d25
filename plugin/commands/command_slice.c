#include "plugin/analysis.h"
#include "plugin/answers/answers.h"

static const struct command_option options[] = {
    {"max-steps", 0, "N", "end after N steps (1000)"},
    ANSWERS_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* Starts from the beginning whenever the user goes back. */
static struct argus_error *walk(struct analysis *analysis, uint32_t vertex,
                                const struct argus_slice_options *slice_options,
                                struct answers *answers, struct argus_slice *ret)
{
    for (;;) {
        struct argus_error *error =
            argus_slice(analysis->graph, vertex, slice_options, answers_asker(answers), ret);
        if (!answers_again(answers, &error))
            return error;
        argus_slice_deinit(ret);
    }
}

static struct argus_error *slice_and_report(struct analysis *analysis, uint32_t vertex,
                                            const struct argus_slice_options *slice_options)
{
    struct answers answers;
    struct argus_slice slice;
    answers_begin(analysis, &answers);
    struct argus_error *error = walk(analysis, vertex, slice_options, &answers, &slice);
    bool open = error && error->code == ARGUS_ERROR_QUESTION;
    if (error && !open) {
        answers_deinit(&answers);
        return error;
    }
    struct argus_error *written = NULL;
    if (!answers.bad_answer[0])
        written = argus_report_slice(&analysis->report, &slice, analysis->json);
    error = answers_finish(&answers, error, slice.asked, slice.asked_count);
    argus_slice_deinit(&slice);
    answers_deinit(&answers);
    if (error)
        argus_error_destroy(written);
    return error ? error : written;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    uint32_t vertex;
    uint64_t max_steps = 0;
    struct argus_error *error = arguments_number(arguments, "max-steps", &max_steps);
    if (!error)
        error = analysis_begin(session, arguments, 1, 1, &analysis);
    if (!error)
        error = analysis_vertex(&analysis, analysis_word(&analysis, 0), &vertex);
    if (error)
        return error;
    struct argus_slice_options slice_options = {.max_steps = max_steps};
    return slice_and_report(&analysis, vertex, &slice_options);
}

const struct command command_slice = {
    .name = "slice",
    .arguments = "V",
    .missing = "V is missing: a vertex such as v1234 (argus hangs and argus graph find list them)",
    .summary = "walk from V backward along its causes, asking where there are several",
    .details = "At a terminal it asks. Elsewhere --answers or --auto answers. A question\n"
               "without an answer is printed with the command that continues, and the exit\n"
               "code is 3.",
    .example = "argus slice freeze.argus v1234\nargus slice --answers=2,stop freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
