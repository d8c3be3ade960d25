#include "plugin/session_trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/property_lists.h"
#include "argus/unwind.h"
#include "plugin/foreign_trace.h"
#include "plugin/graph_cache.h"
#include "plugin/memory_limit.h"
#include "plugin/paths.h"
#include "plugin/probes/rule_files.h"
#include "plugin/trace_choice.h"
#include "plugin/trace_join.h"

void session_trace_destroy(struct session_trace *trace)
{
    if (!trace)
        return;
    argus_symbols_destroy(trace->symbols);
    argus_graph_destroy(trace->graph);
    argus_trace_close(trace->trace);
    free(trace->path);
    free(trace->kept);
    free(trace);
}

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

/* A joined trace is a temporary copy, so no graph is saved for it. */
static struct argus_error *open_file(struct session *session, const struct arguments *arguments,
                                     const char *path, struct argus_trace **ret)
{
    if (!arguments_has(arguments, "with")) {
        struct argus_error *error = memory_limit_open(session, path, ret);
        bool is_other = error && error->code == ARGUS_ERROR_FORMAT;
        return is_other ? foreign_trace_open(session, path, error, ret) : error;
    }
    session->no_cache = true;
    return trace_join_open(path, arguments, ret);
}

static struct argus_error *open_trace(struct session *session, const struct arguments *arguments,
                                      const char *path, struct session_trace **ret)
{
    struct session_trace *trace = calloc(1, sizeof(*trace));
    if (!trace || !(trace->path = paths_expand_home(path))) {
        session_trace_destroy(trace);
        return argus_error_memory();
    }
    memory_limit_for(session, trace->path);
    struct argus_error *error = open_file(session, arguments, trace->path, &trace->trace);
    if (!error)
        error = argus_property_lists_read(trace->trace);
    if (!error)
        memory_limit_for_images(session, trace->trace);
    if (!error) /* a killed recorder leaves stack snapshots that still have to be unwound */
        error = argus_unwind_trace(trace->trace, show_progress, session, NULL);
    if (error) {
        session_trace_destroy(trace);
        return error;
    }
    *ret = trace;
    return NULL;
}

/* What a recorder that was killed has left of copied stacks. */
static void warn_copies(struct session *session, const struct session_trace *trace)
{
    struct argus_snapshot_counts copies = argus_trace_count_snapshots(trace->trace);
    if (copies.plain)
        session_warn(session,
                     "%s was not finished and still has copies of stacks in it, which are memory "
                     "of the recorded programs: treat it as a core file",
                     trace->path);
    if (copies.encrypted)
        session_warn(session,
                     "%s was not finished: %llu copied stacks are encrypted in it, and readable as "
                     "long as the key ring of this user has their key (until the machine restarts, "
                     "for %d days at most)",
                     trace->path, (unsigned long long)copies.encrypted, ARGUS_SNAPSHOT_KEY_DAYS);
    if (copies.locked)
        session_warn(session,
                     "%s: %llu stacks were copied and are encrypted, and the key ring of this user "
                     "does not have their key: it went with the recorder, or is another user's",
                     trace->path, (unsigned long long)copies.locked);
}

/* Warns of what is wrong with the file, and makes the command end with exit code 4. */
static void warn_damage(struct session *session, const struct session_trace *trace)
{
    const struct argus_damage *damage;
    size_t count = argus_trace_damage(trace->trace, &damage);
    bool complete = argus_trace_complete(trace->trace);
    if (!session->damage_seen)
        warn_copies(session, trace);
    if (session->damage_seen || (!count && complete))
        return;
    session->damage_seen = true;
    if (!complete)
        session_warn(session,
                     "%s was cut off, or its recorder was killed: the part before that is used",
                     trace->path);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += damage[i].length_bytes;
    if (count)
        session_warn(session,
                     "%s is damaged: %llu bytes cannot be used, the first at offset %llu: %s "
                     "(argus verify lists them)",
                     trace->path, (unsigned long long)bytes,
                     (unsigned long long)damage[0].offset_bytes, damage[0].reason);
}

/* Warns of damage that shows only when the records are read. */
static void warn_damaged_chunks(struct session *session, const struct session_trace *trace)
{
    uint64_t count = argus_graph_damaged_chunks(trace->graph);
    if (!count)
        return;
    session->damage_seen = true;
    session_warn(
        session,
        "%s is damaged: %llu chunk%s of records left out (argus verify lists what is wrong)",
        trace->path, (unsigned long long)count, count == 1 ? "" : "s");
}

/* macOS records wake-ups only on request. Without them, a walk finds no causes. */
static void warn_no_wakeups(struct session *session, const struct session_trace *trace)
{
    if (!argus_graph_lacks_wakeups(trace->graph))
        return;
    session_warn(
        session,
        "%s has no records of wake-ups (MACH_MKRUNNABLE), so the graph has no wake-up edges; "
        "argus graph stats says what each rule can do",
        trace->path);
}

/* Whether the command's first word is the trace. Without a loaded trace it has to be. */
static bool names_file(const struct session *session, const char *word)
{
    if (!word)
        return false;
    if (trace_choice_is_file(word))
        return true;
    return !session->trace && !trace_choice_is_selector(word) && word[0] != '-';
}

static struct argus_error *missing_file(const struct session *session)
{
    if (session->in_lldb)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "no trace is loaded: 'argus load FILE' first, or name FILE here");
    return argus_error_create(ARGUS_ERROR_USAGE, "no trace is named: write FILE after the command");
}

struct argus_error *session_trace_path(const struct session *session,
                                       const struct arguments *arguments, size_t *ret_next,
                                       const char **ret)
{
    const char *word = arguments_word(arguments, 0);
    *ret_next = names_file(session, word);
    *ret = *ret_next ? word : session->trace ? session->trace->path : NULL;
    return *ret ? NULL : missing_file(session);
}

struct argus_error *session_trace_get(struct session *session, const struct arguments *arguments,
                                      size_t *ret_next, struct session_trace **ret)
{
    const char *word = arguments_word(arguments, 0);
    bool named = names_file(session, word);
    struct session_trace *trace = session->trace;
    bool loaded = trace && named && !strcmp(trace->path, word) && !arguments_has(arguments, "with");
    if (named && !loaded) {
        struct argus_error *error = open_trace(session, arguments, word, &trace);
        if (error)
            return error;
        session_trace_destroy(session->once);
        session->once = trace;
    }
    if (!trace)
        return missing_file(session);
    warn_damage(session, trace);
    *ret_next = named;
    *ret = trace;
    return NULL;
}

bool session_trace_is_imported(const struct session_trace *trace)
{
    return strcmp(argus_trace_path(trace->trace), trace->path) != 0;
}

/* Drops a graph that was built with other rules, and everything that was made from it. */
static void drop_other_graph(struct session_trace *trace, uint64_t identity)
{
    if (!trace->graph || trace->rules == identity)
        return;
    argus_symbols_destroy(trace->symbols);
    trace->symbols = NULL;
    argus_graph_destroy(trace->graph);
    trace->graph = NULL;
    free(trace->kept);
    trace->kept = NULL;
}

static struct argus_error *build_graph(struct session *session, const struct arguments *arguments,
                                       struct session_trace *trace)
{
    struct argus_rule_set *set;
    struct argus_error *error = rule_files_of(session, arguments, &set);
    if (error)
        return error;
    uint64_t identity = argus_rule_set_identity(set);
    struct argus_graph_options options = {.rules = set};
    drop_other_graph(trace, identity);
    if (!trace->graph)
        error = graph_cache_get(session, trace->trace, &options, show_progress, &trace->graph,
                                &trace->kept);
    trace->rules = identity;
    if (!error)
        warn_damaged_chunks(session, trace);
    if (!error)
        warn_no_wakeups(session, trace);
    argus_rule_set_destroy(set);
    return error;
}

struct argus_error *session_trace_get_graph(struct session *session,
                                            const struct arguments *arguments, size_t *ret_next,
                                            struct session_trace **ret)
{
    struct argus_error *error = session_trace_get(session, arguments, ret_next, ret);
    return error ? error : build_graph(session, arguments, *ret);
}

struct argus_error *session_trace_symbols(struct session *session, struct session_trace *trace,
                                          struct argus_symbols **ret)
{
    if (!trace->symbols) {
        struct argus_error *error = argus_symbols_create(trace->graph, &trace->symbols);
        if (error)
            return error;
        argus_symbols_allow_fetch(trace->symbols, show_progress, session);
    }
    *ret = trace->symbols;
    return NULL;
}

void session_trace_forget_shown(struct session_trace *trace)
{
    if (trace && trace->symbols)
        argus_symbols_forget_shown(trace->symbols);
}

void session_trace_note_fetched(struct session *session, const struct session_trace *trace)
{
    static const char *const ends[] = {
        [ARGUS_FETCH_NO_LIBRARY] = "DEBUGINFOD_URLS was not used: libdebuginfod is not "
                                   "installed (Debian: libdebuginfod1)",
        [ARGUS_FETCH_INTERRUPTED] = "fetching symbols was stopped by Ctrl-C",
        [ARGUS_FETCH_TOO_LONG] = "fetching symbols took too long and was stopped; run the same "
                                 "command again to fetch the rest",
    };
    struct argus_fetched fetched = {.end = ARGUS_FETCH_OPEN};
    if (trace && trace->symbols)
        argus_symbols_fetched(trace->symbols, &fetched);
    if (fetched.end == ARGUS_FETCH_FAILED)
        session_warn(session, "no symbols from DEBUGINFOD_URLS: %s", strerror(fetched.error));
    else if (fetched.end != ARGUS_FETCH_OPEN)
        session_warn(session, "%s", ends[fetched.end]);
    if (fetched.unknown)
        session_note(session, "the servers of DEBUGINFOD_URLS do not have %llu of %llu files",
                     (unsigned long long)fetched.unknown,
                     (unsigned long long)fetched.unknown + fetched.files);
}

struct argus_error *session_trace_load(struct session *session, const struct arguments *arguments,
                                       const char *path, struct session_trace **ret)
{
    struct session_trace *trace = NULL;
    struct argus_error *error = open_trace(session, arguments, path, &trace);
    if (error)
        return error;
    warn_damage(session, trace);
    error = build_graph(session, arguments, trace);
    if (error) {
        session_trace_destroy(trace);
        return error;
    }
    *ret = trace;
    return NULL;
}

struct argus_error *session_load(struct session *session, const struct arguments *arguments,
                                 const char *path)
{
    struct session_trace *trace;
    struct argus_error *error = session_trace_load(session, arguments, path, &trace);
    if (error)
        return error;
    session_trace_destroy(session->trace);
    session->trace = trace;
    return NULL;
}
