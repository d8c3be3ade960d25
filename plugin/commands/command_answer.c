/* `argus answer`: repeats the walk whose question is open, with its earlier answers and one
 * more. */
#include <string.h>

#include "plugin/answers/answers.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *answer(struct session *session, const struct arguments *arguments,
                                  const struct answer_book *book, const char *file, size_t next)
{
    const json_t *walk = answer_book_last(book);
    if (!walk || json_is_null(json_object_get(walk, "open")))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no question about this trace is open (argus diagnose asks)");
    return answer_book_run(session, walk, file, arguments_word(arguments, next),
                           arguments_has(arguments, "json"));
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct answer_book book;
    const char *path;
    size_t next;
    struct argus_error *error = answer_book_of(session, arguments, 1, &next, &path, &book);
    if (!error)
        error = answer(session, arguments, &book, next ? path : NULL, next);
    answer_book_deinit(&book);
    return error;
}

const struct command command_answer = {
    .name = "answer",
    .arguments = "N",
    .missing = "N is missing: the number of an option, stop or default",
    .summary = "answer the open question, and continue",
    .details = "N is the number of an option, 'stop' or 'default'. Several, separated by\n"
               "commas, also answer the next questions. The walk is the one that was begun\n"
               "last; its answers are kept next to the trace, as FILE.answers.",
    .example = "argus answer freeze.argus 2\nargus answer freeze.argus 1,stop",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
