/* `argus debug FILE`: starts LLDB with the plugin and the trace loaded. Replaces this process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "plugin/command.h"
#include "plugin/paths.h"

static const struct command_option options[] = {
    {"batch", 'b', NULL, "run the commands of --one-line and end, as lldb --batch does"},
    {"one-line", 'o', "CMD", "run this LLDB command after loading; may come more than once"},
    COMMAND_OPTIONS_END,
};

typedef VEC(char *) word_list;

static void deinit(word_list *words)
{
    for (size_t i = 0; i < words->length; i++)
        free(words->data[i]);
    vec_deinit(words);
}

static bool push(word_list *words, const char *word)
{
    char *copy = word ? strdup(word) : NULL;
    if (word && !copy)
        return false;
    if (vec_push(words, copy))
        return true;
    free(copy);
    return false;
}

/* Quotes a path: LLDB's command line interprets quotes and backslashes, and executes text in
 * backticks. */
static char *quoted_command(const char *command, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "%s \"", command);
    for (; *path; path++) {
        if (strchr("\"\\`", *path))
            fputc('\\', out);
        fputc(*path, out);
    }
    fputc('"', out);
    fclose(out);
    return text;
}

/* LLDB takes each line of a command as a command of its own, and no quotes protect a line break. */
static struct argus_error *check_path(const char *path)
{
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return argus_error_create(
                ARGUS_ERROR_USAGE,
                "debug: LLDB cannot be given the path %s, which has a control "
                "character in it: rename the file",
                path);
    return NULL;
}

static bool push_command(word_list *words, const char *command, const char *path)
{
    char *text = quoted_command(command, path);
    bool pushed = text && push(words, "-o") && push(words, text);
    free(text);
    return pushed;
}

static bool push_user_commands(word_list *words, const struct arguments *arguments)
{
    const char *command;
    for (size_t i = 0; (command = arguments_option_at(arguments, "one-line", i)); i++)
        if (!push(words, "-o") || !push(words, command))
            return false;
    return true;
}

static bool build(const struct arguments *arguments, const char *lldb, const char *plugin,
                  word_list *ret)
{
    return push(ret, lldb) && (!arguments_has(arguments, "batch") || push(ret, "--batch")) &&
           push_command(ret, "plugin load", plugin) &&
           push_command(ret, "argus load", arguments_word(arguments, 0)) &&
           push_user_commands(ret, arguments) && push(ret, NULL);
}

static struct argus_error *find(char **ret_lldb, char **ret_plugin)
{
    struct argus_error *error = paths_find_lldb(ret_lldb);
    return error ? error : paths_find_plugin(ret_plugin);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    char *lldb = NULL, *plugin = NULL;
    word_list words = {0};
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error && access(arguments_word(arguments, 0), R_OK))
        error = argus_error_os(errno, "%s", arguments_word(arguments, 0));
    if (!error)
        error = check_path(arguments_word(arguments, 0));
    if (!error)
        error = find(&lldb, &plugin);
    if (!error)
        error = check_path(plugin);
    if (!error && !build(arguments, lldb, plugin, &words))
        error = argus_error_memory();
    if (!error && lldb && words.data) {
        fflush(session->out);
        execv(lldb, words.data);
        error = argus_error_os(errno, "cannot start %s", lldb);
    }
    deinit(&words);
    free(lldb);
    free(plugin);
    return error;
}

const struct command command_debug = {
    .name = "debug",
    .summary = "start LLDB with the plugin and a trace loaded",
    .details = "Takes $ARGUS_LLDB, or else lldb from PATH, or the newest of lldb-22 to\n"
               "lldb-14.",
    .example = "argus debug freeze.argus\n"
               "argus debug --batch --one-line='argus diagnose --auto' freeze.argus",
    .options = options,
    .flags = COMMAND_SHELL | COMMAND_TRACE,
    .run = run,
};
