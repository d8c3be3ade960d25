/* diagnose_json TRACE PROCESS [ANSWER…]: what `argus diagnose --json` prints, from libargus alone
 * and with the symbols that the trace has. Answers are option numbers from 1, "stop" or "open"; without any, or after
 * the last, the defaults apply. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/report.h"
#include "argus/symbols.h"

struct answers {
    char **next;
};

static int answer(void *context, const struct argus_question *question,
                  enum argus_answer_by *ret_by)
{
    struct answers *answers = context;
    (void)question;
    *ret_by = ARGUS_BY_LIST;
    if (!*answers->next) {
        *ret_by = ARGUS_BY_AUTO;
        return ARGUS_ANSWER_DEFAULT;
    }
    const char *word = *answers->next++;
    if (strcmp(word, "stop") == 0)
        return ARGUS_ANSWER_STOP;
    return strcmp(word, "open") == 0 ? ARGUS_ANSWER_OPEN : atoi(word) - 1;
}

static bool print(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

static struct argus_error *run(const struct argus_graph *graph, struct argus_symbols *symbols,
                               const char *process, char **words)
{
    struct answers answers = {.next = words};
    struct argus_asker asker = {.ask = answer, .context = &answers};
    struct argus_hang_options options = {.process_name = process, .at_least_one = true};
    struct argus_sink sink = {.write = print, .context = stdout};
    struct argus_report_context context = {.graph = graph, .symbols = symbols, .sink = &sink};
    struct argus_hangs hangs;
    struct argus_diagnosis diagnosis;
    struct argus_error *error = argus_hangs_find(graph, &options, &hangs);
    if (error)
        return error;
    if (hangs.count == 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no hang");
    error = argus_diagnose(graph, symbols, &hangs.items[0], NULL, asker, &diagnosis);
    argus_hangs_deinit(&hangs);
    if (error && error->code != ARGUS_ERROR_QUESTION)
        return error;
    struct argus_error *written = argus_report_diagnosis(&context, &diagnosis, true);
    argus_diagnosis_deinit(&diagnosis);
    if (error)
        argus_error_destroy(written);
    return error ? error : written;
}

int main(int argc, char **argv)
{
    struct argus_trace *trace = NULL;
    struct argus_graph *graph = NULL;
    struct argus_symbols *symbols = NULL;
    if (argc < 3)
        return 2;
    struct argus_error *error = argus_trace_open(argv[1], &trace);
    if (!error)
        error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (!error)
        error = argus_symbols_create(graph, &symbols);
    if (!error)
        error = run(graph, symbols, argv[2], argv + 3);
    int code = !error ? 0 : error->code == ARGUS_ERROR_QUESTION ? 3 : 1;
    if (error)
        fprintf(stderr, "diagnose_json: %s\n", error->message);
    argus_error_destroy(error);
    argus_symbols_destroy(symbols);
    argus_graph_destroy(graph);
    argus_trace_close(trace);
    return code;
}
