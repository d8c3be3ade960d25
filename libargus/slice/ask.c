#include "slice/ask.h"

#include <string.h>

static int take_default(void *context, const struct argus_question *question,
                        enum argus_answer_by *ret_by)
{
    (void)context;
    (void)question;
    *ret_by = ARGUS_BY_AUTO;
    return ARGUS_ANSWER_DEFAULT;
}

struct argus_asker argus_asker_auto(void)
{
    return (struct argus_asker){.ask = take_default};
}

const char *argus_question_kind_name(enum argus_question_kind kind)
{
    static const char *const names[] = {
        [ARGUS_QUESTION_HANG] = "hang",       [ARGUS_QUESTION_PREDECESSOR] = "predecessor",
        [ARGUS_QUESTION_WEAK] = "weak",       [ARGUS_QUESTION_BASELINE] = "baseline",
        [ARGUS_QUESTION_CULPRIT] = "culprit",
    };
    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

size_t argus_asked_runner_up(const struct argus_asked *asked)
{
    if (asked->option_count < 2)
        return asked->option_count;
    if (asked->runner_up != asked->default_option)
        return asked->runner_up;
    return asked->default_option == 0 ? 1 : 0;
}

static void asked_deinit(struct argus_asked *asked)
{
    for (size_t i = 0; i < asked->option_count; i++)
        free(asked->options[i]);
    free(asked->options);
    free(asked->text);
    free(asked->default_reason);
}

void asked_free(struct argus_asked *asked, size_t count)
{
    for (size_t i = 0; i < count; i++)
        asked_deinit(&asked[i]);
    free(asked);
}

/* Copies `question` for the lifetime of the result; false without memory. */
static bool copy_question(const struct argus_question *question, struct argus_asked *ret)
{
    *ret = (struct argus_asked){.kind = question->kind,
                                .default_option = question->default_option,
                                .runner_up = question->runner_up,
                                .answer = ARGUS_ANSWER_OPEN};
    ret->text = strdup(question->text);
    ret->default_reason = strdup(question->default_reason);
    ret->options = calloc(question->option_count, sizeof(*ret->options));
    if (!ret->text || !ret->default_reason || !ret->options)
        return false;
    for (size_t i = 0; i < question->option_count; i++, ret->option_count++) {
        ret->options[i] = strdup(question->options[i].text);
        if (!ret->options[i])
            return false;
    }
    return true;
}

struct argus_error *ask(struct ask_list *list, const struct argus_question *question, int *ret)
{
    struct argus_asked asked;
    if (!copy_question(question, &asked) || !vec_push(&list->asked, asked)) {
        asked_deinit(&asked);
        return argus_error_memory();
    }
    struct argus_asked *kept = &list->asked.data[list->asked.length - 1];
    int answer = list->asker.ask(list->asker.context, question, &kept->by);
    if (answer == ARGUS_ANSWER_OPEN)
        return argus_error_create(ARGUS_ERROR_QUESTION, "a question is open: %s", question->text);
    if (answer != ARGUS_ANSWER_STOP && (answer < 0 || (size_t)answer >= question->option_count))
        answer = (int)question->default_option;
    kept->answer = answer;
    *ret = answer;
    return NULL;
}

struct argus_asked *ask_list_take(struct ask_list *list, size_t *ret_count)
{
    struct argus_asked *asked = list->asked.data;
    *ret_count = list->asked.length;
    list->asked.data = NULL;
    vec_deinit(&list->asked);
    return asked;
}
