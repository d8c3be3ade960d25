#include "plugin/flags/flag_watch.h"

#include <stdio.h>
#include <string.h>

#include "plugin/flags/flag_place.h"
#include "plugin/flags/flag_session.h"

#define MOST_FLAGS 16

bool flag_watch_is_meant(const struct session *session, const struct arguments *arguments)
{
    const char *first = arguments_word(arguments, 0);
    bool number = first && first[0] && first[strspn(first, "0123456789")] == '\0';
    size_t words = arguments_count(arguments);
    return session->watches && (words == 1 || (words == 2 && !number));
}

/* Follows the pointers with their current values in the process. */
static struct argus_error *follow(struct session *session, struct flag_place *place)
{
    for (uint32_t i = 0; i < place->step_count; i++) {
        uint64_t pointer;
        if (!session->watches->read(session->host.data, place->address, 8, &pointer) || !pointer)
            return argus_error_create(ARGUS_ERROR_USAGE,
                                      "a pointer on the way to '%s' is null or leads nowhere",
                                      place->label);
        place->address = pointer + place->steps[i];
    }
    return NULL;
}

/* LLDB knows the types, too. */
static struct argus_error *find_members(struct session *session, const char *image,
                                        const char *text, struct flag_place *ret)
{
    *ret = (struct flag_place){0};
    snprintf(ret->label, sizeof(ret->label), "%s in %s", text, image);
    return session->watches->find(session->host.data, NULL, text, &ret->address, &ret->size_bytes);
}

static struct argus_error *find_symbol(struct session *session, const char *image,
                                       const char *symbol, struct flag_place *ret)
{
    char name[512];
    uint64_t offset;
    if (flag_place_has_members(symbol))
        return find_members(session, image, symbol, ret);
    struct argus_error *error = flag_place_parse(symbol, name, sizeof(name), &offset, ret);
    snprintf(ret->label, sizeof(ret->label), "%s in %s", symbol, image);
    if (!error)
        error = session->watches->find(session->host.data, image, name, &ret->address,
                                       &ret->size_bytes);
    if (error)
        return error;
    flag_place_move(ret, offset, 0);
    return follow(session, ret);
}

static struct argus_error *find_place(struct session *session, const struct arguments *arguments,
                                      struct flag_place *ret)
{
    const char *first = arguments_word(arguments, 0);
    if (arguments_count(arguments) == 2)
        return find_symbol(session, first, arguments_word(arguments, 1), ret);
    if (first[0] == '0' && (first[1] == 'x' || first[1] == 'X')) {
        struct argus_error *error = flag_place_address(first, ret);
        return error ? error : follow(session, ret);
    }
    *ret = (struct flag_place){0};
    snprintf(ret->label, sizeof(ret->label), "%s", first);
    return session->watches->find(session->host.data, NULL, first, &ret->address, &ret->size_bytes);
}

static struct argus_error *path_of(const struct session *session, const struct arguments *arguments,
                                   uint64_t pid, char *ret, size_t room)
{
    const char *wanted = arguments_option(arguments, "output");
    const char *open = flag_session_path(session->flags);
    if (wanted || open)
        snprintf(ret, room, "%s", wanted ? wanted : open);
    else
        snprintf(ret, room, "flags-%llu.argus", (unsigned long long)pid);
    return NULL;
}

/* A second watchpoint at the same address would be LLDB's first one, changed. */
static struct argus_error *look_for_same(struct session *session,
                                         const struct flag_session_wish *wish, bool *ret_is_watched)
{
    struct flag_session_row rows[MOST_FLAGS];
    size_t count = flag_session_rows(session->flags, rows, MOST_FLAGS);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].pid != wish->pid || rows[i].address != wish->address)
            continue;
        if (rows[i].bytes != wish->bytes || rows[i].writes_only != wish->writes_only)
            return argus_error_create(ARGUS_ERROR_BUSY,
                                      "flag %u watches 0x%llx in another way: argus watchflag "
                                      "remove %u first",
                                      rows[i].watch, (unsigned long long)wish->address,
                                      rows[i].watch);
        session_note(session, "flag %u watches it already", rows[i].watch);
        *ret_is_watched = true;
    }
    return NULL;
}

static struct argus_error *begin(struct session *session, const struct arguments *arguments,
                                 struct flag_session_wish *wish)
{
    char path[4096];
    bool is_watched = false;
    struct argus_error *error = NULL;
    if (!session->flags)
        error = flag_session_create(&session->flags);
    if (!error)
        error = look_for_same(session, wish, &is_watched);
    if (is_watched)
        return NULL;
    if (!error)
        error = session->watches->set(session->host.data, wish->address, wish->bytes,
                                      wish->writes_only, &wish->watch);
    if (error)
        return error;
    error = path_of(session, arguments, wish->pid, path, sizeof(path));
    if (!error)
        error = flag_session_add(session->flags, wish, path);
    if (error)
        session->watches->unset(session->host.data, wish->pid, wish->watch);
    else
        session_printf(session, "flag %u: %s of process %llu, %u bytes at 0x%llx, %s, into %s\n",
                       wish->watch, wish->label, (unsigned long long)wish->pid, wish->bytes,
                       (unsigned long long)wish->address,
                       wish->writes_only ? "writes" : "reads and writes", path);
    return error;
}

/* Those of processes that have ended go. */
static void forget_ended(struct session *session)
{
    struct flag_session_row rows[MOST_FLAGS];
    size_t count = session->flags ? flag_session_rows(session->flags, rows, MOST_FLAGS) : 0;
    for (size_t i = 0; i < count; i++)
        if (!session->watches->has_process(session->host.data, rows[i].pid))
            flag_session_remove(session->flags, rows[i].pid, rows[i].watch);
}

struct argus_error *flag_watch_run(struct session *session, const struct arguments *arguments,
                                   uint32_t bytes, bool writes_only, uint32_t semantics)
{
    struct flag_place place;
    char process[64];
    const char *name = arguments_option(arguments, "name");
    struct flag_session_wish wish = {
        .writes_only = writes_only, .semantics = semantics, .process = process};
    struct argus_error *error =
        session->watches->process(session->host.data, &wish.pid, process, sizeof(process));
    if (!error)
        error = find_place(session, arguments, &place);
    if (error)
        return error;
    forget_ended(session);
    wish.bytes = bytes ? bytes : flag_natural_size(&place);
    wish.address = place.address;
    wish.label = name ? name : place.label;
    if (wish.address % wish.bytes)
        return argus_error_create(
            ARGUS_ERROR_USAGE, "0x%llx is not aligned: %u bytes can be watched at multiples of %u",
            (unsigned long long)wish.address, wish.bytes, wish.bytes);
    if (!session->watches->read(session->host.data, wish.address, wish.bytes, &wish.value))
        return argus_error_create(ARGUS_ERROR_USAGE, "process %llu has no memory at 0x%llx",
                                  (unsigned long long)wish.pid, (unsigned long long)wish.address);
    return begin(session, arguments, &wish);
}

size_t flag_watch_rows(struct session *session, struct flag_session_row *ret, size_t room)
{
    if (!session->watches || !session->flags)
        return 0;
    forget_ended(session);
    return flag_session_rows(session->flags, ret, room);
}

void flag_watch_list(struct session *session, size_t *ret_count)
{
    struct flag_session_row rows[MOST_FLAGS];
    *ret_count = flag_watch_rows(session, rows, MOST_FLAGS);
    for (size_t i = 0; i < *ret_count; i++) {
        session_printf(session,
                       "%2u  %8llu hits  %u bytes at 0x%llx  %-2s  process %llu  %s (LLDB)\n",
                       rows[i].watch, (unsigned long long)rows[i].hits, rows[i].bytes,
                       (unsigned long long)rows[i].address, rows[i].writes_only ? "w" : "rw",
                       (unsigned long long)rows[i].pid, rows[i].label);
        if (rows[i].hits_per_s >= FLAG_SESSION_FAST)
            session_warn(
                session,
                "flag %u is touched %.0f times a second, each of which stops the process "
                "for a millisecond: the recorder's engine (argus watchflag PID …) does not",
                rows[i].watch, rows[i].hits_per_s);
    }
    if (*ret_count)
        session_note(session, "into %s: argus load FILE --with %s",
                     flag_session_path(session->flags), flag_session_path(session->flags));
}

bool flag_watch_remove(struct session *session, uint32_t number)
{
    struct flag_session_row rows[MOST_FLAGS];
    char name[64];
    uint64_t selected = 0;
    const struct flag_session_row *meant = NULL;
    size_t count = flag_watch_rows(session, rows, MOST_FLAGS);
    if (count)
        argus_error_destroy(
            session->watches->process(session->host.data, &selected, name, sizeof(name)));
    for (size_t i = 0; i < count; i++)
        if (rows[i].watch == number && (!meant || rows[i].pid == selected))
            meant = &rows[i];
    if (!meant || !flag_session_remove(session->flags, meant->pid, number))
        return false;
    session->watches->unset(session->host.data, meant->pid, number);
    return true;
}
