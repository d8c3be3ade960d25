/* Names contain nested brackets, and operators whose names contain brackets. The contents of an
 * elided bracket do not matter; only its end has to be found.
 *
 * Brackets that are part of the name itself are kept: "(anonymous namespace)", "operator()", and
 * Rust's "<Type as Trait>", which does not follow a name. Inside the latter, template arguments are
 * elided.
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

/* The length of the operator name at `at`, including its brackets; 0: there is none. */
static size_t operator_bytes(const char *name, size_t at)
{
    size_t length = strlen(OPERATOR);
    if (strncmp(name + at, OPERATOR, length) != 0 || (at > 0 && is_word(name[at - 1])))
        return 0;
    if (strncmp(name + at + length, "()", 2) == 0)
        return length + 2;
    return length + strspn(name + at + length, "<>=-!&|^*+/%~[]");
}

/* The index of the bracket that closes the one at `at`, or of the name's end. The ">" of "->"
 * closes nothing. */
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

/* Whether the bracket at `at` is a list of arguments of the name before it. */
static bool is_list(const char *name, size_t at)
{
    if (at == 0 || strncmp(name + at, ANONYMOUS, strlen(ANONYMOUS)) == 0)
        return false;
    char before = name[at - 1];
    if (name[at] == '<')
        return is_word(before) || (before == ':' && at > 2 && is_word(name[at - 3]));
    return is_word(before) || before == '>' || before == ')' || before == '}';
}

/* Elides the lists that begin with `open`. */
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

/* Drops the result type. "std::vector<int> f<int>(int)": it ends at a blank outside all brackets.
 * Names that begin with "<" or have no parameters are Rust's and have none. */
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

/* To add a kind of detail: a function, and a row at its place in the order of attempts. */
static void (*const details[])(char *name) = {elide_parameters, drop_result, elide_arguments};

void short_name(char *name)
{
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
        if (strlen(name) > SHORT_NAME_BYTES)
            details[i](name);
}
