#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/diagnosis_words.h"
#include "report/reason_words.h"
#include "slice/timeline.h"

struct argus_answer {
    struct argus_file *file; /* a reference */
    struct argus_diagnosis diagnosis;
    struct api_text text, json;
    char *summary;                         /* owned, as are the following ones and their texts */
    struct argus_answer_step *steps;       /* path_count of the diagnosis */
    struct argus_answer_culprit *culprits; /* culprit_count */
    char **doubts;                         /* uncertain_count */
};

static struct argus_report_context context_of(const struct argus_answer *answer,
                                              const struct argus_sink *sink)
{
    return (struct argus_report_context){answer->file->trace->graph, answer->file->symbols, sink};
}

/* A copy that is well-formed UTF-8; NULL: no memory. */
static char *copy_of(char *text)
{
    utf8_repair(text, strlen(text));
    return strdup(text);
}

/* --- the parts --- */

static bool take_step(struct argus_answer *answer, const struct argus_report_context *context,
                      size_t at)
{
    char text[REASON_TEXT_BYTES];
    struct view view = view_of(context->graph);
    const struct argus_path_step *from = &answer->diagnosis.path[at];
    const struct argus_edge *edge = from->edge == ARGUS_NONE ? NULL : &view.edges[from->edge];
    const struct argus_thread *thread = &view.threads[view.vertices[from->vertex].thread];
    const struct argus_process *process = &view.processes[thread->process];
    diagnosis_step_text(context, &answer->diagnosis, at, text, sizeof(text));
    answer->steps[at] = (struct argus_answer_step){
        .process = process->name,
        .thread = thread->name,
        .pid = process->pid,
        .tid = thread->tid,
        .text = copy_of(text),
        .edge = edge ? argus_edge_kind_name((enum argus_edge_kind)edge->kind) : NULL,
        .strong = edge && edge->strong,
        .expected = from->expected,
        .vague = from->vague,
        .vertex = from->vertex,
    };
    return answer->steps[at].text;
}

static bool take_culprit(struct argus_answer *answer, const struct argus_report_context *context,
                         size_t at)
{
    char why[REASON_TEXT_BYTES];
    struct view view = view_of(context->graph);
    const struct argus_culprit *from = &answer->diagnosis.culprits[at];
    const struct argus_thread *thread = &view.threads[view.vertices[from->vertex].thread];
    const struct argus_process *process = &view.processes[thread->process];
    const struct argus_costly_function *function = from->function_count ? from->functions : NULL;
    argus_culprit_why(context, from, why, sizeof(why));
    answer->culprits[at] = (struct argus_answer_culprit){
        .process = process->name,
        .thread = thread->name,
        .pid = process->pid,
        .tid = thread->tid,
        .type = argus_vertex_type_name((enum argus_vertex_type)from->type),
        .why = copy_of(why),
        .function = function ? function->name : NULL,
        .image = function && function->image[0] ? function->image : NULL,
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .share = from->share,
        .vertex = from->vertex,
    };
    return answer->culprits[at].why;
}

static bool take_doubt(struct argus_answer *answer, const struct argus_report_context *context,
                       size_t at)
{
    char text[REASON_TEXT_BYTES];
    reason_text(context, &answer->diagnosis.uncertain[at], NULL, text, sizeof(text));
    return (answer->doubts[at] = copy_of(text));
}

static bool take_summary(struct argus_answer *answer)
{
    char text[DIAGNOSIS_SUMMARY_BYTES];
    if (!diagnosis_summary_text(answer->file->trace->graph, &answer->diagnosis, text, sizeof(text)))
        text[0] = '\0';
    return (answer->summary = copy_of(text));
}

static bool take_parts(struct argus_answer *answer)
{
    const struct argus_diagnosis *diagnosis = &answer->diagnosis;
    struct argus_report_context context = context_of(answer, NULL);
    answer->steps = calloc(diagnosis->path_count + 1, sizeof(*answer->steps));
    answer->culprits = calloc(diagnosis->culprit_count + 1, sizeof(*answer->culprits));
    answer->doubts = calloc(diagnosis->uncertain_count + 1, sizeof(*answer->doubts));
    bool good = answer->steps && answer->culprits && answer->doubts && take_summary(answer);
    for (size_t i = 0; good && i < diagnosis->path_count; i++)
        good = take_step(answer, &context, i);
    for (size_t i = 0; good && i < diagnosis->culprit_count; i++)
        good = take_culprit(answer, &context, i);
    for (size_t i = 0; good && i < diagnosis->uncertain_count; i++)
        good = take_doubt(answer, &context, i);
    return good;
}

static struct argus_error *write_report(struct argus_answer *answer, struct api_text *into,
                                        bool json)
{
    struct argus_sink sink = api_text_sink(into);
    struct argus_report_context context = context_of(answer, &sink);
    argus_symbols_forget_frames(answer->file->symbols);
    struct argus_error *error = argus_report_diagnosis(&context, &answer->diagnosis, json);
    return !error && (into->failed || !into->text) ? argus_error_memory() : error;
}

/* --- the answer --- */

static struct argus_error *diagnose(struct argus_answer *answer, const struct argus_hang *hang)
{
    const struct argus_diagnose_options options = {0};
    struct argus_error *error =
        argus_diagnose(answer->file->trace->graph, answer->file->symbols, hang, &options,
                       argus_asker_auto(), &answer->diagnosis);
    if (!error && !take_parts(answer))
        error = argus_error_memory();
    if (!error)
        error = write_report(answer, &answer->text, false);
    return error ? error : write_report(answer, &answer->json, true);
}

struct argus_error *argus_answer_create(struct argus_hang_list *list, size_t index,
                                        struct argus_answer **ret)
{
    if (index >= list->hangs.count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no hang %zu: the list has %zu, from 0",
                                  index, list->hangs.count);
    struct argus_answer *answer = calloc(1, sizeof(*answer));
    if (!answer)
        return argus_error_memory();
    answer->file = api_file_keep(list->file);
    api_file_begin(answer->file);
    struct argus_error *error = diagnose(answer, &list->hangs.items[index]);
    error = api_file_end(answer->file, error);
    if (error) {
        argus_answer_free(answer);
        return error;
    }
    *ret = answer;
    return NULL;
}

void argus_answer_free(struct argus_answer *answer)
{
    if (!answer)
        return;
    const struct argus_diagnosis *diagnosis = &answer->diagnosis;
    for (size_t i = 0; answer->steps && i < diagnosis->path_count; i++)
        free((char *)answer->steps[i].text);
    for (size_t i = 0; answer->culprits && i < diagnosis->culprit_count; i++)
        free((char *)answer->culprits[i].why);
    for (size_t i = 0; answer->doubts && i < diagnosis->uncertain_count; i++)
        free(answer->doubts[i]);
    free(answer->steps);
    free(answer->culprits);
    free(answer->doubts);
    free(answer->summary);
    free(answer->text.text);
    free(answer->json.text);
    argus_diagnosis_deinit(&answer->diagnosis);
    argus_file_close(answer->file);
    free(answer);
}

const char *argus_answer_summary(const struct argus_answer *answer)
{
    return answer->summary;
}

bool argus_answer_is_guess(const struct argus_answer *answer)
{
    return answer->diagnosis.guessed;
}

const char *argus_answer_text(const struct argus_answer *answer)
{
    return answer->text.text;
}

const char *argus_answer_json(const struct argus_answer *answer)
{
    return answer->json.text;
}

const struct argus_answer_step *argus_answer_step_get(const struct argus_answer *answer,
                                                      size_t index)
{
    return index < answer->diagnosis.path_count ? &answer->steps[index] : NULL;
}

const struct argus_answer_culprit *argus_answer_culprit_get(const struct argus_answer *answer,
                                                            size_t index)
{
    return index < answer->diagnosis.culprit_count ? &answer->culprits[index] : NULL;
}

const char *argus_answer_doubt(const struct argus_answer *answer, size_t index)
{
    return index < answer->diagnosis.uncertain_count ? answer->doubts[index] : NULL;
}
