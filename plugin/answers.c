#include "plugin/answers.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWER_BYTES = 128, NO_ANSWER = -100 };

void answers_begin(struct session *session, const struct arguments *arguments, struct answers *ret)
{
    *ret = (struct answers){
        .session = session,
        .arguments = arguments,
        .rest = arguments_option(arguments, "answers"),
        .automatic = arguments_has(arguments, "auto"),
    };
    session->no_ask = arguments_has(arguments, "no-ask");
    ret->may_prompt = !ret->automatic && !session->no_ask;
}

/* What a word means for a question with `count` options; NO_ANSWER if nothing. */
static int parse_answer(const char *word, size_t count)
{
    char *end;
    if (!strcmp(word, "stop"))
        return ARGUS_ANSWER_STOP;
    if (!strcmp(word, "default"))
        return ARGUS_ANSWER_DEFAULT;
    unsigned long number = strtoul(word, &end, 10);
    bool valid = *word >= '0' && *word <= '9' && !*end && number >= 1 && number <= count;
    return valid ? (int)number - 1 : NO_ANSWER;
}

/* The next word of --answers; false when all are used. */
static bool next_word(struct answers *answers, char *ret, size_t ret_bytes)
{
    if (!answers->rest || !*answers->rest)
        return false;
    size_t length = strcspn(answers->rest, ",");
    snprintf(ret, ret_bytes, "%.*s", (int)length, answers->rest);
    answers->rest += length;
    answers->rest += *answers->rest == ',';
    answers->used++;
    return true;
}

static int answer_from_list(struct answers *answers, const char *word, size_t option_count)
{
    int answer = parse_answer(word, option_count);
    if (answer != NO_ANSWER)
        return answer;
    snprintf(answers->bad_answer, sizeof(answers->bad_answer),
             "--answers: answer %zu, '%.32s', is not 1 to %zu, stop or default", answers->used,
             word, option_count);
    return ARGUS_ANSWER_OPEN;
}

static void write_options(FILE *out, const char *const *texts, size_t count, size_t default_option,
                          const char *reason)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %zu) %s", i + 1, texts[i]);
        if (i == default_option)
            fprintf(out, "  [default%s%s]", reason && *reason ? ": " : "", reason ? reason : "");
        fputc('\n', out);
    }
}

/* The question as lines; the caller frees it. NULL without memory. */
static char *question_text(const struct argus_question *question)
{
    char *text = NULL;
    size_t length = 0;
    const char **texts = calloc(question->option_count + 1, sizeof(*texts));
    FILE *out = texts ? open_memstream(&text, &length) : NULL;
    if (out) {
        for (size_t i = 0; i < question->option_count; i++)
            texts[i] = question->options[i].text;
        fprintf(out, "\n%s\n", question->text);
        write_options(out, texts, question->option_count, question->default_option,
                      question->default_reason);
        fclose(out);
    }
    free(texts);
    return text;
}

/* Asks until the answer is one. Ctrl-C and the end of input leave the question open. */
static int answer_from_user(struct answers *answers, const struct argus_question *question)
{
    struct session_host *host = &answers->session->host;
    char line[ANSWER_BYTES], prompt[96];
    char *text = question_text(question);
    int answer = NO_ANSWER;
    snprintf(prompt, sizeof(prompt), "1 to %zu, stop, or Enter for %zu: ", question->option_count,
             question->default_option + 1);
    while (text && answer == NO_ANSWER) {
        if (!host->read_line(host->data, text, prompt, line, sizeof(line)))
            break;
        char *word = line + strspn(line, " \t");
        word[strcspn(word, " \t")] = '\0';
        answer = *word ? parse_answer(word, question->option_count) : ARGUS_ANSWER_DEFAULT;
        text[0] = '\0'; /* the options are still on the screen */
    }
    free(text);
    return answer == NO_ANSWER ? ARGUS_ANSWER_OPEN : answer;
}

static int ask(void *context, const struct argus_question *question, enum argus_answer_by *ret_by)
{
    struct answers *answers = context;
    struct session_host *host = &answers->session->host;
    char word[ANSWER_BYTES];
    if (next_word(answers, word, sizeof(word))) {
        *ret_by = ARGUS_BY_LIST;
        return answer_from_list(answers, word, question->option_count);
    }
    if (answers->automatic) {
        *ret_by = ARGUS_BY_AUTO;
        return ARGUS_ANSWER_DEFAULT;
    }
    *ret_by = ARGUS_BY_USER;
    if (!answers->may_prompt || !host->can_ask(host->data))
        return ARGUS_ANSWER_OPEN;
    session_end_progress(answers->session);
    return answer_from_user(answers, question);
}

struct argus_asker answers_asker(struct answers *answers)
{
    return (struct argus_asker){ask, answers};
}

static void write_continuation(FILE *out, const struct answers *answers,
                               const struct argus_asked *asked, size_t count)
{
    fprintf(out, "To go on, with N for your answer (1 to %zu, stop or default):\n  ",
            asked[count - 1].option_count);
    arguments_write_line(answers->arguments, "answers", out);
    fprintf(out, " --answers=");
    for (size_t i = 0; i + 1 < count; i++) {
        if (asked[i].answer == ARGUS_ANSWER_STOP)
            fprintf(out, "stop,");
        else
            fprintf(out, "%d,", asked[i].answer + 1);
    }
    fprintf(out, "N\nor with --auto, which takes every default.");
}

static void show_open_question(struct answers *answers, const struct argus_asked *asked,
                               size_t count)
{
    const struct argus_asked *open = &asked[count - 1];
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    fprintf(out, "%s\n", open->text);
    write_options(out, (const char *const *)open->options, open->option_count, open->default_option,
                  open->default_reason);
    write_continuation(out, answers, asked, count);
    fclose(out);
    if (arguments_has(answers->arguments, "json"))
        session_note(answers->session, "%s", text);
    else
        session_printf(answers->session, "%s\n", text);
    free(text);
}

struct argus_error *answers_finish(struct answers *answers, struct argus_error *error,
                                   const struct argus_asked *asked, size_t count)
{
    if (answers->bad_answer[0]) {
        argus_error_destroy(error);
        return argus_error_create(ARGUS_ERROR_USAGE, "%s", answers->bad_answer);
    }
    if (error && error->code == ARGUS_ERROR_QUESTION && count)
        show_open_question(answers, asked, count);
    if (!error && answers->rest && *answers->rest)
        session_warn(answers->session, "--answers: '%s' was not needed: only %zu questions came up",
                     answers->rest, count);
    return error;
}
