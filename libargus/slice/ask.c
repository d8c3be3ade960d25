#include "slice/ask.h"

#include <stdlib.h>
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

size_t argus_asked_runner_up(const struct argus_asked *asked)
{
    const struct argus_question *question = &asked->question;
    if (question->option_count < 2)
        return question->option_count;
    if (question->runner_up != question->default_option)
        return question->runner_up;
    return question->default_option == 0 ? 1 : 0;
}

void asked_free_options(struct argus_asked *asked)
{
    free((struct argus_option *)asked->question.options);
}

void asked_free(struct argus_asked *asked, size_t count)
{
    for (size_t i = 0; i < count; i++)
        asked_free_options(&asked[i]);
    free(asked);
}

/* Copies `question` for the lifetime of the result; false without memory. */
static bool keep_question(struct ask_list *list, const struct argus_question *question)
{
    struct argus_option *options = calloc(question->option_count, sizeof(*options));
    struct argus_asked asked = {.question = *question, .answer = ARGUS_ANSWER_OPEN};
    asked.question.options = options;
    if (options && vec_push(&list->asked, asked)) {
        memcpy(options, question->options, question->option_count * sizeof(*options));
        return true;
    }
    free(options);
    return false;
}

struct argus_error *ask(struct ask_list *list, const struct argus_question *question, int *ret)
{
    if (!keep_question(list, question))
        return argus_error_memory();
    struct argus_asked *kept = &list->asked.data[list->asked.length - 1];
    int answer = list->asker.ask(list->asker.context, question, &kept->by);
    if (answer == ARGUS_ANSWER_OPEN)
        return argus_error_create(ARGUS_ERROR_QUESTION, "a question is open");
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
