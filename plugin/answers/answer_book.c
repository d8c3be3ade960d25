#include "plugin/answers/answer_book.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/arguments.h"
#include "plugin/paths.h"
#include "plugin/session_trace.h"
#include "recorder/client/output.h"
#include "report/json.h"

#define VERSION    1
#define MOST_BYTES (4u << 20) /* larger files are not from Argus */
#define MOST_WALKS 64         /* the oldest are dropped */

/* Options that decide how a walk is answered or printed, but not which walk it is. */
static const char *const passing_options[] = {"answers", "auto",     "no-ask", "json",
                                              "color",   "no-cache", NULL};

/* --- the file --- */

static struct argus_error *bad_file(const char *path, const char *why)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s is not a file of answers: %s", path, why);
}

/* The command if it is one that asks questions, else NULL. The file could name any command. */
static const struct command *asking_command(const char *name)
{
    int words;
    const struct command *command = command_find(1, &name, &words);
    for (const struct command_option *option = command ? command->options : NULL;
         option && option->name; option++)
        if (!strcmp(option->name, "answers"))
            return command;
    return NULL;
}

/* Whether the strings can be printed and given to a command: they contain no control characters. */
static bool are_words(const json_t *list)
{
    const json_t *item;
    size_t i;
    if (!json_is_array(list))
        return false;
    json_array_foreach(list, i, item)
    {
        const char *text = json_string_value(item);
        for (; text && *text; text++)
            if ((unsigned char)*text < ' ' || *text == 0x7f)
                return false;
        if (!text)
            return false;
    }
    return true;
}

static bool are_answers(json_t *list)
{
    json_t *item;
    size_t i;
    if (!json_is_array(list))
        return false;
    json_array_foreach(list, i, item)
    {
        const char *question, *option;
        int number;
        if (json_unpack(item, "{s:s, s:s, s:i}", "question", &question, "option", &option, "number",
                        &number) ||
            number < 0)
            return false;
    }
    return true;
}

/* Whether all functions here can rely on the structure of this walk. */
static bool is_walk(json_t *walk)
{
    const char *command;
    json_t *options, *words, *answers, *open;
    if (json_unpack(walk, "{s:s, s:o, s:o, s:o, s:o}", "command", &command, "options", &options,
                    "words", &words, "answers", &answers, "open", &open))
        return false;
    return asking_command(command) && are_words(options) && are_words(words) &&
           are_answers(answers) && (json_is_null(open) || json_is_string(open));
}

static struct argus_error *take_walks(const char *path, json_t *root, json_t **ret)
{
    int version;
    json_t *walks, *walk;
    size_t i;
    if (json_unpack(root, "{s:i, s:o}", "version", &version, "walks", &walks) ||
        !json_is_array(walks))
        return bad_file(path, "it has no \"version\" and \"walks\"");
    if (version != VERSION)
        return bad_file(path, "it is of another version");
    json_array_foreach(walks, i, walk)
    {
        if (!is_walk(walk))
            return bad_file(path, "one of its walks is incomplete");
    }
    json_decref(*ret);
    *ret = json_incref(walks);
    return NULL;
}

/* Reads the file's text into `ret`, owned by the caller; NULL if there is no file. */
static struct argus_error *read_text(const char *path, char **ret, size_t *ret_length)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? NULL : argus_error_os(errno, "cannot read %s", path);
    struct argus_error *error = NULL;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode))
        error = bad_file(path, "it is not a regular file");
    else if ((uint64_t)status.st_size > MOST_BYTES)
        error = bad_file(path, "it is too large");
    else if (!(*ret = malloc((size_t)status.st_size + 1)))
        error = argus_error_memory();
    ssize_t length = error ? 0 : read(fd, *ret, (size_t)status.st_size);
    if (length < 0)
        error = argus_error_os(errno, "cannot read %s", path);
    *ret_length = length > 0 ? (size_t)length : 0;
    close(fd);
    return error;
}

static struct argus_error *read_book(const char *path, struct answer_book *book, bool *ret_there)
{
    char *text = NULL;
    size_t length = 0;
    json_error_t why;
    struct argus_error *error = read_text(path, &text, &length);
    *ret_there = text != NULL;
    if (!error && text) {
        json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
        error = root ? take_walks(path, root, &book->walks) : bad_file(path, why.text);
        json_decref(root);
    }
    free(text);
    return error;
}

/* Also of the user who runs this by sudo. */
static bool is_own(uid_t owner)
{
    const char *sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    return owner == geteuid() || (sudo && owner == (uid_t)strtoul(sudo, NULL, 10));
}

/* Another user's answers are neither used nor replaced: those of this user are in the cache then.
 */
static void leave_others(struct answer_book *book)
{
    char **path = &book->places.path[SIDECAR_NEXT_TO_TRACE];
    struct stat status;
    if (!*path || lstat(*path, &status) < 0 || is_own(status.st_uid))
        return;
    book->left_out = *path;
    *path = NULL;
}

/* A file in the cache was written because the other place was not writable, so it is the newer
 * one. */
static const enum sidecar_place reading_order[] = {SIDECAR_IN_CACHE, SIDECAR_NEXT_TO_TRACE};

struct argus_error *answer_book_open(const char *trace_path, struct answer_book *ret)
{
    *ret = (struct answer_book){.walks = json_array()};
    sidecar_init(&ret->places, trace_path, ".answers");
    if (!ret->walks)
        return argus_error_memory();
    leave_others(ret);
    for (size_t i = 0; i < SIDECAR_PLACES; i++) {
        const char *path = ret->places.path[reading_order[i]];
        bool there = false;
        struct argus_error *error = path ? read_book(path, ret, &there) : NULL;
        if (error || there) {
            ret->path = strdup(path);
            return error;
        }
    }
    return NULL;
}

struct argus_error *answer_book_of(struct session *session, const struct arguments *arguments,
                                   size_t words, size_t *ret_next, const char **ret_path,
                                   struct answer_book *ret)
{
    *ret = (struct answer_book){0};
    struct argus_error *error = session_trace_path(session, arguments, ret_next, ret_path);
    if (!error)
        error = arguments_expect(arguments, *ret_next + words, *ret_next + words);
    if (!error)
        error = answer_book_open(*ret_path, ret);
    if (!error && !json_array_size(ret->walks) && access(*ret_path, F_OK) < 0)
        error = argus_error_os(errno, "cannot open %s", *ret_path);
    return error;
}

void answer_book_deinit(struct answer_book *book)
{
    sidecar_deinit(&book->places);
    json_decref(book->walks);
    free(book->path);
    free(book->left_out);
    *book = (struct answer_book){0};
}

static struct argus_error *write_text(const char *path, const char *text)
{
    struct output output;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    size_t length = strlen(text);
    ssize_t written = write(output.fd, text, length);
    if (written < 0 || (size_t)written < length)
        error = argus_error_os(written < 0 ? errno : ENOSPC, "cannot write %s", path);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    return error;
}

static void remove_files(const struct answer_book *book, enum sidecar_place from)
{
    for (size_t i = from; i < SIDECAR_PLACES; i++)
        if (book->places.path[i])
            unlink(book->places.path[i]);
}

/* The text of the file; the caller frees it. */
static char *book_text(const struct answer_book *book)
{
    json_t *root = json_pack("{s:i, s:O}", "version", VERSION, "walks", book->walks);
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    return text;
}

struct argus_error *answer_book_save(struct answer_book *book)
{
    if (json_array_size(book->walks) == 0) {
        remove_files(book, SIDECAR_NEXT_TO_TRACE);
        return NULL;
    }
    char *text = book_text(book);
    struct argus_error *error = text ? NULL : argus_error_memory();
    for (size_t i = 0; text && i < SIDECAR_PLACES; i++) {
        if (!book->places.path[i])
            continue;
        if (i == SIDECAR_IN_CACHE)
            paths_make_directories(book->places.directory);
        argus_error_destroy(error);
        error = write_text(book->places.path[i], text);
        if (error)
            continue;
        free(book->path);
        book->path = strdup(book->places.path[i]);
        remove_files(book, i + 1);
        break;
    }
    free(text);
    return error;
}

/* --- walks --- */

static bool is_passing(const char *name)
{
    for (const char *const *passing = passing_options; *passing; passing++)
        if (!strcmp(name, *passing))
            return true;
    return false;
}

static json_t *options_json(const struct arguments *arguments)
{
    json_t *list = json_array();
    const char *name, *value;
    for (size_t i = 0; arguments_given(arguments, i, &name, &value); i++)
        if (!is_passing(name))
            json_add(list,
                     value ? json_sprintf("--%s=%s", name, value) : json_sprintf("--%s", name));
    return list;
}

/* Makes a walk without answers. */
static json_t *new_walk(const struct arguments *arguments, size_t next)
{
    json_t *words = json_array();
    for (size_t i = next; i < arguments_count(arguments); i++)
        json_add(words, json_text(arguments_word(arguments, i)));
    return json_pack("{s:s, s:o, s:o, s:[], s:n}", "command", arguments_command(arguments)->name,
                     "options", options_json(arguments), "words", words, "answers", "open");
}

static bool is_same_line(const json_t *walk, const json_t *other)
{
    return json_equal(json_object_get(walk, "command"), json_object_get(other, "command")) &&
           json_equal(json_object_get(walk, "options"), json_object_get(other, "options")) &&
           json_equal(json_object_get(walk, "words"), json_object_get(other, "words"));
}

static json_t *find_line(const struct answer_book *book, const json_t *line)
{
    json_t *walk;
    size_t i;
    json_array_foreach(book->walks, i, walk)
    {
        if (is_same_line(walk, line))
            return walk;
    }
    return NULL;
}

json_t *answer_book_find(const struct answer_book *book, const struct arguments *arguments,
                         size_t next)
{
    json_t *line = new_walk(arguments, next), *found = line ? find_line(book, line) : NULL;
    json_decref(line);
    return found;
}

json_t *answer_book_last(const struct answer_book *book)
{
    size_t count = json_array_size(book->walks);
    return count ? json_array_get(book->walks, count - 1) : NULL;
}

void answer_book_drop(struct answer_book *book, const json_t *walk)
{
    for (size_t i = json_array_size(book->walks); i > 0; i--)
        if (json_array_get(book->walks, i - 1) == walk)
            json_array_remove(book->walks, i - 1);
}

/* --- answers --- */

static json_t *question_json(const struct argus_question *question)
{
    char text[ARGUS_QUESTION_TEXT_BYTES];
    return json_text(argus_question_text(question, text, sizeof(text)));
}

static json_t *option_json(const struct argus_graph *graph, const struct argus_option *option)
{
    char text[ARGUS_OPTION_TEXT_BYTES];
    return json_text(argus_option_text(graph, option, text, sizeof(text)));
}

static json_t *answer_json(const struct argus_graph *graph, const struct argus_asked *asked)
{
    bool stop = asked->answer == ARGUS_ANSWER_STOP;
    json_t *answer = json_object();
    json_put(answer, "question", question_json(&asked->question));
    json_put(answer, "option",
             stop ? json_text("stop")
                  : option_json(graph, &asked->question.options[asked->answer]));
    json_put(answer, "number", json_integer(stop ? 0 : asked->answer + 1));
    return answer;
}

struct argus_error *answer_book_note(struct answer_book *book, const struct analysis *analysis,
                                     const struct argus_asked *asked, size_t count,
                                     bool *ret_changed)
{
    json_t *walk = new_walk(analysis->arguments, analysis->next);
    json_t *answers = json_object_get(walk, "answers");
    if (!walk)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++) {
        if (asked[i].answer == ARGUS_ANSWER_OPEN)
            json_object_set_new(walk, "open", question_json(&asked[i].question));
        else
            json_array_append_new(answers, answer_json(analysis->graph, &asked[i]));
    }
    json_t *before = find_line(book, walk);
    *ret_changed = !before || before != answer_book_last(book) || !json_equal(before, walk);
    answer_book_drop(book, before);
    if (json_array_size(book->walks) >= MOST_WALKS)
        json_array_remove(book->walks, 0);
    return json_array_append_new(book->walks, walk) ? argus_error_memory() : NULL;
}

size_t answer_book_count(const json_t *walk)
{
    return json_array_size(json_object_get(walk, "answers"));
}

/* Whether the two are the same text. Releases `text`. */
static bool is_text(const json_t *kept, json_t *text)
{
    bool same = json_equal(kept, text);
    json_decref(text);
    return same;
}

bool answer_book_answer(const json_t *walk, size_t index, const struct argus_graph *graph,
                        const struct argus_question *question, int *ret)
{
    const json_t *answer = json_array_get(json_object_get(walk, "answers"), index);
    if (!answer || !is_text(json_object_get(answer, "question"), question_json(question)))
        return false;
    json_int_t number = json_integer_value(json_object_get(answer, "number"));
    if (number > (json_int_t)question->option_count)
        return false;
    *ret = number == 0 ? ARGUS_ANSWER_STOP : (int)number - 1;
    return number == 0 || is_text(json_object_get(answer, "option"),
                                  option_json(graph, &question->options[number - 1]));
}

/* --- running --- */

void answer_book_write_line(const json_t *walk, const char *file, bool with_answers, FILE *out)
{
    size_t i;
    json_t *item;
    fprintf(out, "argus %s", json_string_value(json_object_get(walk, "command")));
    json_array_foreach(json_object_get(walk, "options"), i, item)
    {
        fputc(' ', out);
        arguments_write_quoted(json_string_value(item), out);
    }
    json_t *answers = json_object_get(walk, "answers");
    if (with_answers && json_array_size(answers) > 0)
        fprintf(out, " --answers=");
    json_array_foreach(answers, i, item)
    {
        json_int_t number = json_integer_value(json_object_get(item, "number"));
        if (with_answers && number == 0)
            fprintf(out, "%sstop", i ? "," : "");
        else if (with_answers)
            fprintf(out, "%s%" JSON_INTEGER_FORMAT, i ? "," : "", number);
    }
    if (file) {
        fputc(' ', out);
        arguments_write_quoted(file, out);
    }
    json_array_foreach(json_object_get(walk, "words"), i, item)
    {
        fputc(' ', out);
        arguments_write_quoted(json_string_value(item), out);
    }
}

struct argus_error *answer_book_run(struct session *session, const json_t *walk, const char *file,
                                    const char *answers, bool json)
{
    const json_t *options = json_object_get(walk, "options"),
                 *words = json_object_get(walk, "words");
    const struct command *command =
        asking_command(json_string_value(json_object_get(walk, "command")));
    size_t most = json_array_size(options) + json_array_size(words) + 4, i;
    const char **argv = calloc(most, sizeof(*argv));
    struct argus_error *error = NULL;
    json_t *item;
    int argc = 0;
    if (!argv)
        return argus_error_memory();
    json_array_foreach(options, i, item) argv[argc++] = json_string_value(item);
    if (json)
        argv[argc++] = "--json";
    if (file)
        argv[argc++] = file;
    json_array_foreach(words, i, item) argv[argc++] = json_string_value(item);
    session->next_answers = answers;
    session->exit_code = command_run(session, command, argc, argv, &error);
    session->next_answers = NULL;
    free(argv);
    return error;
}
