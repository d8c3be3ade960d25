#include "plugin/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/answers/answer_prompt.h"
#include "plugin/arguments.h"
#include "plugin/json_output.h"

enum { WORD_BYTES = 128 };

/* --- earlier answers --- */

/* An answers file that cannot be used does not stop the command, but is not overwritten. */
static void open_book(struct answers *answers)
{
    struct argus_error *error = answer_book_open(answers->analysis->trace->path, &answers->book);
    if (error) {
        session_warn(answers->session, "%s ('argus answers clear' removes it)", error->message);
        argus_error_destroy(error);
        answer_book_deinit(&answers->book);
        return;
    }
    answers->keeps = true;
    if (answers->book.left_out)
        session_warn(answers->session, "%s belongs to another user: its answers are not used",
                     answers->book.left_out);
    if (!answers->rest)
        answers->kept =
            answer_book_find(&answers->book, answers->arguments, answers->analysis->next);
}

void answers_begin(const struct analysis *analysis, struct answers *ret)
{
    struct session *session = analysis->session;
    const struct arguments *arguments = analysis->arguments;
    *ret = (struct answers){
        .analysis = analysis,
        .session = session,
        .arguments = arguments,
        .rest = arguments_option(arguments, "answers"),
        /* The command that continues would record once more. */
        .automatic = arguments_has(arguments, "auto") || arguments_has(arguments, "live"),
    };
    session->no_ask = arguments_has(arguments, "no-ask");
    ret->may_prompt = !ret->automatic && !session->no_ask;
    if (ret->may_prompt)
        open_book(ret);
}

void answers_deinit(struct answers *answers)
{
    if (answers->keeps)
        answer_book_deinit(&answers->book);
    vec_deinit(&answers->script);
}

/* The earlier answer to this question. From the first question on that differs from the earlier
 * walk, ANSWER_NONE. */
static int answer_from_book(struct answers *answers, const struct argus_question *question)
{
    int answer;
    if (!answers->kept || answers->asked > answer_book_count(answers->kept))
        return ANSWER_NONE;
    if (answer_book_answer(answers->kept, answers->asked - 1, answers->analysis->graph, question,
                           &answer)) {
        answers->kept_used++;
        return answer;
    }
    session_note(
        answers->session,
        "the answers kept in %s belong to other questions and are not used from question %zu on",
        answers->book.path, answers->asked);
    answers->kept = NULL;
    return ANSWER_NONE;
}

/* --- answers --- */

int answer_parse(const char *word, size_t count)
{
    char *end;
    if (!strcmp(word, "stop"))
        return ARGUS_ANSWER_STOP;
    if (!strcmp(word, "default"))
        return ARGUS_ANSWER_DEFAULT;
    unsigned long number = strtoul(word, &end, 10);
    bool valid = *word >= '0' && *word <= '9' && !*end && number >= 1 && number <= count;
    return valid ? (int)number - 1 : ANSWER_NONE;
}

/* The next word of a list with commas; false at the end. */
static bool next_word(const char **rest, char *ret, size_t ret_bytes)
{
    if (!*rest || !**rest)
        return false;
    size_t length = strcspn(*rest, ",");
    snprintf(ret, ret_bytes, "%.*s", (int)length, *rest);
    *rest += length;
    *rest += **rest == ',';
    return true;
}

static int answer_from_word(struct answers *answers, const char *list, const char *word,
                            size_t option_count)
{
    int answer = answer_parse(word, option_count);
    if (answer != ANSWER_NONE)
        return answer;
    snprintf(answers->bad_answer, sizeof(answers->bad_answer),
             "%s: answer %zu, '%.32s', is not 1 to %zu, stop or default", list, answers->used, word,
             option_count);
    return ARGUS_ANSWER_OPEN;
}

void answers_write_question(FILE *out, const struct argus_graph *graph,
                            const struct argus_question *question)
{
    char text[ARGUS_OPTION_TEXT_BYTES];
    fprintf(out, "%s\n", argus_question_text(question, text, sizeof(text)));
    for (size_t i = 0; i < question->option_count; i++) {
        fprintf(out, "  %zu) %s", i + 1,
                argus_option_text(graph, &question->options[i], text, sizeof(text)));
        if (i == question->default_option)
            fprintf(out, "  [default: %s]",
                    argus_default_reason_text(question, text, sizeof(text)));
        fputc('\n', out);
    }
}

static int go_back(struct answers *answers)
{
    answers->script.length--;
    answers->back = true;
    answers->kept = NULL; /* otherwise it would give the same answer again */
    return ARGUS_ANSWER_OPEN;
}

static int answer_from_user(struct answers *answers, const struct argus_question *question)
{
    struct session *session = answers->session;
    if (!answers->may_prompt || !session->host.can_ask(session->host.data))
        return ARGUS_ANSWER_OPEN;
    session_end_progress(session);
    int answer = answer_prompt(answers->analysis, question, answers->script.length > 0);
    return answer == ANSWER_BACK ? go_back(answers) : answer;
}

/* Finds an answer to a question that was not asked before. */
static int find_answer(struct answers *answers, const struct argus_question *question,
                       enum argus_answer_by *ret_by)
{
    char word[WORD_BYTES];
    *ret_by = ARGUS_BY_LIST;
    if (next_word(&answers->rest, word, sizeof(word))) {
        answers->used++;
        return answer_from_word(answers, "--answers", word, question->option_count);
    }
    *ret_by = ARGUS_BY_AUTO;
    if (answers->automatic)
        return ARGUS_ANSWER_DEFAULT;
    *ret_by = ARGUS_BY_FILE;
    int answer = answer_from_book(answers, question);
    if (answer != ANSWER_NONE)
        return answer;
    *ret_by = ARGUS_BY_USER;
    if (next_word(&answers->session->next_answers, word, sizeof(word))) {
        answers->used++;
        answer = answer_from_word(answers, "argus answer", word, question->option_count);
    } else {
        answer = answer_from_user(answers, question);
    }
    answers->by_user |= answer != ARGUS_ANSWER_OPEN;
    return answer;
}

static int ask(void *context, const struct argus_question *question, enum argus_answer_by *ret_by)
{
    struct answers *answers = context;
    size_t index = answers->asked++;
    if (index < answers->script.length) {
        *ret_by = answers->script.data[index].by;
        return answers->script.data[index].answer;
    }
    struct answered answered = {.answer = find_answer(answers, question, ret_by), .by = *ret_by};
    if (answered.answer != ARGUS_ANSWER_OPEN && !vec_push(&answers->script, answered))
        return ARGUS_ANSWER_OPEN;
    return answered.answer;
}

struct argus_asker answers_asker(struct answers *answers)
{
    return (struct argus_asker){ask, answers};
}

bool answers_again(struct answers *answers, struct argus_error **error)
{
    if (!answers->back)
        return false;
    argus_error_destroy(*error);
    *error = NULL;
    answers->back = false;
    answers->asked = 0;
    return true;
}

static void write_continuation(FILE *out, const struct answers *answers,
                               const struct argus_asked *asked, size_t count)
{
    fprintf(out, "To go on, with N for your answer (1 to %zu, stop or default):\n  ",
            asked[count - 1].question.option_count);
    arguments_write_line(answers->arguments, "answers", out);
    fprintf(out, " --answers=");
    for (size_t i = 0; i + 1 < count; i++) {
        if (asked[i].answer == ARGUS_ANSWER_STOP)
            fprintf(out, "stop,");
        else
            fprintf(out, "%d,", asked[i].answer + 1);
    }
    fprintf(out, "N\n");
    if (answers->keeps && answers->book.path) {
        fprintf(out, "or:\n  argus answer ");
        if (answers->analysis->next > 0)
            arguments_write_quoted(arguments_word(answers->arguments, 0), out);
        fprintf(out, "%sN\n", answers->analysis->next > 0 ? " " : "");
    }
    fprintf(out, "or with --auto, which takes every default.");
}

static void show_open_question(struct answers *answers, const struct argus_asked *asked,
                               size_t count)
{
    bool json = arguments_has(answers->arguments, "json");
    char *text = NULL;
    size_t length = 0;
    if (json && answers->session->in_lldb) { /* a script gets output and errors as one object */
        argus_error_destroy(
            json_output(answers->session, "argus-questions 1",
                        json_pack("{s:o}", "questions",
                                  json_questions(answers->analysis->graph, asked, count))));
        return;
    }
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    answers_write_question(out, answers->analysis->graph, &asked[count - 1].question);
    write_continuation(out, answers, asked, count);
    fclose(out);
    if (json)
        session_note(answers->session, "%s", text);
    else
        session_printf(answers->session, "%s\n", text);
    free(text);
}

/* Keeps the answers that the user gave, and the question that is open. */
static void keep_answers(struct answers *answers, const struct argus_asked *asked, size_t count)
{
    bool open = count > 0 && asked[count - 1].answer == ARGUS_ANSWER_OPEN, changed = false;
    if (!answers->keeps || !(answers->by_user || open))
        return;
    struct argus_error *error =
        answer_book_note(&answers->book, answers->analysis, asked, count, &changed);
    if (!error && changed)
        error = answer_book_save(&answers->book);
    if (error)
        session_note(answers->session, "the answers are not kept: %s", error->message);
    argus_error_destroy(error);
}

static void tell_kept_used(const struct answers *answers)
{
    if (answers->kept_used > 0 && !answers->analysis->json)
        session_note(
            answers->session,
            "%zu answer%s kept in %s %s used: 'argus undo' takes the last one back, 'argus "
            "answers' lists them",
            answers->kept_used, answers->kept_used == 1 ? "" : "s", answers->book.path,
            answers->kept_used == 1 ? "was" : "were");
}

/* The error that a question is open, with its words. */
static struct argus_error *open_error(const struct argus_question *question)
{
    char text[ARGUS_QUESTION_TEXT_BYTES];
    if (question->kind == ARGUS_QUESTION_HANG)
        return argus_error_create(ARGUS_ERROR_QUESTION, "the question which hang is meant is open");
    return argus_error_create(ARGUS_ERROR_QUESTION, "a question is open: %s",
                              argus_question_text(question, text, sizeof(text)));
}

struct argus_error *answers_finish(struct answers *answers, struct argus_error *error,
                                   const struct argus_asked *asked, size_t count)
{
    if (answers->bad_answer[0]) {
        argus_error_destroy(error);
        return argus_error_create(ARGUS_ERROR_USAGE, "%s", answers->bad_answer);
    }
    bool open = error && error->code == ARGUS_ERROR_QUESTION;
    if (!error || open) {
        keep_answers(answers, asked, count);
        tell_kept_used(answers);
    }
    if (open && count) {
        show_open_question(answers, asked, count);
        argus_error_destroy(error);
        error = open_error(&asked[count - 1].question);
    }
    if (!error && answers->rest && *answers->rest)
        session_warn(answers->session, "--answers: '%s' was not needed: only %zu questions came up",
                     answers->rest, count);
    const char *more = answers->session->next_answers;
    if (!error && more && *more)
        session_warn(answers->session, "'%s' was not needed: only %zu questions came up", more,
                     count);
    return error;
}
