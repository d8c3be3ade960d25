/* `argus undo`: takes back the last answer of the last walk, and repeats the walk up to that
 * question. */
#include "plugin/answers/answers.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *take_back(struct answer_book *book)
{
    json_t *walk = answer_book_last(book);
    size_t count = walk ? answer_book_count(walk) : 0;
    if (count == 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "there is no answer to take back ('argus answers' lists them)");
    json_array_remove(json_object_get(walk, "answers"), count - 1);
    return answer_book_save(book);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct answer_book book;
    const char *path;
    size_t next;
    struct argus_error *error = answer_book_of(session, arguments, 0, &next, &path, &book);
    if (!error)
        error = take_back(&book);
    if (!error)
        error = answer_book_run(session, answer_book_last(&book), next ? path : NULL, NULL,
                                arguments_has(arguments, "json"));
    answer_book_deinit(&book);
    return error;
}

const struct command command_undo = {
    .name = "undo",
    .arguments = "",
    .summary = "take the last answer back, and ask its question again",
    .details = "The walk is the last one that was begun or continued. If nobody can be asked,\nthe "
               "question is printed and the exit code is 3.",
    .example = "argus undo freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
