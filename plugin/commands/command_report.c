/* `argus report`: one page with the results of the other commands (argus/page.h). No questions are
 * asked: each takes its default, and the page says so. A part that is not available (no stacks, a
 * hang that cannot be diagnosed) is a sentence on the page, not a failure. */
#include <stdlib.h>
#include <string.h>

#include "argus/page.h"
#include "base/vec.h"
#include "plugin/hang_options.h"
#include "plugin/hang_story.h"
#include "plugin/output_file.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the page to FILE"},
    {"base", 'b', "FILE", "a trace in which all went well: what is slower than there"},
    HANG_OPTIONS,
    {"hangs", 0, "N", "explain the N worst hangs (5)"},
    {"top", 'n', "N", "show the N costliest contexts (20)"},
    COMMAND_OPTIONS_END,
};

enum { HANGS_USUAL = 5, HANGS_MOST = 50, TOP_USUAL = 20, TOP_MOST = 200 };

struct page_maker {
    struct analysis analysis;
    struct argus_hang_options hang_options;
    uint64_t hangs_wanted, top;
    const char *base_path; /* NULL: none */
    struct session_trace *base;
    struct argus_symbols *base_symbols; /* of `base` */
    struct argus_hangs hangs;
    struct argus_diagnosis *diagnoses; /* one per hang */
    struct argus_page_hang *diagnosed;
    char **notes; /* one per hang, or NULL */
    size_t diagnosed_count;
    bool *story; /* by process: hang_story_create() */
    struct argus_contexts *contexts, *base_contexts;
    struct argus_ranking ranking;
    struct argus_contexts_report contexts_report;
    char *contexts_note;
    struct argus_page page;
};

static void deinit(struct page_maker *maker)
{
    for (size_t i = 0; i < maker->diagnosed_count; i++) {
        argus_diagnosis_deinit(&maker->diagnoses[i]);
        free(maker->notes[i]);
    }
    free(maker->diagnoses);
    free(maker->diagnosed);
    free(maker->notes);
    free(maker->story);
    argus_hangs_deinit(&maker->hangs);
    argus_ranking_deinit(&maker->ranking);
    argus_contexts_destroy(maker->contexts);
    argus_contexts_destroy(maker->base_contexts);
    free(maker->contexts_note);
    session_trace_destroy(maker->base);
}

/* Turns an error into a sentence on the page, except an interruption and lack of memory. */
static struct argus_error *to_note(struct argus_error *error, char **ret)
{
    if (!error || error->code == ARGUS_ERROR_INTERRUPTED || error->code == ARGUS_ERROR_MEMORY)
        return error;
    *ret = strdup(error->message);
    argus_error_destroy(error);
    return *ret ? NULL : argus_error_memory();
}

static struct argus_error *get_number(const struct arguments *arguments, const char *name,
                                      uint64_t most, uint64_t *ret)
{
    struct argus_error *error = arguments_number(arguments, name, ret);
    if (!error && *ret > most)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--%s is at most %llu", name,
                                   (unsigned long long)most);
    return error;
}

static struct argus_error *get_options(struct page_maker *maker)
{
    const struct arguments *arguments = maker->analysis.arguments;
    maker->hangs_wanted = HANGS_USUAL;
    maker->top = TOP_USUAL;
    maker->base_path = arguments_option(arguments, "base");
    struct argus_error *error = hang_options_get(&maker->analysis, &maker->hang_options);
    if (!error)
        error = get_number(arguments, "hangs", HANGS_MOST, &maker->hangs_wanted);
    if (!error)
        error = get_number(arguments, "top", TOP_MOST, &maker->top);
    if (!error && maker->base_path) {
        error =
            session_trace_load(maker->analysis.session, arguments, maker->base_path, &maker->base);
        if (!error)
            error =
                session_trace_symbols(maker->analysis.session, maker->base, &maker->base_symbols);
        if (error)
            error = argus_error_context(error, "--base");
    }
    return error;
}

/* --- hangs --- */

static struct argus_error *diagnose(struct page_maker *maker, size_t i)
{
    struct argus_diagnose_options diagnose_options = {
        .threshold_ns = maker->hang_options.threshold_ns,
        .other = maker->base ? maker->base->graph : NULL,
        .other_symbols = maker->base_symbols,
    };
    const struct argus_hang *hang = &maker->hangs.items[i];
    maker->diagnosed[i].hang = hang;
    maker->diagnosed_count++;
    session_progress(maker->analysis.session, "diagnosing", i, maker->hangs_wanted);
    if (session_interrupted(maker->analysis.session))
        return session_interrupt_error();
    if (hang->nature == ARGUS_NATURE_IDLE) {
        maker->diagnosed[i].note =
            "No hang: it was idle. It waited for input, and nothing was pending.";
        return NULL;
    }
    struct argus_error *error =
        argus_diagnose(maker->analysis.graph, maker->analysis.report.symbols, hang,
                       &diagnose_options, argus_asker_auto(), &maker->diagnoses[i]);
    if (!error)
        maker->diagnosed[i].diagnosis = &maker->diagnoses[i];
    error = to_note(error, &maker->notes[i]);
    maker->diagnosed[i].note = maker->notes[i];
    return error;
}

static struct argus_error *explain_hangs(struct page_maker *maker)
{
    maker->hang_options.at_least_one = hang_options_name(&maker->hang_options);
    struct argus_error *error =
        argus_hangs_find(maker->analysis.graph, &maker->hang_options, &maker->hangs);
    if (error)
        return error;
    size_t count =
        maker->hangs.count < maker->hangs_wanted ? maker->hangs.count : (size_t)maker->hangs_wanted;
    maker->diagnoses = calloc(count + 1, sizeof(*maker->diagnoses));
    maker->diagnosed = calloc(count + 1, sizeof(*maker->diagnosed));
    maker->notes = calloc(count + 1, sizeof(*maker->notes));
    if (!maker->diagnoses || !maker->diagnosed || !maker->notes)
        return argus_error_memory();
    for (size_t i = 0; !error && i < count; i++)
        error = diagnose(maker, i);
    maker->page.hangs = &maker->hangs;
    maker->page.diagnosed = maker->diagnosed;
    maker->page.diagnosed_count = maker->diagnosed_count;
    return error;
}

/* --- contexts --- */

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

/* A snapshot names no command: then the contexts are those of the hangs that the page explains.
 * With a base the question is another one: what is slower than there. */
static struct argus_error *take_story(struct page_maker *maker)
{
    if (maker->base)
        return NULL;
    maker->story =
        hang_story_create(maker->analysis.graph, maker->diagnosed, maker->diagnosed_count);
    return maker->story ? NULL : argus_error_memory();
}

static struct argus_error *make_contexts(struct page_maker *maker)
{
    struct session *session = maker->analysis.session;
    struct argus_contexts_options wanted = ARGUS_CONTEXTS_OPTIONS;
    struct argus_ranking_options ranking = {.estimate = ARGUS_CONSERVATIVE};
    wanted.process = arguments_option(maker->analysis.arguments, "process");
    if (!wanted.process)
        wanted.process = arguments_option(maker->analysis.arguments, "pid");
    wanted.of_command = true;
    wanted.other = maker->base ? maker->base->graph : NULL;
    struct argus_error *error = take_story(maker);
    if (error)
        return error;
    wanted.story = maker->story;
    error = argus_contexts_create(maker->analysis.graph, maker->analysis.report.symbols, &wanted,
                                  show_progress, session, &maker->contexts);
    if (error)
        return error;
    if (maker->base) {
        wanted.other = maker->analysis.graph;
        error = argus_contexts_create(maker->base->graph, maker->base_symbols, &wanted,
                                      show_progress, session, &maker->base_contexts);
        error = to_note(error, &maker->contexts_note);
    }
    if (!error)
        error =
            argus_contexts_rank(maker->contexts, maker->base_contexts, &ranking, &maker->ranking);
    maker->contexts_report = (struct argus_contexts_report){
        .contexts = maker->contexts,
        .base = maker->base_contexts,
        .ranking = &maker->ranking,
        .options = ranking,
        .base_path = maker->base_path,
        .top = (size_t)maker->top,
    };
    return error;
}

static struct argus_error *infer_contexts(struct page_maker *maker)
{
    struct argus_error *error = make_contexts(maker);
    if (!error) {
        maker->page.contexts = &maker->contexts_report;
        if (maker->base_contexts && maker->ranking.programs_missing && !maker->ranking.paths_equal)
            maker->contexts_note = strdup("No context of the base occurs in this trace: are both "
                                          "traces of the same program? Nothing is subtracted.");
    }
    error = to_note(error, &maker->contexts_note);
    maker->page.contexts_note = maker->contexts_note;
    return error;
}

/* --- the file --- */

static struct argus_error *save_page(struct page_maker *maker, const char *path)
{
    struct argus_report_context context = maker->analysis.report;
    struct output_file file;
    struct argus_error *error = output_file_open(path, &file);
    if (error)
        return error;
    context.sink = &file.sink;
    error = argus_page_write(&context, &maker->page);
    session_end_progress(maker->analysis.session);
    error = output_file_close(&file, error);
    if (!error)
        session_printf(maker->analysis.session,
                       "%s: %zu hangs, %zu of them explained; %zu contexts\n", path,
                       maker->hangs.count, maker->diagnosed_count,
                       maker->page.contexts ? maker->ranking.count : 0);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct page_maker maker = {.base_path = NULL};
    const char *path = arguments_option(arguments, "output");
    struct argus_error *error =
        path ? NULL
             : argus_error_create(ARGUS_ERROR_USAGE,
                                  "report: -o FILE is missing: where to write the page");
    if (!error)
        error = analysis_begin(session, arguments, 0, 0, &maker.analysis);
    if (!error)
        error = get_options(&maker);
    if (!error)
        error = explain_hangs(&maker);
    if (!error)
        error = infer_contexts(&maker);
    if (!error)
        error = save_page(&maker, path);
    deinit(&maker);
    return error;
}

const struct command command_report = {
    .name = "report",
    .arguments = "-o FILE",
    .summary = "one page to look at: hangs, diagnoses, calling contexts",
    .details = "Writes a self-contained HTML page: what was recorded and lost, the hangs with\n"
               "their diagnoses as text and as pictures, and, if the trace has call stacks,\n"
               "the calling contexts as in 'argus contexts': of the recorded command, and of\n"
               "what the explained hangs are about. With --base, both are compared with a\n"
               "trace in which all went well, and no hang limits the contexts.\n"
               "\n"
               "No questions are asked: each takes its default, and the page marks it as a\n"
               "guess. Use 'argus diagnose' to be asked. A note below a picture says what was\n"
               "left out because it is too small or too much.",
    .example = "argus report freeze.argus -o freeze.html\n"
               "argus report --base=good.argus --process=editor freeze.argus -o slow.html",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
