/* The answers that were given about one trace, kept as FILE.answers beside it (see plugin/beside.h), so that a walk can
 * be gone on with, gone back in, and repeated, by another command, in another program and on another day.
 *
 * The file is JSON, an object with "version" and "walks", the latest walk last. A walk is one command line and what was
 * answered to its questions, in order:
 *
 *     {"command": "diagnose", "options": ["--process=gedit"], "words": ["v12"],
 *      "answers": [{"question": "Which …?", "number": 2, "option": "the text of option 2"}],
 *      "open": "the question that nobody has answered yet, or null"}
 *
 * `number` 0 is "stop". An answer counts only for the very question it was given to, with the very option: a file that
 * belongs to another trace, or to another Argus, does no harm. Neither does one that somebody has made up: only
 * commands that ask are run from it, and what is printed of it is made harmless first.
 */
#ifndef ARGUS_PLUGIN_ANSWER_BOOK_H
#define ARGUS_PLUGIN_ANSWER_BOOK_H

#include <jansson.h>

#include "argus/question.h"
#include "plugin/beside.h"
#include "plugin/command.h"

struct answer_book {
    struct beside places;
    char *path;    /* where it is kept now; owned; NULL: nowhere */
    json_t *walks; /* an array; owned */
};

/* Reads what is kept about the trace at `trace_path`; nothing is an empty book. FORMAT: the file is no book. Deinit
 * also after an error. */
struct argus_error *answer_book_open(const char *trace_path, struct answer_book *ret);
void answer_book_deinit(struct answer_book *book);

/* The same of a command line that names a trace, or means the loaded one, with `words` more words behind it: `*ret_next` is the
 * index of the first of them, `*ret_path` the trace's. */
struct argus_error *answer_book_of(struct session *session, const struct arguments *arguments,
                                   size_t words, size_t *ret_next, const char **ret_path,
                                   struct answer_book *ret);

/* Writes it, or removes the file of an empty book. Never through a link, mode 0600. */
struct argus_error *answer_book_save(struct answer_book *book);

/* The walk of this command line, whose first `next` words are FILE; NULL: there is none. Borrowed. */
json_t *answer_book_find(const struct answer_book *book, const struct arguments *arguments,
                         size_t next);
/* The latest walk; NULL: there is none. Borrowed. */
json_t *answer_book_last(const struct answer_book *book);
/* Forgets a walk of the book. */
void answer_book_drop(struct answer_book *book, const json_t *walk);

/* Makes `asked` what is known of the walk of this command line, and that walk the latest. Answers of ARGUS_BY_AUTO are
 * kept, too: those behind them depend on them. The last one may be open. False: nothing has changed. */
struct argus_error *answer_book_note(struct answer_book *book, const struct arguments *arguments,
                                     size_t next, const struct argus_asked *asked, size_t count,
                                     bool *ret_changed);

/* What a walk's answer `index` is to `question`: an option's index or ARGUS_ANSWER_STOP. False: there is none, or it was the
 * answer to something else. */
bool answer_book_answer(const json_t *walk, size_t index, const struct argus_question *question,
                        int *ret);
/* How many answers a walk has. */
size_t answer_book_count(const json_t *walk);

/* Runs the command of `walk` again, for the trace `file` (NULL: the one that is loaded). `answers` (NULL: none) are those of the
 * user to the questions behind the walk's own. */
struct argus_error *answer_book_run(struct session *session, const json_t *walk, const char *file,
                                    const char *answers, bool json);
/* Writes "argus diagnose --process=gedit --answers=2,stop FILE v12". */
void answer_book_write_line(const json_t *walk, const char *file, bool with_answers, FILE *out);

#endif
