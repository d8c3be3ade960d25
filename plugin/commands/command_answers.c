/* `argus answers`: prints the answers that are kept for a trace. */
#include "plugin/answers/answers.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* Prints text without escape sequences, because anybody may have written the file. */
static void print_text(struct session *session, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, session->out);
}

static void print_answer(struct session *session, const json_t *answer)
{
    json_int_t number = json_integer_value(json_object_get(answer, "number"));
    session_printf(session, "  ");
    print_text(session, json_string_value(json_object_get(answer, "question")));
    if (number == 0) {
        session_printf(session, "\n    stop\n");
        return;
    }
    session_printf(session, "\n    %d: ", (int)number);
    print_text(session, json_string_value(json_object_get(answer, "option")));
    session_printf(session, "\n");
}

static void print_walk(struct session *session, const json_t *walk, const char *file)
{
    json_t *answer;
    size_t i;
    const char *open = json_string_value(json_object_get(walk, "open"));
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (!out)
        return;
    answer_book_write_line(walk, file, false, out);
    fclose(out);
    print_text(session, line);
    free(line);
    session_printf(session, "\n");
    json_array_foreach(json_object_get(walk, "answers"), i, answer)
    {
        print_answer(session, answer);
    }
    if (!open)
        return;
    session_printf(session, "  ");
    print_text(session, open);
    session_printf(session, "\n    open\n");
}

static struct argus_error *print(struct session *session, const struct answer_book *book,
                                 const char *file, bool as_json)
{
    json_t *walk;
    size_t i;
    if (as_json)
        return json_output(session, "argus-answers 1",
                           json_pack("{s:s?, s:O}", "file", book->path, "walks", book->walks));
    if (json_array_size(book->walks) == 0)
        session_printf(session, "nothing was answered about this trace\n");
    else
        session_printf(session, "kept in %s\n", book->path);
    json_array_foreach(book->walks, i, walk)
    {
        session_printf(session, "\n");
        print_walk(session, walk, file);
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
        error = print(session, &book, next ? path : NULL, arguments_has(arguments, "json"));
    answer_book_deinit(&book);
    return error;
}

const struct command command_answers = {
    .name = "answers",
    .arguments = "",
    .summary = "list what was answered about a trace",
    .details = "A person's answers are kept as FILE.answers next to the trace or, if "
               "that\ncannot be written, in ~/.cache/argus. They are used the next time "
               "that the\nsame command asks the same question. --answers and --auto ignore them.",
    .example = "argus answers freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
