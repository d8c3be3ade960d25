/* `argus answers clear`: deletes the answers. An invalid file is deleted too, because this is the
 * way to get rid of it. */
#include "plugin/answers/answers.h"

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct answer_book book;
    const char *path;
    size_t next;
    struct argus_error *error = answer_book_of(session, arguments, 0, &next, &path, &book);
    if (error && error->code == ARGUS_ERROR_FORMAT && book.walks) {
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
    .flags = COMMAND_TRACE | COMMAND_TRACE_NAMED,
    .run = run,
};
