/* `argus answers export`: prints the walks as command lines that ask no more questions. */
#include "plugin/answers/answers.h"

static struct argus_error *print(struct session *session, const struct answer_book *book,
                                 const char *file)
{
    json_t *walk;
    size_t i;
    json_array_foreach(book->walks, i, walk)
    {
        if (answer_book_count(walk) == 0)
            continue;
        answer_book_write_line(walk, file, true, session->out);
        session_printf(session, "\n");
    }
    return NULL;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct answer_book book;
    const char *path;
    size_t next;
    struct argus_error *error = answer_book_of(session, arguments, 0, &next, &path, &book);
    if (!error)
        error = print(session, &book, path);
    answer_book_deinit(&book);
    return error;
}

const struct command command_answers_export = {
    .name = "answers export",
    .arguments = "",
    .summary = "print what was answered as commands with --answers",
    .details = "One line for each walk, for a script or for another person who has the trace.",
    .example = "argus answers export freeze.argus",
    .flags = COMMAND_TRACE,
    .run = run,
};
