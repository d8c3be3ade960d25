/* A name has brackets in brackets, and operators whose names are brackets. What is in a bracket that is elided does not matter, so
 * only its end has to be found.
 *
 * Kept are brackets that are a part of the name itself: "(anonymous namespace)", "operator()", and Rust's "<Type as Trait>",
 * which does not follow a name; inside that one the arguments of templates are elided.
 */
#include "event/names/short_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define ELLIPSIS       "\xe2\x80\xa6"
#define OPERATOR       "operator"
#define ANONYMOUS      "(anonymous namespace)"
#define ELLIPSIS_BYTES (sizeof(ELLIPSIS) - 1)

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (unsigned char)letter >= 0x80;
}

/* How many bytes from `at` on are the name of an operator, its brackets included; 0: none begins there. */
static size_t operator_bytes(const char *name, size_t at)
{
    size_t length = strlen(OPERATOR);
    if (strncmp(name + at, OPERATOR, length) != 0 || (at > 0 && is_word(name[at - 1])))
        return 0;
    if (strncmp(name + at + length, "()", 2) == 0)
        return length + 2;
    return length + strspn(name + at + length, "<>=-!&|^*+/%~[]");
}

/* Where the bracket at `at` ends: the index of its closing one; the name's end where it has none. ">" of "->" closes nothing. */
static size_t closing(const char *name, size_t at, size_t length)
{
    int depth = 0;
    for (size_t i = at; i < length; i++) {
        size_t skipped = operator_bytes(name, i);
        if (skipped > 0) {
            i += skipped - 1;
            continue;
        }
        if (strchr("(<[{", name[i]))
            depth++;
        else if (strchr(")>]}", name[i]) && !(name[i] == '>' && i > at && name[i - 1] == '-'))
            depth--;
        if (depth == 0)
            return i;
    }
    return length;
}

/* Is the bracket at `at` a list of what belongs to the name before it? */
static bool is_list(const char *name, size_t at)
{
    if (at == 0 || strncmp(name + at, ANONYMOUS, strlen(ANONYMOUS)) == 0)
        return false;
    char before = name[at - 1];
    if (name[at] == '<')
        return is_word(before) || (before == ':' && at > 2 && is_word(name[at - 3]));
    return is_word(before) || before == '>' || before == ')' || before == '}';
}

/* Replaces what is in the lists that `open` begins. */
static void elide(char *name, char open)
{
    size_t length = strlen(name), to = 0, at = 0;
    while (at < length) {
        size_t skipped = operator_bytes(name, at);
        if (skipped > 0) {
            memmove(name + to, name + at, skipped);
            to += skipped;
            at += skipped;
            continue;
        }
        size_t end = name[at] == open && is_list(name, at) ? closing(name, at, length) : length;
        if (end == length || end - at <= ELLIPSIS_BYTES + 1) {
            name[to++] = name[at++];
            continue;
        }
        name[to++] = open;
        memcpy(name + to, ELLIPSIS, ELLIPSIS_BYTES);
        to += ELLIPSIS_BYTES;
        at = end;
    }
    name[to] = '\0';
}

static void elide_parameters(char *name)
{
    elide(name, '(');
}

static void elide_arguments(char *name)
{
    elide(name, '<');
}

/* "std::vector<int> f<int>(int)": the result is what stands before a blank that is in no bracket; what begins with "<" or has no
 * parameters is Rust. */
static void drop_result(char *name)
{
    size_t length = strlen(name), behind = 0;
    bool has_parameters = false;
    if (name[0] == '<')
        return;
    for (size_t i = 0; i < length; i++) {
        size_t skipped = operator_bytes(name, i);
        has_parameters = skipped > 0 || (name[i] == '(' && is_list(name, i));
        if (has_parameters)
            break;
        if (name[i] && strchr("(<[{", name[i]))
            i = closing(name, i, length);
        else if (name[i] == ' ')
            behind = i + 1;
    }
    if (has_parameters)
        memmove(name, name + behind, length - behind + 1);
}

/* To add a kind of detail: a function, and its row where it is to be tried. */
static void (*const details[])(char *name) = {elide_parameters, drop_result, elide_arguments};

void short_name(char *name)
{
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
        if (strlen(name) > SHORT_NAME_BYTES)
            details[i](name);
}
