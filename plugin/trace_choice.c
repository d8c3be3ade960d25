#include "plugin/trace_choice.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugin/paths.h"

/* --- words --- */

static bool ends_in_argus(const char *word)
{
    size_t length = strlen(word);
    return length > 6 && !strcmp(word + length - 6, ".argus");
}

bool trace_choice_is_file(const char *word)
{
    if (ends_in_argus(word))
        return true;
    char *path = paths_expand_home(word);
    bool exists = path && access(path, F_OK) == 0;
    free(path);
    return exists;
}

static bool is_one_of(const char *word, size_t length, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == length && !strncmp(word, *names, length))
            return true;
    return false;
}

bool trace_choice_is_selector(const char *word)
{
    static const char *const answers[] = {"stop", "default", NULL};
    while (*word) {
        size_t length = strcspn(word, ","), prefix = *word == 'v';
        size_t digits = strspn(word + prefix, "0123456789");
        if ((digits == 0 || prefix + digits != length) && !is_one_of(word, length, answers))
            return false;
        if (!word[length])
            return true;
        word += length + 1;
    }
    return false;
}

/* --- the newest trace of the current folder --- */

struct candidates {
    char *newest; /* owned; NULL: none yet */
    struct timespec time;
    unsigned count;
};

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static struct timespec changed(const struct stat *status)
{
#ifdef __APPLE__
    return status->st_mtimespec;
#else
    return status->st_mtim;
#endif
}

/* Of two traces of the same age, takes the one whose name sorts last, so that the choice does not
 * depend on the order of directory entries. */
static bool consider(struct candidates *candidates, int folder, const char *name)
{
    struct stat status;
    if (name[0] == '.' || !ends_in_argus(name) || fstatat(folder, name, &status, 0) < 0 ||
        !S_ISREG(status.st_mode))
        return true;
    struct timespec time = changed(&status);
    candidates->count++;
    if (candidates->newest && !is_later(time, candidates->time) &&
        (is_later(candidates->time, time) || strcmp(name, candidates->newest) < 0))
        return true;
    free(candidates->newest);
    candidates->newest = strdup(name);
    candidates->time = time;
    return candidates->newest != NULL;
}

static struct argus_error *look_around(struct candidates *ret)
{
    DIR *folder = opendir(".");
    const struct dirent *entry;
    bool ok = true;
    if (!folder)
        return argus_error_os(errno, "cannot look for traces in the current folder");
    while (ok && (entry = readdir(folder)))
        ok = consider(ret, dirfd(folder), entry->d_name);
    closedir(folder);
    return ok ? NULL : argus_error_memory();
}

/* "2 minutes ago" */
static void age_text(time_t then, char *ret, size_t room)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}};
    double age = difftime(time(NULL), then);
    snprintf(ret, room, "just now");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (age >= units[i].seconds) {
            unsigned long long count = (unsigned long long)(age / units[i].seconds);
            snprintf(ret, room, "%llu %s%s ago", count, units[i].name, count == 1 ? "" : "s");
            return;
        }
}

static void say(struct session *session, const struct candidates *candidates)
{
    char age[64];
    age_text(candidates->time.tv_sec, age, sizeof(age));
    if (candidates->count == 1)
        session_note(session, "using %s (the only trace here, %s)", candidates->newest, age);
    else
        session_note(session, "using %s (newest of %u traces here, %s)", candidates->newest,
                     candidates->count, age);
}

struct argus_error *trace_choice_newest(struct session *session, char **ret)
{
    struct candidates candidates = {0};
    struct argus_error *error = look_around(&candidates);
    if (!error && !candidates.newest)
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "there is no trace (*.argus) in this folder: name one as FILE, "
                                   "or record one with 'argus record -- CMD'");
    if (error) {
        free(candidates.newest);
        return error;
    }
    say(session, &candidates);
    *ret = candidates.newest;
    return NULL;
}

/* --- completing the words --- */

/* Whether the word is like v12 and there is no file of that name. */
static bool is_only_selector(const char *word)
{
    return trace_choice_is_selector(word) && !trace_choice_is_file(word);
}

/* The index of the trace in "v12 freeze.argus"; 0: no word after the first one is a trace. If
 * another program's command line may follow, an existing file is that program. */
static size_t misplaced_file(const struct command *command, const struct arguments *arguments)
{
    const char *first = arguments_word(arguments, 0), *second = arguments_word(arguments, 1);
    if (!first || !second || !is_only_selector(first))
        return 0;
    bool is_file =
        command->flags & COMMAND_TRACE ? trace_choice_is_file(second) : ends_in_argus(second);
    return is_file ? 1 : 0;
}

/* Checks the first word. An empty one comes from an unset shell variable; in "x freeze.argus", the
 * first word is a mistake. */
static struct argus_error *check_first(const struct command *command,
                                       const struct arguments *arguments)
{
    const char *first = arguments_word(arguments, 0), *second = arguments_word(arguments, 1);
    if (!first || !(command->flags & COMMAND_TRACE))
        return NULL;
    if (!*first)
        return argus_error_create(
            ARGUS_ERROR_USAGE, "%s: the first word is empty: name a trace there, or leave it out",
            command->name);
    if (!second || !trace_choice_is_file(second) || trace_choice_is_file(first) ||
        trace_choice_is_selector(first))
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_USAGE,
        "%s: '%s' is neither a file nor a vertex such as v1234, and the trace "
        "'%s' comes first",
        command->name, first, second);
}

static bool lacks_file(const struct command *command, const struct arguments *arguments)
{
    const char *first = arguments_word(arguments, 0);
    if (!first)
        return command->flags & COMMAND_TRACE;
    return is_only_selector(first);
}

struct argus_error *trace_choice_complete(struct session *session, struct arguments *arguments)
{
    const struct command *command = arguments_command(arguments);
    char *newest;
    if (!(command->flags & (COMMAND_TRACE | COMMAND_TRACE_OF_VERTEX)))
        return NULL;
    struct argus_error *error = check_first(command, arguments);
    if (error)
        return error;
    size_t at = misplaced_file(command, arguments);
    if (at)
        arguments_move_first(arguments, at);
    if (session->in_lldb || session->trace || command->flags & COMMAND_TRACE_NAMED ||
        arguments_has(arguments, "live") || /* it records the trace itself */
        !lacks_file(command, arguments))
        return NULL;
    error = trace_choice_newest(session, &newest);
    return error ? error : arguments_insert_first(arguments, newest);
}
