/* `argus diagnose`: chooses the hang, then runs Algorithm 1 (argus/diagnose.h). The choice of the
 * hang can itself be a question. It is asked here and put before the questions of the analysis, so
 * that --answers counts it as the first. */
#include <stdlib.h>
#include <string.h>

#include "plugin/answers/answers.h"
#include "plugin/baseline_options.h"
#include "plugin/commands/diagnose_live.h"
#include "plugin/hang_choice.h"

static const struct command_option options[] = {
    {"hang", 0, "N", "explain hang N of 'argus hangs': the same as HANG"},
    HANG_OPTIONS,
    BASELINE_OPTIONS,
    ANSWERS_OPTIONS,
    DIAGNOSE_LIVE_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *report(struct analysis *analysis, struct answers *answers,
                                  struct argus_diagnosis *diagnosis, struct argus_error *error)
{
    bool open = error && error->code == ARGUS_ERROR_QUESTION;
    struct argus_error *written = NULL;
    if (answers->back)
        return error;
    if (!answers->bad_answer[0] && (!open || analysis->json))
        written = argus_report_diagnosis(&analysis->report, diagnosis, analysis->json);
    error = answers_finish(answers, error, diagnosis->asked, diagnosis->asked_count);
    if (error)
        argus_error_destroy(written);
    return error ? error : written;
}

/* Moves the question about the hang, if there was one, before those of the diagnosis. */
static struct argus_error *prepend_question(struct argus_diagnosis *diagnosis,
                                            struct hang_choice *choice)
{
    size_t count = choice->asked_count + diagnosis->asked_count;
    if (!choice->asked_count)
        return NULL;
    struct argus_asked *asked = realloc(choice->asked, count * sizeof(*asked));
    if (!asked)
        return argus_error_memory();
    if (diagnosis->asked_count)
        memcpy(asked + choice->asked_count, diagnosis->asked,
               diagnosis->asked_count * sizeof(*asked));
    free(diagnosis->asked);
    diagnosis->asked = asked;
    diagnosis->asked_count = count;
    choice->asked = NULL;
    choice->asked_count = 0;
    return NULL;
}

static struct argus_error *diagnose(struct analysis *analysis, struct answers *answers,
                                    struct hang_choice *choice,
                                    const struct argus_diagnose_options *diagnose_options)
{
    struct argus_diagnosis diagnosis = {0};
    session_progress(analysis->session, "diagnosing", 0, 0);
    struct argus_error *error =
        argus_diagnose(analysis->graph, analysis->report.symbols, &choice->hang, diagnose_options,
                       answers_asker(answers), &diagnosis);
    if (error && error->code != ARGUS_ERROR_QUESTION)
        return error;
    struct argus_error *failed = prepend_question(&diagnosis, choice);
    if (failed)
        argus_error_destroy(error);
    else
        failed = report(analysis, answers, &diagnosis, error);
    argus_diagnosis_deinit(&diagnosis);
    return failed;
}

/* Diagnoses the hang of the analysis that the options name. */
static struct argus_error *run_analysis(struct analysis *analysis,
                                        const struct argus_hang_options *hang_options)
{
    struct answers answers;
    struct baseline_options baseline = {.context = 0};
    struct argus_error *error = baseline_options_get(analysis, &baseline);
    if (error) {
        baseline_options_deinit(&baseline);
        return error;
    }
    struct argus_diagnose_options diagnose_options = {.threshold_ns = hang_options->threshold_ns,
                                                      .context = baseline.context,
                                                      .other = baseline.graph,
                                                      .other_symbols = baseline.other_symbols};
    answers_begin(analysis, &answers);
    do {
        struct hang_choice choice = {0};
        error = hang_choice_make(analysis, hang_options, answers_asker(&answers), &choice);
        if (!error)
            error = diagnose(analysis, &answers, &choice, &diagnose_options);
        else if (!answers.back)
            error = answers_finish(&answers, error, choice.asked, choice.asked_count);
        hang_choice_deinit(&choice);
    } while (answers_again(&answers, &error));
    answers_deinit(&answers);
    baseline_options_deinit(&baseline);
    return error;
}

static struct argus_error *run_live(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct live_recording live;
    struct argus_hang_options hang_options;
    struct argus_error *error = diagnose_live_record(session, arguments, &live);
    if (!error)
        error = analysis_begin_file(session, arguments, live.path, &analysis);
    if (!error)
        error = hang_options_get(&analysis, &hang_options);
    hang_options.pid = live.pid;
    if (!error)
        error = run_analysis(&analysis, &hang_options);
    free(live.path);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_hang_options hang_options;
    bool is_live;
    struct argus_error *error = diagnose_live_is_meant(session, arguments, &is_live);
    if (!error && is_live)
        return run_live(session, arguments);
    if (!error)
        error = analysis_begin(session, arguments, 0, 1, &analysis);
    if (!error)
        error = hang_options_get(&analysis, &hang_options);
    return error ? error : run_analysis(&analysis, &hang_options);
}

const struct command command_diagnose = {
    .name = "diagnose",
    .arguments = "[HANG|V]",
    .summary = "explain a hang: who caused it, and on which path",
    .details = "HANG is a number from 'argus hangs', V a vertex; any other number is the id of\n"
               "a process. Without these, the only hang is diagnosed; if there are several, a\n"
               "question is asked. If there is none, the command that 'argus record' ran is\n"
               "explained, unless it is an event loop. If a process, thread or time is given\n"
               "but has no hang, its longest run, wait or yield is explained; if that was\n"
               "idle, the command says so.\n"
               "\n"
               "The normal case is searched for in the trace itself; with --baseline, first in\n"
               "another trace of the same programs in which all went well.\n"
               "\n"
               "At a terminal, the command asks where the graph is ambiguous. Elsewhere\n"
               "--answers or --auto answers. A question without an answer is printed with the\n"
               "command that continues, and the exit code is 3.\n"
               "\n"
               "With --live, a process that hangs now is recorded for 1.5 s. If it polls, and\n"
               "its code tells which variable ends the loop, that variable is watched until a\n"
               "thread writes it, or --wait is over. The answer then says which thread wrote\n"
               "it, or that none did. If no name leads to the variable, the thread that polls,\n"
               "perhaps of another process, is stopped and stepped for some turns of its loop,\n"
               "as by 'argus watchflag --loop'. Questions take their defaults.",
    .example = "argus diagnose freeze.argus\n"
               "argus diagnose --process=gedit --auto --json freeze.argus\n"
               "argus diagnose --baseline=yesterday.argus freeze.argus\n"
               "argus diagnose --answers=1,2,stop freeze.argus v1234\n"
               "argus diagnose --live=4711 --wait=20s",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
