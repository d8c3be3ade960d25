/* Finds what a trace lacks by its notes. The recorder writes a note for everything that it cannot
 * or shall not record. Notes are the only sign that every trace has, including those of older
 * recorders. argus-trace(5), NOTE, lists the forms. */
#include "argus/gaps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "event/gap_table.h"

#define BACKEND_WORDS "recorded by perf_event, because "

static const struct gap_row gap_rows[GAP_COUNT] = {
#define GAP(symbol, name, lack) [GAP_##symbol] = {name, lack},
#define SIGN(...)
#define PROGRAM(...)
#define ANSWER(...)
#include "event/gaps.def"
#undef GAP
#undef SIGN
#undef PROGRAM
#undef ANSWER
};

static const char left_out[] = "left out for a while, to stay below --max-overhead";
static const char switched_off[] = "switched off by --without or --only", backend[] = "";

#define WHOLE        false
#define PART         true
#define SWITCHED_OFF switched_off
#define LEFT_OUT     left_out
#define BACKEND      backend

static const struct {
    enum gap_kind kind;
    bool partly;
    const char *words, *reason;
} signs[] = {
#define GAP(...)
#define SIGN(symbol, how, words, reason) {GAP_##symbol, how, words, reason},
#define PROGRAM(...)
#define ANSWER(...)
#include "event/gaps.def"
#undef GAP
#undef SIGN
#undef PROGRAM
#undef ANSWER
};

static const struct {
    enum gap_kind kind;
    const char *names[2];
} programs[] = {
#define GAP(...)
#define SIGN(...)
#define PROGRAM(symbol, program, tracepoint) {GAP_##symbol, {program, tracepoint}},
#define ANSWER(...)
#include "event/gaps.def"
#undef GAP
#undef SIGN
#undef PROGRAM
#undef ANSWER
};

enum {
    SIGNS = sizeof(signs) / sizeof(*signs),
    PROGRAMS = sizeof(programs) / sizeof(*programs),
};

/* What a note tells about a program or tracepoint begins or continues with one of these; its name
 * follows. */
static const char *const program_words[] = {
    "this kernel has no tracepoint ",
    "cannot attach to the tracepoint ",
    "cannot record the tracepoint ",
    "program ",
};
#define REFUSED " was refused by this kernel"

struct reader {
    VEC(struct argus_gap) gaps;
    const char *because; /* why perf_event was used; NULL: unknown */
};

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* The name of the program or tracepoint that a note is about; NULL: none. */
static const char *program_of(const char *note, size_t *ret_length)
{
    for (size_t i = 0; i < sizeof(program_words) / sizeof(*program_words); i++) {
        const char *at = strstr(note, program_words[i]);
        const char *name = at ? at + strlen(program_words[i]) : NULL;
        *ret_length = name ? name_length(name) : 0;
        bool bare = !strcmp(program_words[i], "program ");
        if (*ret_length > 0 &&
            (!bare || !strncmp(name + *ret_length, REFUSED, sizeof(REFUSED) - 1)))
            return name;
    }
    return NULL;
}

/* A note has the form "why: what is lost"; after a tab comes the message of the kernel's
 * verifier. */
static size_t reason_length(const char *note)
{
    size_t end = strcspn(note, "\t"), length = end;
    for (const char *at = note; (at = strstr(at, ": ")) && (size_t)(at - note) < end; at++)
        length = (size_t)(at - note);
    return length;
}

static char *text_of_loss(const char *note, size_t reason)
{
    const char *loss = note[reason] == ':' ? note + reason + 2 : note;
    return strndup(loss, strcspn(loss, "\t"));
}

static char *text_of_reason(const struct reader *reader, const char *note, const char *reason)
{
    char *text = NULL;
    if (!reason)
        return strndup(note, reason_length(note));
    if (reason != backend)
        return strdup(reason);
    if (!reader->because)
        return strdup("recorded through perf_event");
    return asprintf(&text, "recorded through perf_event: %s", reader->because) < 0 ? NULL : text;
}

static bool is_known(const struct reader *reader, enum gap_kind kind)
{
    for (size_t i = 0; i < reader->gaps.length; i++)
        if (reader->gaps.data[i].kind == (int)kind && !reader->gaps.data[i].partly)
            return true;
    return false;
}

/* If a kind is missing completely, nothing is added to it. */
static bool add(struct reader *reader, enum gap_kind kind, bool partly, const char *note,
                const char *reason)
{
    if (is_known(reader, kind))
        return true;
    size_t length = reason_length(note);
    struct argus_gap gap = {
        .name = gap_rows[kind].name,
        .lack = gap_rows[kind].lack,
        .partly = partly,
        .loss = partly ? text_of_loss(note, length) : NULL,
        .reason = text_of_reason(reader, note, reason),
        .kind = (int)kind,
    };
    if (gap.reason && (gap.loss || !partly) && vec_push(&reader->gaps, gap))
        return true;
    free(gap.loss);
    free(gap.reason);
    return false;
}

static bool take_wholes(struct reader *reader, const char *note)
{
    bool good = true;
    for (size_t i = 0; i < SIGNS && good; i++)
        if (!signs[i].partly && strstr(note, signs[i].words))
            good = add(reader, signs[i].kind, false, note, signs[i].reason);
    return good;
}

static bool take_parts(struct reader *reader, const char *note)
{
    size_t length, known = 0;
    bool good = true;
    for (size_t i = 0; i < SIGNS && good; i++)
        if (signs[i].partly && strstr(note, signs[i].words))
            good = add(reader, signs[i].kind, true, note, signs[i].reason);
    const char *name = program_of(note, &length);
    for (size_t i = 0; name && i < PROGRAMS && good; i++) {
        for (size_t j = 0; j < 2 && good; j++) {
            const char *other = programs[i].names[j];
            if (strlen(other) != length || memcmp(other, name, length) != 0)
                continue;
            good = add(reader, programs[i].kind, true, note, NULL);
            known++;
            break;
        }
    }
    return good && name && !known ? add(reader, GAP_OTHER, true, note, NULL) : good;
}

static int compare_gaps(const void *a, const void *b)
{
    const struct argus_gap *left = a, *right = b;
    if (left->partly != right->partly)
        return left->partly ? 1 : -1;
    if (left->kind != right->kind)
        return left->kind - right->kind;
    return left->loss && right->loss ? strcmp(left->loss, right->loss) : 0;
}

struct argus_error *argus_gaps_of_notes(const char *const *notes, size_t count,
                                        struct argus_gaps *ret)
{
    struct reader reader = {0};
    bool good = true;
    *ret = (struct argus_gaps){0};
    for (size_t i = 0; i < count; i++)
        if (!strncmp(notes[i], BACKEND_WORDS, sizeof(BACKEND_WORDS) - 1))
            reader.because = notes[i] + sizeof(BACKEND_WORDS) - 1;
    for (size_t i = 0; i < count && good; i++)
        good = take_wholes(&reader, notes[i]);
    for (size_t i = 0; i < count && good; i++)
        good = take_parts(&reader, notes[i]);
    *ret = (struct argus_gaps){reader.gaps.data, reader.gaps.length};
    if (!good) {
        argus_gaps_deinit(ret);
        return argus_error_memory();
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof(*ret->items), compare_gaps);
    return NULL;
}

struct argus_error *argus_gaps_read(const struct argus_trace *trace, struct argus_gaps *ret)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    return argus_gaps_of_notes(notes, count, ret);
}

void argus_gaps_deinit(struct argus_gaps *gaps)
{
    for (size_t i = 0; i < gaps->count; i++) {
        free(gaps->items[i].loss);
        free(gaps->items[i].reason);
    }
    free(gaps->items);
    *gaps = (struct argus_gaps){0};
}
