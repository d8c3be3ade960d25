#include "plugin/hang_choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/hang_of_file.h"
#include "plugin/units.h"

enum { OPTIONS_MAX = 20, TEXT_BYTES = 256 };

void hang_choice_deinit(struct hang_choice *choice)
{
    if (!choice->has_asked)
        return;
    for (size_t i = 0; choice->asked.options && i < choice->asked.option_count; i++)
        free(choice->asked.options[i]);
    free(choice->asked.options);
    free(choice->asked.text);
    free(choice->asked.default_reason);
    choice->has_asked = false;
}

static void describe(const struct analysis *analysis, const struct argus_hang *hang, char *buffer,
                     size_t bytes)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    char time[64], duration[64];
    argus_graph_threads(analysis->graph, &threads);
    argus_graph_processes(analysis->graph, &processes);
    const struct argus_thread *thread = &threads[hang->thread];
    const struct argus_process *process = &processes[thread->process];
    snprintf(
        buffer, bytes, "%s (pid %llu), thread %s (%llu): %s from %s, %s", process->name,
        (unsigned long long)process->pid, thread->name, (unsigned long long)thread->tid,
        argus_duration_text(hang->end_ns - hang->start_ns, duration, sizeof(duration)),
        argus_time_text(argus_graph_trace(analysis->graph), hang->start_ns, time, sizeof(time)),
        argus_vertex_type_name(hang->type));
}

/* Keeps the question as it was asked, for the report. */
static bool keep_asked(const struct argus_question *question, int answer, enum argus_answer_by by,
                       struct hang_choice *ret)
{
    struct argus_asked *asked = &ret->asked;
    ret->has_asked = true;
    *asked = (struct argus_asked){
        .kind = question->kind,
        .text = strdup(question->text),
        .default_reason = strdup(question->default_reason),
        .options = calloc(question->option_count, sizeof(*asked->options)),
        .option_count = question->option_count,
        .default_option = question->default_option,
        .runner_up = question->runner_up,
        .answer = answer,
        .by = by,
    };
    bool whole = asked->text && asked->default_reason && asked->options;
    for (size_t i = 0; whole && i < question->option_count; i++)
        whole = (asked->options[i] = strdup(question->options[i].text)) != NULL;
    return whole;
}

static struct argus_error *choose(const struct argus_hangs *hangs,
                                  const struct argus_question *question, struct argus_asker asker,
                                  struct hang_choice *ret)
{
    enum argus_answer_by by = ARGUS_BY_AUTO;
    int answer = asker.ask(asker.context, question, &by);
    if (answer == ARGUS_ANSWER_DEFAULT)
        answer = (int)question->default_option;
    if (!keep_asked(question, answer, by, ret))
        return argus_error_memory();
    if (answer == ARGUS_ANSWER_OPEN)
        return argus_error_create(ARGUS_ERROR_QUESTION, "the question which hang is meant is open");
    if (answer < 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no hang was chosen");
    ret->hang = hangs->items[answer];
    return NULL;
}

static struct argus_error *ask_which(const struct analysis *analysis,
                                     const struct argus_hangs *hangs, struct argus_asker asker,
                                     struct hang_choice *ret)
{
    size_t count = hangs->count < OPTIONS_MAX ? hangs->count : OPTIONS_MAX;
    struct argus_option options[OPTIONS_MAX];
    char texts[OPTIONS_MAX][TEXT_BYTES];
    for (size_t i = 0; i < count; i++) {
        describe(analysis, &hangs->items[i], texts[i], TEXT_BYTES);
        options[i] = (struct argus_option){texts[i], hangs->items[i].vertex};
    }
    struct argus_question question = {.kind = ARGUS_QUESTION_HANG,
                                      .text = "Which hang is to be explained?",
                                      .options = options,
                                      .option_count = count,
                                      .default_reason = "the longest"};
    return choose(hangs, &question, asker, ret);
}

static struct argus_error *none_found(const struct argus_hang_options *options)
{
    char threshold[64];
    argus_duration_text(options->threshold_ns ? options->threshold_ns : ARGUS_HANG_THRESHOLD_NS,
                        threshold, sizeof(threshold));
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND,
        "no event loop was away from its wait for %s or longer; name the process "
        "(--process=NAME), a vertex, or a smaller --threshold",
        threshold);
}

static struct argus_error *take(const struct argus_hangs *hangs, const char *word,
                                struct hang_choice *ret)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    if (!isdigit((unsigned char)*word) || *end)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "'%s' is neither a vertex (v1234) nor a number of 'argus hangs'",
                                  word);
    if (number < 1 || number > hangs->count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no hang %lu: 'argus hangs' lists %zu",
                                  number, hangs->count);
    ret->hang = hangs->items[number - 1];
    return NULL;
}

static struct argus_error *choose_among(const struct analysis *analysis,
                                        const struct argus_hang_options *options,
                                        const struct argus_hangs *hangs, const char *word,
                                        struct argus_asker asker, struct hang_choice *ret)
{
    if (word)
        return take(hangs, word, ret);
    if (!hangs->count)
        return none_found(options);
    if (hangs->count > 1)
        return ask_which(analysis, hangs, asker, ret);
    ret->hang = hangs->items[0];
    return NULL;
}

/* HANG or V, given as a word or by --hang; NULL: neither was given. */
static const char *wanted_word(const struct analysis *analysis)
{
    const char *option = arguments_option(analysis->arguments, "hang");
    return option ? option : analysis_word(analysis, 0);
}

/* Whether `word` is a process id of the trace and not an index in the list; then the process is
 * meant. --hang takes only an index. */
static bool is_pid(const struct analysis *analysis, const char *word, size_t hang_count,
                   uint64_t *ret)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(analysis->graph, &processes);
    if (!word || arguments_has(analysis->arguments, "hang") ||
        !units_parse(word, units_none, ret) || *ret <= hang_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == *ret)
            return true;
    return false;
}

/* Finds the candidate hangs. `*ret_word` is the word that chooses among them, or NULL. */
static struct argus_error *find(const struct analysis *analysis,
                                const struct argus_hang_options *options, const char **ret_word,
                                struct argus_hangs *ret)
{
    struct argus_hang_options wanted = *options;
    uint64_t pid;
    *ret_word = wanted_word(analysis);
    wanted.at_least_one = hang_options_name(&wanted);
    struct argus_error *error = argus_hangs_find(analysis->graph, &wanted, ret);
    if (error || wanted.pid || !is_pid(analysis, *ret_word, ret->count, &pid))
        return error;
    argus_hangs_deinit(ret);
    *ret_word = NULL;
    wanted.pid = pid;
    wanted.at_least_one = true;
    return argus_hangs_find(analysis->graph, &wanted, ret);
}

struct argus_error *hang_choice_make(const struct analysis *analysis,
                                     const struct argus_hang_options *options,
                                     struct argus_asker asker, struct hang_choice *ret)
{
    const char *word = wanted_word(analysis);
    if (word && arguments_has(analysis->arguments, "hang") && analysis_word(analysis, 0))
        return argus_error_create(ARGUS_ERROR_USAGE, "the hang is given twice: '%s' and --hang=%s",
                                  analysis_word(analysis, 0), word);
    if (word && word[0] == 'v') {
        uint32_t vertex;
        struct argus_error *error = analysis_vertex(analysis, word, &vertex);
        if (!error)
            ret->hang = argus_hang_of_vertex(analysis->graph, vertex);
        return error;
    }
    bool found = false;
    struct argus_hangs hangs;
    struct argus_error *error = NULL;
    if (!word && !hang_options_name(options))
        error = hang_of_file_find(analysis->graph, analysis->report.symbols, &ret->hang, &found);
    if (error || found)
        return error;
    error = find(analysis, options, &word, &hangs);
    if (error)
        return error;
    error = choose_among(analysis, options, &hangs, word, asker, ret);
    argus_hangs_deinit(&hangs);
    return error;
}
