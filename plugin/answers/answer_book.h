/* The answers that were given about one trace, kept as FILE.answers next to it (see
 * plugin/sidecar.h). With them a walk can be continued, taken back and repeated by another command,
 * in another program and on another day.
 *
 * The file is JSON: an object with "version" and "walks", the latest walk last. A walk is a command
 * line and the answers to its questions, in order:
 *
 *     {"command": "diagnose", "options": ["--process=gedit"], "words": ["v12"],
 *      "answers": [{"question": "Which …?", "number": 2, "option": "the text of option 2"}],
 *      "open": "the question that nobody has answered yet, or null"}
 *
 * `number` 0 is "stop". An answer is used only if the question and the chosen option are the same.
 * So a file that belongs to another trace, or to another version of Argus, does no harm. Nor does a
 * forged file: only commands that ask questions are run from it, and text from it is sanitized
 * before it is printed.
 */
#ifndef ARGUS_PLUGIN_ANSWER_BOOK_H
#define ARGUS_PLUGIN_ANSWER_BOOK_H

#include <jansson.h>

#include "plugin/analysis.h"
#include "plugin/sidecar.h"

struct answer_book {
    struct sidecar places;
    char *path;     /* the file's current place; owned; NULL: not saved */
    char *left_out; /* a file of another user next to the trace; owned; NULL: none */
    json_t *walks;  /* an array; owned */
};

/* Reads what is kept about the trace at `trace_path`; if there is nothing, the book is empty.
 * FORMAT: the file is no answer book. Deinit also after an error. */
struct argus_error *answer_book_open(const char *trace_path, struct answer_book *ret);
void answer_book_deinit(struct answer_book *book);

/* Same for a command line that names a trace, or means the loaded one, and has `words` more words
 * after it. `*ret_next` is the index of the first of these, `*ret_path` the trace's path. */
struct argus_error *answer_book_of(struct session *session, const struct arguments *arguments,
                                   size_t words, size_t *ret_next, const char **ret_path,
                                   struct answer_book *ret);

/* Writes the file, with mode 0600 and never through a link. Removes the file of an empty book. */
struct argus_error *answer_book_save(struct answer_book *book);

/* The walk of this command line, whose first `next` words are FILE; NULL: none. Borrowed. */
json_t *answer_book_find(const struct answer_book *book, const struct arguments *arguments,
                         size_t next);
/* The latest walk; NULL: none. Borrowed. */
json_t *answer_book_last(const struct answer_book *book);
/* Removes a walk from the book. */
void answer_book_drop(struct answer_book *book, const json_t *walk);

/* Replaces the answers of the walk of the analysis by `asked`, and makes that walk the latest.
 * Answers of ARGUS_BY_AUTO are kept too, because later answers depend on them. The last question
 * may be open. False: nothing changed. */
struct argus_error *answer_book_note(struct answer_book *book, const struct analysis *analysis,
                                     const struct argus_asked *asked, size_t count,
                                     bool *ret_changed);

/* The walk's answer `index` as an answer to `question`: an option's index or ARGUS_ANSWER_STOP.
 * False: there is no such answer, or it was given to a different question. */
bool answer_book_answer(const json_t *walk, size_t index, const struct argus_graph *graph,
                        const struct argus_question *question, int *ret);
/* The number of answers of a walk. */
size_t answer_book_count(const json_t *walk);

/* Runs the command of `walk` again, for the trace `file` (NULL: the loaded one). `answers` (NULL:
 * none) are the user's answers to the questions after those that the walk already answers. */
struct argus_error *answer_book_run(struct session *session, const json_t *walk, const char *file,
                                    const char *answers, bool json);
/* Writes "argus diagnose --process=gedit --answers=2,stop FILE v12". */
void answer_book_write_line(const json_t *walk, const char *file, bool with_answers, FILE *out);

#endif
