/* `argus answers clear`: forgets them. A file that is no book goes, too: that is how one gets rid of it. */
#include "plugin/answers.h"

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct answer_book book = {0};
    const char *path;
    size_t next;
    struct argus_error *error = session_trace_path(session, arguments, &next, &path);
    if (!error)
        error = arguments_expect(arguments, next, next);
    if (error)
        return error;
    error = answer_book_open(path, &book);
    if (error && error->code == ARGUS_ERROR_FORMAT) {
        argus_error_destroy(error);
        error = NULL;
    }
    if (!error) {
        json_array_clear(book.walks);
        error = answer_book_save(&book);
    }
    answer_book_deinit(&book);
    return error;
}

const struct command command_answers_clear = {
    .name = "answers clear",
    .arguments = "",
    .summary = "forget what was answered about a trace",
    .details = NULL,
    .example = "argus answers clear freeze.argus",
    .flags = COMMAND_TRACE,
    .run = run,
};
