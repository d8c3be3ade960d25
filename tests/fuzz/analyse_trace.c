#include "analyse_trace.h"

#include <stdlib.h>
#include <string.h>

#include "argus/contexts.h"
#include "argus/diagnose.h"
#include "argus/page.h"
#include "argus/report.h"
#include "fuzz.h"

enum { MOST_DIAGNOSED = 3 };

struct analysis {
    const struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_symbols *symbols;
    struct argus_report_context report;
    struct argus_hangs hangs;
    struct argus_page_hang diagnosed[MOST_DIAGNOSED];
    struct argus_diagnosis diagnoses[MOST_DIAGNOSED];
    size_t diagnosed_count;
};

/* Reads every byte of the text. */
static bool take_text(void *context, const char *text, size_t bytes)
{
    uint64_t *sum = context;
    for (size_t i = 0; i < bytes; i++)
        *sum = *sum * 31 + (unsigned char)text[i];
    return true;
}

static void drop(struct argus_error *error)
{
    if (error && !*error->message)
        abort();
    argus_error_destroy(error);
}

static void diagnose(struct analysis *analysis)
{
    struct argus_hang_options wanted = {.threshold_ns = 1000, .symbols = analysis->symbols};
    struct argus_diagnose_options options = {.threshold_ns = 1000};
    drop(argus_hangs_find(analysis->graph, &wanted, &analysis->hangs));
    for (int json = 0; json < 2; json++)
        drop(argus_report_hangs(&analysis->report, &analysis->hangs, json));
    for (size_t i = 0; i < analysis->hangs.count && i < MOST_DIAGNOSED; i++) {
        struct argus_diagnosis *diagnosis = &analysis->diagnoses[i];
        struct argus_error *error =
            argus_diagnose(analysis->graph, analysis->symbols, &analysis->hangs.items[i], &options,
                           argus_asker_auto(), diagnosis);
        analysis->diagnosed[i] =
            (struct argus_page_hang){&analysis->hangs.items[i], error ? NULL : diagnosis, "a note"};
        analysis->diagnosed_count++;
        for (int json = 0; json < 2 && !error; json++)
            drop(argus_report_diagnosis(&analysis->report, diagnosis, json));
        drop(error);
    }
}

static void write_page(struct analysis *analysis, const struct argus_contexts_report *contexts)
{
    struct argus_page page = {
        .hangs = &analysis->hangs,
        .diagnosed = analysis->diagnosed,
        .diagnosed_count = analysis->diagnosed_count,
        .contexts = contexts,
        .contexts_note = "a note",
    };
    drop(argus_page_write(&analysis->report, &page));
}

static void infer_contexts(struct analysis *analysis, bool page)
{
    struct argus_contexts_options wanted = ARGUS_CONTEXTS_OPTIONS;
    struct argus_ranking_options ranking = {.every = true};
    struct argus_contexts_report report = {.top = 20, .tree = true, .options = ranking};
    struct argus_contexts *contexts = NULL;
    struct argus_ranking ranked = {0};
    struct argus_error *error =
        argus_contexts_create(analysis->graph, analysis->symbols, &wanted, NULL, NULL, &contexts);
    if (!error)
        error = argus_contexts_rank(contexts, contexts, &ranking, &ranked);
    report.contexts = contexts;
    report.ranking = &ranked;
    const struct argus_sink *sink = analysis->report.sink;
    for (int json = 0; json < 2 && !error; json++)
        drop(argus_report_contexts(sink, &report, json));
    if (!error)
        drop(argus_report_contexts_folded(sink, &report));
    if (!error)
        drop(argus_report_contexts_speedscope(sink, &report));
    if (page)
        write_page(analysis, error ? NULL : &report);
    argus_ranking_deinit(&ranked);
    argus_contexts_destroy(contexts);
    drop(error);
}

static void show_vertices(struct analysis *analysis)
{
    const struct argus_vertex *vertices;
    struct argus_report_messages_options messages = {.pairs = true};
    size_t count = argus_graph_vertices(analysis->graph, &vertices);
    for (uint32_t v = 0; v < count && v < 8; v++)
        for (int json = 0; json < 2; json++)
            drop(argus_report_vertex(&analysis->report, v, NULL, 0, json));
    for (int json = 0; json < 2; json++) {
        drop(argus_report_graph_summary(&analysis->report, json));
        drop(argus_report_messages(analysis->report.sink, analysis->trace, &messages, json));
    }
}

void analyse_trace(const struct argus_trace *trace, const uint8_t *data, size_t size)
{
    enum { VERTICES, HANGS, CONTEXTS, PAGE, PARTS };
    uint64_t sum = 0;
    struct argus_sink sink = {.write = take_text, .context = &sum};
    struct analysis analysis = {.trace = trace};
    drop(argus_graph_build(trace, NULL, NULL, NULL, &analysis.graph));
    if (!analysis.graph)
        return;
    drop(argus_symbols_create(analysis.graph, &analysis.symbols));
    analysis.report = (struct argus_report_context){analysis.graph, analysis.symbols, &sink};
    bool page = fuzz_does(data, size, PAGE, PARTS);
    if (fuzz_does(data, size, VERTICES, PARTS))
        show_vertices(&analysis);
    if (page || fuzz_does(data, size, HANGS, PARTS))
        diagnose(&analysis);
    if (page || fuzz_does(data, size, CONTEXTS, PARTS))
        infer_contexts(&analysis, page);
    for (size_t i = 0; i < analysis.diagnosed_count; i++)
        argus_diagnosis_deinit(&analysis.diagnoses[i]);
    argus_hangs_deinit(&analysis.hangs);
    argus_symbols_destroy(analysis.symbols);
    argus_graph_destroy(analysis.graph);
}
