/* `argus contexts`: IntroPerf over the stacks of a trace (argus/contexts.h). */
#include <string.h>

#include "argus/export.h"
#include "argus/page.h"
#include "plugin/hang_contexts.h"
#include "plugin/output_file.h"

static const struct command_option options[] = {
    {"process", 'p', "NAME|PID", "only processes of this name, or the one with this id"},
    {"vertex", 0, "V", "only this vertex and its wait"},
    HANG_CONTEXTS_OPTIONS,
    {"base", 'b', "FILE", "a trace in which all went well: what is slower than there"},
    {"base-vertex", 0, "V", "compare with this vertex, of FILE or of --base"},
    {"top", 'n', "N", "print the N costliest contexts (10)"},
    {"mode", 0, "conservative|aggressive", "decide when a function ended (conservative)"},
    {"rank", 0, "blame|total|mean", "rank by it, as explained above (blame; with --vertex total)"},
    {"every", 0, NULL, "list every path, not one for each bottleneck or culprit"},
    {"with-samples", 0, NULL, "use CPU samples as well as stacks at events (the default)"},
    {"no-samples", 0, NULL, "only stacks at system calls, waits and wake-ups"},
    {"no-returns", 0, NULL, "use only moments with a recorded stack, as in the paper"},
    {"kernel", 0, NULL, "show the kernel's functions too, below the system call"},
    {"format", 0, "folded|speedscope|pprof|html", "write for other viewers, or an HTML page"},
    {"output", 'o', "FILE", "write to FILE, not to standard output"},
    {"tree", 0, NULL, "with --json: print all nodes of the tree"},
    {"whole-system", 0, NULL, "do not leave out processes that the command did not wait for"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum format { FORMAT_TEXT, FORMAT_FOLDED, FORMAT_SPEEDSCOPE, FORMAT_PPROF, FORMAT_HTML };

/* The parsed options. */
struct wanted {
    struct argus_contexts_options contexts, base;
    struct argus_ranking_options ranking;
    const char *base_path; /* NULL: no base, or it is in the same trace */
    struct hang_contexts hang;
    bool has_base;
    uint64_t top;
    enum format format;
};

/* The index of an option's word among `words`, which ends with NULL. */
static struct argus_error *one_of(const struct arguments *arguments, const char *name,
                                  const char *const *words, int *ret)
{
    const char *given = arguments_option(arguments, name);
    for (int i = 0; given && words[i]; i++)
        if (strcmp(words[i], given) == 0) {
            *ret = i;
            return NULL;
        }
    char list[128] = "";
    for (int i = 0; words[i]; i++) {
        strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
        strncat(list, words[i], sizeof(list) - strlen(list) - 1);
    }
    return given ? argus_error_create(ARGUS_ERROR_USAGE, "--%s: '%s' is none of %s", name, given,
                                      list)
                 : NULL;
}

static struct argus_error *words_get(const struct arguments *arguments, struct wanted *ret)
{
    static const char *const modes[] = {"conservative", "aggressive", NULL};
    static const char *const ranks[] = {"blame", "total", "mean", NULL};
    static const char *const formats[] = {"text", "folded", "speedscope", "pprof", "html", NULL};
    int mode = ARGUS_CONSERVATIVE, format = FORMAT_TEXT;
    bool is_one = arguments_has(arguments, "vertex") || hang_contexts_wanted(arguments);
    int rank = is_one ? ARGUS_RANK_TOTAL : ARGUS_RANK_BLAME;
    struct argus_error *error = one_of(arguments, "mode", modes, &mode);
    if (!error)
        error = one_of(arguments, "rank", ranks, &rank);
    if (!error)
        error = one_of(arguments, "format", formats, &format);
    if (!error)
        error = arguments_number(arguments, "top", &ret->top);
    ret->ranking = (struct argus_ranking_options){(enum argus_estimate)mode, (enum argus_rank)rank,
                                                  arguments_has(arguments, "every")};
    ret->format = (enum format)format;
    return error;
}

/* Fills in what the diagnosis names and the user has not specified. */
static struct argus_error *hang_get(const struct analysis *analysis, struct wanted *ret)
{
    if (arguments_has(analysis->arguments, "vertex"))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--vertex and --hang or --culprit contradict each other");
    struct argus_error *error = hang_contexts_find(analysis, &ret->hang);
    if (error)
        return error;
    ret->contexts.process = ret->base.process = NULL; /* the vertex determines the process */
    ret->contexts.vertex = ret->hang.vertex;
    if (ret->has_base || ret->hang.base_vertex == ARGUS_NONE)
        return NULL;
    ret->has_base = true;
    ret->base.vertex = ret->hang.base_vertex;
    return NULL;
}

/* Formats whose times add up along the stacks. */
static bool is_flame_graph(enum format format)
{
    return format == FORMAT_FOLDED || format == FORMAT_SPEEDSCOPE || format == FORMAT_PPROF;
}

static struct argus_error *format_check(const struct arguments *arguments,
                                        const struct wanted *wanted)
{
    if (is_flame_graph(wanted->format) && wanted->ranking.rank == ARGUS_RANK_MEAN)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--rank=mean and --format=%s contradict each other: means do "
                                  "not add up in a flame graph; use --rank=blame or total",
                                  arguments_option(arguments, "format"));
    if (wanted->format != FORMAT_TEXT && arguments_has(arguments, "json"))
        return argus_error_create(ARGUS_ERROR_USAGE, "--json and --format=%s contradict each other",
                                  arguments_option(arguments, "format"));
    if (wanted->format == FORMAT_PPROF && !arguments_has(arguments, "output"))
        return argus_error_create(ARGUS_ERROR_USAGE, "the format pprof is not text: write it to a "
                                                     "file, with -o FILE");
    return NULL;
}

static struct argus_error *wanted_get(const struct analysis *analysis, struct wanted *ret)
{
    const struct arguments *arguments = analysis->arguments;
    const char *vertex = arguments_option(arguments, "vertex");
    *ret = (struct wanted){.contexts = ARGUS_CONTEXTS_OPTIONS, .top = 10};
    ret->contexts.process = arguments_option(arguments, "process");
    ret->contexts.no_samples = arguments_has(arguments, "no-samples");
    ret->contexts.no_returns = arguments_has(arguments, "no-returns");
    ret->contexts.kernel = arguments_has(arguments, "kernel");
    ret->contexts.of_command = !arguments_has(arguments, "whole-system");
    ret->base = ret->contexts;
    ret->base_path = arguments_option(arguments, "base");
    ret->has_base = ret->base_path || arguments_has(arguments, "base-vertex");
    if (ret->contexts.no_samples && arguments_has(arguments, "with-samples"))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--with-samples and --no-samples contradict each other");
    struct argus_error *error = words_get(arguments, ret);
    if (!error)
        error = format_check(arguments, ret);
    if (!error && vertex)
        error = analysis_vertex(analysis, vertex, &ret->contexts.vertex);
    if (!error && hang_contexts_wanted(arguments))
        error = hang_get(analysis, ret);
    /* A base is compared by function names, and the other output formats contain all functions. */
    ret->contexts.late_names =
        !ret->has_base && ret->format == FORMAT_TEXT && !arguments_has(arguments, "tree");
    return error;
}

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

static struct argus_error *write_report(struct analysis *analysis, const struct wanted *wanted,
                                        const struct argus_contexts_report *report)
{
    const struct argus_sink *sink = analysis->report.sink;
    if (wanted->format == FORMAT_FOLDED)
        return argus_report_contexts_folded(sink, report);
    if (wanted->format == FORMAT_SPEEDSCOPE)
        return argus_report_contexts_speedscope(sink, report);
    if (wanted->format == FORMAT_PPROF)
        return argus_export_contexts_pprof(sink, report);
    if (wanted->format == FORMAT_HTML)
        return argus_page_write(&analysis->report, &(struct argus_page){.contexts = report});
    return argus_report_contexts(sink, report, analysis->json);
}

/* Writes to -o FILE or to the command's normal output. */
static struct argus_error *write_all(struct analysis *analysis, const struct wanted *wanted,
                                     const struct argus_contexts_report *report)
{
    const char *path = arguments_option(analysis->arguments, "output");
    struct output_file file;
    session_end_progress(analysis->session);
    if (is_flame_graph(wanted->format))
        analysis_note_unnamed(analysis);
    if (!path)
        return write_report(analysis, wanted, report);
    struct argus_error *error = wanted->format == FORMAT_PPROF
                                    ? output_file_open_binary(path, &file)
                                    : output_file_open(path, &file);
    if (error)
        return error;
    analysis->report.sink = &file.sink;
    error = write_report(analysis, wanted, report);
    analysis->report.sink = &analysis->sink;
    return output_file_close(&file, error);
}

static struct argus_error *rank_and_write(struct analysis *analysis, const struct wanted *wanted,
                                          struct argus_contexts *contexts,
                                          const struct argus_contexts *base, const char *base_path)
{
    struct argus_ranking ranking;
    struct argus_error *error = argus_contexts_rank(contexts, base, &wanted->ranking, &ranking);
    if (error)
        return error;
    struct argus_contexts_report report = {
        .contexts = contexts,
        .base = base,
        .ranking = &ranking,
        .options = wanted->ranking,
        .base_path = base_path,
        .top = (size_t)wanted->top,
        .tree = arguments_has(analysis->arguments, "tree"),
    };
    if (base && ranking.programs_missing && !ranking.paths_equal)
        session_warn(analysis->session, "no context of the base occurs in this trace: are both "
                                        "traces of the same program? Nothing is subtracted");
    if (wanted->contexts.late_names)
        error = argus_contexts_name_shown(contexts, &report, analysis->json);
    if (!error)
        error = write_all(analysis, wanted, &report);
    argus_ranking_deinit(&ranking);
    return error;
}

static const char *base_name(const struct analysis *analysis, const struct wanted *wanted)
{
    const char *vertex = arguments_option(analysis->arguments, "base-vertex");
    return wanted->base_path ? wanted->base_path : vertex ? vertex : wanted->hang.base_name;
}

/* Infers the contexts of the base, which is `side`: another trace, or another vertex of this
 * trace. */
static struct argus_error *infer_base(struct analysis *side, struct argus_symbols *symbols,
                                      struct wanted *wanted, struct argus_contexts **ret)
{
    const char *vertex = arguments_option(side->arguments, "base-vertex");
    struct argus_error *error = vertex ? analysis_vertex(side, vertex, &wanted->base.vertex) : NULL;
    if (!error)
        error = argus_contexts_create(side->graph, symbols, &wanted->base, show_progress,
                                      side->session, ret);
    return error ? argus_error_context(error, "--base") : NULL;
}

/* `side`: the base, if one is wanted. */
static struct argus_error *infer_and_write(struct analysis *analysis, struct analysis *side,
                                           struct argus_symbols *side_symbols,
                                           struct wanted *wanted)
{
    struct argus_contexts *contexts, *base = NULL;
    wanted->contexts.other = wanted->base_path ? side->graph : NULL;
    wanted->base.other = wanted->base_path ? analysis->graph : NULL;
    struct argus_error *error =
        argus_contexts_create(analysis->graph, analysis->report.symbols, &wanted->contexts,
                              show_progress, analysis->session, &contexts);
    if (error)
        return error;
    if (wanted->has_base)
        error = infer_base(side, side_symbols, wanted, &base);
    if (!error)
        error = rank_and_write(analysis, wanted, contexts, base,
                               wanted->has_base ? base_name(analysis, wanted) : NULL);
    argus_contexts_destroy(base);
    argus_contexts_destroy(contexts);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct wanted wanted;
    struct session_trace *other = NULL;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = wanted_get(&analysis, &wanted);
    if (error)
        return error;
    struct analysis side = analysis;
    struct argus_symbols *symbols = analysis.report.symbols;
    if (wanted.base_path) {
        error = session_trace_load(session, arguments, wanted.base_path, &other);
        side.graph = error ? NULL : other->graph;
        if (!error)
            error = session_trace_symbols(session, other, &symbols);
        error = error ? argus_error_context(error, "--base") : NULL;
    }
    if (!error)
        error = infer_and_write(&analysis, &side, symbols, &wanted);
    session_trace_destroy(other);
    return error;
}

const struct command command_contexts = {
    .name = "contexts",
    .summary = "which calling contexts are slow, inferred from the call stacks alone",
    .details = "Infers how long functions took, in which context of callers, from the stacks\n"
               "at system calls, waits, wake-ups and CPU samples (IntroPerf): if a function is\n"
               "in two consecutive stacks of a thread, below the same callers, it ran on in\n"
               "between. Nothing has to be instrumented. Without --call-stacks, recordings\n"
               "have stacks only at waits, wake-ups and samples, and short waits of programs\n"
               "without frame pointers have no callers.\n"
               "\n"
               "A context is a path of functions. Its cost is what its functions took\n"
               "themselves, without their callees; with --base, what they took more than in a\n"
               "trace in which all went well. Two paths are the same if the functions have the\n"
               "same names, in files of the same names, in the same order. Of another build or\n"
               "version (a file name that differs only in numbers), paths that only one of the\n"
               "traces has are compared by function, and functions without names as one for\n"
               "each file. By --rank:\n"
               "\n"
               "  blame   without waits that another thread of the trace ended (the time\n"
               "          belongs to that thread's context), and without waits for a CPU; of\n"
               "          sleeps, and of polls that no thread in the trace ended, only what\n"
               "          is longer than in the base, beyond chance; with --base the same of\n"
               "          waits that timed out, which do not count without it\n"
               "  total   all own time\n"
               "  mean    as in the paper: of one call, by the mean; for comparison only,\n"
               "          because it often misses the cause\n"
               "\n"
               "If 'argus record' ran a command, the answer is about its processes, and about\n"
               "others that these waited for at least a hundredth of its time: a database, but\n"
               "not what else the machine did. --process=NAME chooses among these, or among\n"
               "all if none of them has that name; --whole-system includes all.\n"
               "\n"
               "The first lines state the whole time of each program's threads as a sum: own\n"
               "work, waits for others, waits that timed out, sleeps, waits for a CPU, and\n"
               "time that belongs to no function, with the reason. Below it are the longest\n"
               "waits for others, with the context of the thread that ended them: for a lock,\n"
               "that of its holder.\n"
               "\n"
               "A thread whose life another thread ends (a worker, a service that gets a\n"
               "signal) waits for as long as it is needed. So with --base, its waits that\n"
               "timed out count only as far as they exceed the base's share of its life.\n"
               "Waits for a lock, and polls, that timed out just before another thread ended\n"
               "the last one are part of that one, unless something was sent in between.\n"
               "\n"
               "In the list, '*' marks the bottleneck, the function with the highest cost.\n"
               "'own' is the time without callees and 'total' with them: calls x mean. Other\n"
               "paths through the bottleneck are counted, not listed. Paths that differ only\n"
               "above the culprit are one entry with the number of ways, unless one of them\n"
               "has at least half of the cost (--every lists all). A cost that is within\n"
               "twice the standard deviation of its CPU samples, or of the waits for disks in\n"
               "the base, or with a base less than a thousandth of the run's time, comes last,\n"
               "and is marked. With a base, a function is an entry 'with what it calls' if its\n"
               "callees together became slower by half and beyond chance, though none did\n"
               "alone.\n"
               "The headline names the caller of the C library or kernel function. The layer\n"
               "is the program's own file (main), a library, a plug-in, or the kernel, which\n"
               "is shown as the name of the system call; with --kernel its functions follow.\n"
               "The table of functions has the sums over all contexts.\n"
               "\n"
               "With --format=folded, speedscope or pprof, the times are those of --rank=blame\n"
               "or total. With --base, a folded line has two numbers, the base's first, from\n"
               "which flamegraph.pl draws a differential flame graph; for speedscope, what is\n"
               "slower and what is faster are two profiles; for pprof, the values are the cost\n"
               "(what is faster is negative), the time, and the time of the base.\n"
               "\n"
               "Between two calls, time without a stack of its own is distributed by the CPU\n"
               "samples there (not by --rank mean). A function that is in no stack at all,\n"
               "neither of a sample nor at a call or wait, has no time: its caller has it.\n"
               "\n"
               "The moments at which a call returns, and at which a thread is on a CPU again,\n"
               "count with the stack before them, which cannot have changed (--no-returns). In\n"
               "conservative mode, a function ends with the last stack that contains it; in\n"
               "aggressive mode, with the first stack without it. A wait that lasts to the end\n"
               "of the trace has no length, except that of --vertex.",
    .example = "argus record -o slow.argus -- myprog big\n"
               "argus contexts --base=good.argus --process=myprog slow.argus\n"
               "argus contexts --vertex=v1234 slow.argus\n"
               "argus contexts --culprit freeze.argus\n"
               "argus contexts --format=folded --rank=total slow.argus > slow.folded\n"
               "argus contexts --format=folded --base=good.argus slow.argus > difference.folded\n"
               "argus contexts --format=pprof -o slow.pb.gz --base=good.argus slow.argus\n"
               "argus contexts --format=html --base=good.argus slow.argus > slow.html",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
