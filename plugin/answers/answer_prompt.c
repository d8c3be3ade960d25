/* The dialog for one question: a number, Enter for the default, `s` to stop, `b` to go back, `?`
 * for the list of keys, and `? N` for details of option N: its vertex with stack and peers. */
#include "plugin/answers/answer_prompt.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/answers/answers.h"
#include "plugin/shown_output.h"

enum { LINE_BYTES = 128 };

/* The text that is shown before the next line is read. */
struct page {
    char *text; /* owned */
    size_t length;
    FILE *out; /* writes to `text`, as base/shown.h says */
};

static bool page_open(struct page *page)
{
    *page = (struct page){0};
    FILE *text = open_memstream(&page->text, &page->length);
    page->out = text ? shown_output_open(text, true, true) : NULL;
    if (text && !page->out)
        fclose(text);
    return page->out != NULL;
}

static void write_keys(FILE *out, const struct argus_graph *graph,
                       const struct argus_question *question, bool may_go_back)
{
    char reason[ARGUS_QUESTION_TEXT_BYTES];
    fputc('\n', out);
    answers_write_question(out, graph, question);
    fprintf(out,
            "\n  1 to %zu  take this one\n"
            "  Enter   take %zu: %s\n"
            "  ? N     show more of option N: its vertex, its stack, its peers\n",
            question->option_count, question->default_option + 1,
            argus_default_reason_text(question, reason, sizeof(reason)));
    if (may_go_back)
        fprintf(out, "  b       go back to the question before\n");
    fprintf(out, "  s       stop the walk here\n"
                 "  Ctrl-C  leave the question open\n");
}

static bool write_piece(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

/* Writes what is known about an option. */
static void write_option(FILE *out, const struct analysis *analysis,
                         const struct argus_question *question, const char *word)
{
    char text[ARGUS_OPTION_TEXT_BYTES];
    int answer = answer_parse(word, question->option_count);
    if (answer < 0) {
        fprintf(out, "There is no option %.16s.\n", word);
        return;
    }
    const struct argus_option *option = &question->options[answer];
    fprintf(out, "\n%d) %s\n", answer + 1,
            argus_option_text(analysis->graph, option, text, sizeof(text)));
    if (option->vertex == ARGUS_NONE) {
        fprintf(out, "This option has no vertex.\n");
        return;
    }
    struct argus_sink sink = {write_piece, out, analysis->sink.width, analysis->sink.color};
    struct argus_report_context report = analysis->report;
    report.sink = &sink;
    struct argus_error *error = argus_report_vertex(&report, option->vertex, NULL, 0, false);
    if (error)
        fprintf(out, "%s\n", error->message);
    argus_error_destroy(error);
}

/* Interprets a line, and writes requested text to `out`. */
static int understand(const struct analysis *analysis, const struct argus_question *question,
                      bool may_go_back, char *line, FILE *out)
{
    char *rest, *word = strtok_r(line, " \t", &rest),
                *next = word ? strtok_r(NULL, " \t", &rest) : NULL;
    if (!word)
        return ARGUS_ANSWER_DEFAULT;
    if (word[0] == '?' && word[1]) /* "?2" */
        next = word + 1;
    if (word[0] == '?' && next)
        write_option(out, analysis, question, next);
    else if (word[0] == '?')
        write_keys(out, analysis->graph, question, may_go_back);
    else if (!strcmp(word, "b") && may_go_back)
        return ANSWER_BACK;
    else if (!strcmp(word, "b"))
        fprintf(out, "This is the first question.\n");
    else
        return !strcmp(word, "s") ? ARGUS_ANSWER_STOP : answer_parse(word, question->option_count);
    return ANSWER_NONE;
}

/* Shows the page and reads a line. */
static bool read_line(struct session *session, struct page *page, const char *prompt, char *line)
{
    fclose(page->out);
    fflush(session->out); /* what was printed before the question */
    bool read = page->text &&
                session->host.read_line(session->host.data, page->text, prompt, line, LINE_BYTES);
    free(page->text);
    return read;
}

int answer_prompt(const struct analysis *analysis, const struct argus_question *question,
                  bool may_go_back)
{
    char line[LINE_BYTES], prompt[128];
    struct page page;
    int answer = ANSWER_NONE;
    snprintf(prompt, sizeof(prompt),
             "1 to %zu, s(top)%s, ?, or Enter for %zu: ", question->option_count,
             may_go_back ? ", b(ack)" : "", question->default_option + 1);
    if (!page_open(&page))
        return ARGUS_ANSWER_OPEN;
    fputc('\n', page.out);
    answers_write_question(page.out, analysis->graph, question);
    while (answer == ANSWER_NONE) {
        if (!read_line(analysis->session, &page, prompt, line) || !page_open(&page))
            return ARGUS_ANSWER_OPEN;
        answer = understand(analysis, question, may_go_back, line, page.out);
    }
    fclose(page.out);
    free(page.text);
    return answer;
}
