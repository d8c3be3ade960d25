/* Which answers a command cannot give if a trace lacks something: the rows ANSWER of gaps.def. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/gaps.h"
#include "base/vec.h"
#include "event/gap_table.h"

static const struct {
    enum argus_gap_command command;
    enum argus_gap_subject subject;
    enum gap_kind kind;
    const char *text;
} answers[] = {
#define GAP(...)
#define SIGN(...)
#define PROGRAM(...)
#define ANSWER(command, subject, symbol, text)                                                     \
    {ARGUS_GAP_##command, ARGUS_GAP_##subject, GAP_##symbol, text},
#include "event/gaps.def"
#undef GAP
#undef SIGN
#undef PROGRAM
#undef ANSWER
};

enum { ANSWERS = sizeof(answers) / sizeof(*answers) };

/* The first gap of a kind, preferably one that is missing completely. */
static const struct argus_gap *gap_of_kind(const struct argus_gaps *gaps, enum gap_kind kind)
{
    for (size_t i = 0; i < gaps->count; i++)
        if (gaps->items[i].kind == (int)kind)
            return &gaps->items[i];
    return NULL;
}

/* `text` has one %s, for "partly ". */
static char *filled(const char *text, bool partly)
{
    const char *place = strstr(text, "%s");
    char *ret = NULL;
    if (asprintf(&ret, "%.*s%s%s", (int)(place - text), text, partly ? "partly " : "", place + 2) <
        0)
        return NULL;
    return ret;
}

struct argus_error *argus_limits_find(const struct argus_gaps *gaps, enum argus_gap_command command,
                                      uint32_t subjects, struct argus_limits *ret)
{
    VEC(struct argus_limit) limits = {0};
    bool good = true;
    for (size_t i = 0; i < ANSWERS && good; i++) {
        const struct argus_gap *gap = gap_of_kind(gaps, answers[i].kind);
        bool is_about = (subjects | ARGUS_GAP_ANY) & answers[i].subject;
        if (!gap || answers[i].command != command || !is_about)
            continue;
        struct argus_limit limit = {gap, filled(answers[i].text, gap->partly)};
        good = limit.text && vec_push(&limits, limit);
        if (!good)
            free(limit.text);
    }
    *ret = (struct argus_limits){limits.data, limits.length};
    if (good)
        return NULL;
    argus_limits_deinit(ret);
    return argus_error_memory();
}

void argus_limits_deinit(struct argus_limits *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        free(limits->items[i].text);
    free(limits->items);
    *limits = (struct argus_limits){0};
}

/* "because this trace has no messages and no probes", or what is lost if only a part is missing. */
static int sentence(const struct argus_limit *first, const struct argus_limit *second,
                    const char *reason, char **ret)
{
    const struct argus_gap *gap = first->gap;
    if (gap->partly)
        return asprintf(ret, "%s: %s (%s).", first->text, gap->loss, reason);
    bool other = second && second->gap != gap;
    return asprintf(ret, "%s%s%s, because this trace has no %s%s%s (%s).", first->text,
                    second ? ", and " : "", second ? second->text : "", gap->lack,
                    other ? " and no " : "", other ? second->gap->lack : "", reason);
}

struct argus_error *argus_limits_sentence(const struct argus_limits *limits, size_t *at, char **ret)
{
    const struct argus_limit *first = &limits->items[(*at)++], *second = NULL;
    if (*at < limits->count && !first->gap->partly && !first[1].gap->partly &&
        !strcmp(first->gap->reason, first[1].gap->reason))
        second = &limits->items[(*at)++];
    bool repeated = first > limits->items && !strcmp(first[-1].gap->reason, first->gap->reason);
    if (sentence(first, second, repeated ? "for the same reason" : first->gap->reason, ret) < 0)
        return argus_error_memory();
    (*ret)[0] = (char)toupper((unsigned char)(*ret)[0]);
    return NULL;
}
