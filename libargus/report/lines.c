#include "report/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_time.h"
#include "event/names/short_names.h"
#include "graph/stack_beginnings.h"
#include "report/phrases.h"
#include "report/report_callbacks.h"
#include "slice/timeline.h"

#define MAX_WIDTH       100
#define MOST_NAME_BYTES 4096

bool argus_sink_printf(const struct argus_sink *sink, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return false;
    bool more = sink->write(sink->context, text, (size_t)length);
    free(text);
    return more;
}

const char *argus_time_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                            size_t bytes)
{
    return wall_clock_text(argus_trace_ns_to_wall_ns(trace, ns), 6, buffer, bytes);
}

const char *argus_moment_text(const struct argus_trace *trace, uint64_t ns, char *buffer,
                              size_t bytes)
{
    return wall_moment_text(argus_trace_ns_to_wall_ns(trace, ns), buffer, bytes);
}

const char *argus_duration_text(uint64_t ns, char *buffer, size_t bytes)
{
    return text_duration(ns, buffer, bytes);
}

/* Shortens a long name for readers. */
static void shorten_function(struct argus_symbol *symbol, char *buffer, size_t bytes)
{
    if (!symbol->function || strlen(symbol->function) >= bytes)
        return;
    memcpy(buffer, symbol->function, strlen(symbol->function) + 1);
    short_name(buffer);
    symbol->function = buffer;
}

static uint32_t process_of(const struct argus_report_context *context, uint32_t vertex)
{
    struct view view = view_of(context->graph);
    return view.threads[view.vertices[vertex].thread].process;
}

void report_functions(const struct argus_report_context *context, uint32_t vertex, uint64_t address,
                      bool is_return, struct argus_functions *ret)
{
    ret->symbols[0] = (struct argus_symbol){.offset = address};
    ret->count = 1;
    if (!context->symbols)
        return;
    uint32_t process = process_of(context, vertex);
    uint64_t time_ns = view_of(context->graph).vertices[vertex].end_ns;
    argus_symbols_show_all(context->symbols, process, time_ns, address, is_return, ret);
    argus_symbols_note(context->symbols, process, address, is_return,
                       &ret->symbols[ret->count - 1]);
}

/* "file:line" without its folder, "file" if the line is not known, and whether the function was
 * inlined. */
static void put_place(const struct argus_symbol *symbol, char *buffer, size_t bytes)
{
    const char *file = symbol->file ? strrchr(symbol->file, '/') : NULL;
    file = file ? file + 1 : symbol->file;
    char line[16] = "";
    if (symbol->line)
        snprintf(line, sizeof(line), ":%u", symbol->line);
    if (file)
        snprintf(buffer, bytes, " (%.*s%s%s)", (int)bytes, file, line,
                 symbol->is_inlined ? ", inlined" : "");
    else if (symbol->is_inlined)
        snprintf(buffer, bytes, " (inlined)");
}

const char *report_function(const struct argus_symbol *symbol, uint64_t address, bool is_short,
                            char *buffer, size_t bytes)
{
    char name[MOST_NAME_BYTES];
    struct argus_symbol shown = *symbol;
    if (is_short)
        shorten_function(&shown, name, sizeof(name));
    argus_symbol_text(&shown, address, buffer, bytes);
    size_t length = strlen(buffer);
    if (shown.function && length < bytes)
        put_place(&shown, buffer + length, bytes - length);
    return buffer;
}

void report_count_frame(const struct argus_report_context *context, uint32_t vertex,
                        uint64_t address, bool is_return)
{
    if (!context->symbols || !address)
        return;
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    uint32_t process = view.threads[v->thread].process;
    struct argus_symbol symbol =
        argus_symbols_show(context->symbols, process, v->end_ns, address, is_return);
    argus_symbols_note(context->symbols, process, address, is_return, &symbol);
}

const char *report_named(const struct argus_report_context *context, uint32_t vertex,
                         uint64_t address, bool is_return, char *buffer, size_t bytes)
{
    struct argus_functions functions = {.symbols = {{.offset = address}}, .count = 1};
    uint32_t process = process_of(context, vertex);
    uint64_t time_ns = view_of(context->graph).vertices[vertex].end_ns;
    if (context->symbols) {
        argus_symbols_named(context->symbols, process, time_ns, address, is_return, &functions);
        argus_symbols_note(context->symbols, process, address, is_return,
                           &functions.symbols[functions.count - 1]);
    }
    return report_function(&functions.symbols[0], address, false, buffer, bytes);
}

const char *report_frame(const struct argus_report_context *context, uint32_t vertex,
                         uint64_t address, bool is_return, char *buffer, size_t bytes)
{
    struct argus_functions functions;
    report_functions(context, vertex, address, is_return, &functions);
    return report_function(&functions.symbols[functions.count - 1], address, false, buffer, bytes);
}

const char *report_thread(const struct argus_report_context *context, uint32_t thread, char *buffer,
                          size_t bytes)
{
    struct view view = view_of(context->graph);
    const struct argus_thread *t = &view.threads[thread];
    const struct argus_process *process = &view.processes[t->process];
    if (t->tid == process->pid)
        snprintf(buffer, bytes, "%s [%llu]", process->name, (unsigned long long)process->pid);
    else
        snprintf(buffer, bytes, "%s [%llu], thread %s [%llu]", process->name,
                 (unsigned long long)process->pid, t->name, (unsigned long long)t->tid);
    return buffer;
}

void report_vertex_line(const struct argus_report_context *context, uint32_t vertex,
                        const char *prefix)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    char thread[128], ran[32], waited[32], wanted[32], wait[512];
    report_thread(context, v->thread, thread, sizeof(thread));
    argus_sink_printf(context->sink, "%sv%u %s: ran %s", prefix, vertex, thread,
                      text_duration(v->run_ns, ran, sizeof(ran)));
    if (v->runnable_ns > v->run_ns / 10 && v->runnable_ns > 1000000)
        argus_sink_printf(context->sink, ", wanted a cpu for %s",
                          text_duration(v->runnable_ns, wanted, sizeof(wanted)));
    if (v->repeat > 1)
        argus_sink_printf(context->sink, " in %u turns of a loop", v->repeat);
    if (v->wait.kind != ARGUS_WAIT_NONE)
        argus_sink_printf(context->sink, ", then waited %s: %s, %s",
                          text_duration(argus_vertex_wait_ns(v), waited, sizeof(waited)),
                          argus_wait_text(context->graph, vertex, wait, sizeof(wait)),
                          argus_outcome_name((enum argus_outcome)v->wait.outcome));
    const char *event = report_ui_event(context->graph, vertex);
    if (event)
        argus_sink_printf(context->sink, " [%s]", event);
    argus_sink_printf(context->sink, "\n");
}

/* How much of `text` fits into `columns`: up to a blank, or the whole first word. */
static size_t fitting(const char *text, size_t columns)
{
    size_t length = strlen(text), cut = 0;
    if (length <= columns)
        return length;
    for (size_t i = 0; i <= columns; i++)
        if (text[i] == ' ')
            cut = i;
    return cut > 0 ? cut : strcspn(text, " ");
}

void report_wrapped(const struct argus_sink *sink, unsigned indent, const char *text)
{
    size_t width = sink->width > 20 && sink->width < MAX_WIDTH ? (size_t)sink->width : MAX_WIDTH;
    size_t columns = width - indent;
    while (*text) {
        size_t length = fitting(text, columns);
        argus_sink_printf(sink, "%.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
        if (*text)
            argus_sink_printf(sink, "%*s", (int)indent, "");
    }
}

void report_heading(const struct argus_sink *sink, const char *text)
{
    argus_sink_printf(sink, sink->color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

struct argus_stack report_frames(const struct argus_report_context *context, uint32_t vertex,
                                 uint32_t stack)
{
    struct view view = view_of(context->graph);
    struct argus_stack frames = argus_graph_stack(context->graph, stack);
    struct argus_stack callers = {frames.frames, frames.count - 1};
    const struct argus_vertex *v = &view.vertices[vertex];
    bool has_end = frames.count > 1 && frames.frames[frames.count - 1] < ARGUS_FRAME_ENDS;
    return has_end && context->symbols &&
                   stack_is_whole(context->symbols, view.threads[v->thread].process, v->end_ns,
                                  callers)
               ? callers
               : frames;
}

/* Prints the frames from `first` to before `end`, each with the functions that were inlined there.
 */
static void print_frames(const struct argus_report_context *context, uint32_t vertex,
                         struct argus_stack frames, unsigned indent, uint32_t first, uint32_t end)
{
    char text[512];
    struct argus_functions functions;
    for (uint32_t i = first; i < frames.count && i < end; i++) {
        uint64_t address = frames.frames[i];
        report_functions(context, vertex, address, i > 0, &functions);
        for (uint32_t k = 0; k < functions.count; k++)
            argus_sink_printf(
                context->sink, "%*s%s %s\n", (int)indent, "", i + k == 0 ? "at" : "by",
                report_function(&functions.symbols[k], address, true, text, sizeof(text)));
    }
}

/* Prints the innermost frames. If a script's function is further out, half of them are printed, and
 * then the frames from that function on. */
void report_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack,
                  unsigned indent, uint32_t limit)
{
    if (stack == ARGUS_NONE)
        return;
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    struct argus_stack frames = report_frames(context, vertex, stack);
    struct argus_symbol symbol;
    uint32_t script = argus_symbols_script(context->symbols, view.threads[v->thread].process,
                                           v->end_ns, frames, &symbol);
    bool is_far = script != ARGUS_NONE && script >= limit;
    uint32_t end = is_far ? limit / 2 : limit;
    print_frames(context, vertex, frames, indent, 0, end);
    if (is_far) {
        if (script > end)
            argus_sink_printf(context->sink, "%*s… %u more\n", (int)indent, "", script - end);
        end = script + limit - end;
        print_frames(context, vertex, frames, indent, script, end);
    }
    if (frames.count > end)
        argus_sink_printf(context->sink, "%*s… %u more\n", (int)indent, "", frames.count - end);
}

static void print_answer(const struct argus_report_context *context,
                         const struct argus_asked *asked)
{
    static const char *const by[] = {[ARGUS_BY_USER] = "you",
                                     [ARGUS_BY_LIST] = "from the list of answers",
                                     [ARGUS_BY_AUTO] = "guessed",
                                     [ARGUS_BY_FILE] = "as answered before"};
    const struct argus_question *question = &asked->question;
    size_t runner_up = argus_asked_runner_up(asked);
    char text[ARGUS_OPTION_TEXT_BYTES], reason[ARGUS_QUESTION_TEXT_BYTES];
    if (asked->answer == ARGUS_ANSWER_OPEN) {
        argus_sink_printf(context->sink, "    open\n");
        return;
    }
    if (asked->answer == ARGUS_ANSWER_STOP) {
        argus_sink_printf(context->sink, "    stop (%s)\n", by[asked->by]);
        return;
    }
    bool guessed = asked->by == ARGUS_BY_AUTO;
    argus_default_reason_text(question, reason, sizeof(reason));
    argus_sink_printf(
        context->sink, "    %d: %s (%s%s%s)\n", asked->answer + 1,
        argus_option_text(context->graph, &question->options[asked->answer], text, sizeof(text)),
        by[asked->by], guessed ? ": " : "", guessed ? reason : "");
    if (guessed && runner_up < question->option_count)
        argus_sink_printf(
            context->sink, "    rather than %zu: %s\n", runner_up + 1,
            argus_option_text(context->graph, &question->options[runner_up], text, sizeof(text)));
}

void report_questions(const struct argus_report_context *context, const struct argus_asked *asked,
                      size_t count)
{
    char text[ARGUS_QUESTION_TEXT_BYTES];
    if (count > 0)
        report_heading(context->sink, "Choices");
    for (size_t i = 0; i < count; i++) {
        argus_sink_printf(context->sink, "  ");
        report_wrapped(context->sink, 2,
                       argus_question_text(&asked[i].question, text, sizeof(text)));
        print_answer(context, &asked[i]);
    }
}
