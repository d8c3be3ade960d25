#include "plugin/hang_choice.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "argus/recorded_command.h"
#include "plugin/hang_of_file.h"
#include "plugin/units.h"
#include "slice/ask.h"

enum { OPTIONS_MAX = 20 };

void hang_choice_deinit(struct hang_choice *choice)
{
    asked_free(choice->asked, choice->asked_count);
    *choice = (struct hang_choice){.asked = NULL};
}

static struct argus_error *ask_which(const struct argus_hangs *hangs, struct argus_asker asker,
                                     struct hang_choice *ret)
{
    size_t count = hangs->count < OPTIONS_MAX ? hangs->count : OPTIONS_MAX;
    struct argus_option options[OPTIONS_MAX];
    for (size_t i = 0; i < count; i++) {
        const struct argus_hang *hang = &hangs->items[i];
        options[i] = (struct argus_option){.kind = ARGUS_OPTION_HANG,
                                           .vertex = hang->vertex,
                                           .hang = {.thread = hang->thread,
                                                    .type = hang->type,
                                                    .start_ns = hang->start_ns,
                                                    .end_ns = hang->end_ns}};
    }
    struct argus_question question = {.kind = ARGUS_QUESTION_HANG,
                                      .vertex = ARGUS_NONE,
                                      .options = options,
                                      .option_count = count,
                                      .default_reason = ARGUS_DEFAULT_LONGEST};
    struct ask_list questions = {.asker = asker};
    int answer;
    struct argus_error *error = ask(&questions, &question, &answer);
    ret->asked = ask_list_take(&questions, &ret->asked_count);
    if (error)
        return error;
    if (answer == ARGUS_ANSWER_STOP)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no hang was chosen");
    ret->hang = hangs->items[answer];
    return NULL;
}

static struct argus_error *none_found(const struct argus_hang_options *options)
{
    char threshold[64];
    argus_duration_text(argus_hang_threshold_ns(options), threshold, sizeof(threshold));
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

static struct argus_error *choose_among(const struct argus_hang_options *options,
                                        const struct argus_hangs *hangs, const char *word,
                                        struct argus_asker asker, struct hang_choice *ret)
{
    if (word)
        return take(hangs, word, ret);
    if (!hangs->count)
        return none_found(options);
    if (hangs->count > 1)
        return ask_which(hangs, asker, ret);
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
    return word && !arguments_has(analysis->arguments, "hang") &&
           units_parse(word, units_none, ret) && *ret > hang_count &&
           analysis_has_process(analysis, *ret);
}

/* If no event loop hung, the recorded command is meant, unless its process is an event loop itself:
 * only the user waits for it. A command that ended sooner than the threshold is no hang. */
static struct argus_error *find_of_command(const struct analysis *analysis,
                                           const struct argus_hang_options *options,
                                           struct argus_hangs *ret)
{
    struct argus_hang_options wanted = *options;
    struct argus_loops loops;
    wanted.pid = argus_recorded_command_pid(analysis->trace->trace);
    wanted.at_least_one = true;
    if (!wanted.pid)
        return NULL;
    struct argus_error *error = argus_loops_find(analysis->graph, &wanted, &loops);
    if (error)
        return error;
    bool is_loop = loops.count > 0;
    argus_loops_deinit(&loops);
    if (is_loop)
        return NULL;
    argus_hangs_deinit(ret);
    error = argus_hangs_find(analysis->graph, &wanted, ret);
    if (error)
        return error;
    hang_options_drop_short(options, ret);
    if (ret->count)
        session_note(analysis->session,
                     "no event loop hung: the recorded command is explained (pid %" PRIu64 ")",
                     wanted.pid);
    return NULL;
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
    if (!error && !ret->count && !*ret_word && !wanted.at_least_one) {
        error = find_of_command(analysis, options, ret);
        if (error)
            argus_hangs_deinit(ret);
        return error;
    }
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
    if (!word && !hang_options_name(options))
        hang_of_file_warn(analysis->session, argus_graph_trace(analysis->graph));
    error = find(analysis, options, &word, &hangs);
    if (error)
        return error;
    error = choose_among(options, &hangs, word, asker, ret);
    argus_hangs_deinit(&hangs);
    return error;
}
