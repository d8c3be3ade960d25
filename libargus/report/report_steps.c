/* An instruction trace as text, a line for each item, or as JSON, an object on each line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/report_divergence.h"

enum { TEXT_BYTES = 512, DEEPEST = 16, ARGUMENTS_SHOWN = 4 };

struct writer {
    const struct argus_sink *sink;
    struct argus_steps *steps;
    const struct argus_report_steps_options *options;
    uint64_t left; /* items */
    uint64_t registers[ARGUS_STEP_REGISTERS];
    bool has_registers; /* of an earlier item */
    bool no_memory;
};

static const char *const kind_names[] = {
    [ARGUS_STEP_ITEM_CALL] = "call",     [ARGUS_STEP_ITEM_RETURN] = "return",
    [ARGUS_STEP_ITEM_SKIP] = "skip",     [ARGUS_STEP_ITEM_SIGNAL] = "signal",
    [ARGUS_STEP_ITEM_BRANCH] = "branch", [ARGUS_STEP_ITEM_INSTRUCTION] = "instruction",
};

/* --- text --- */

static void print_arguments(const struct argus_sink *sink, const struct argus_step_item *item)
{
    for (unsigned i = 0; i < ARGUMENTS_SHOWN; i++)
        argus_sink_printf(sink, "%s0x%llx", i ? ", " : "(", (unsigned long long)item->arguments[i]);
    argus_sink_printf(sink, ", ...)");
}

static void print_deed(const struct argus_sink *sink, const struct argus_step_item *item)
{
    char target[TEXT_BYTES];
    report_place_text(&item->target, target, sizeof(target));
    switch (item->kind) {
    case ARGUS_STEP_ITEM_CALL:
    case ARGUS_STEP_ITEM_SKIP:
        argus_sink_printf(sink, "%s %s ", kind_names[item->kind], target);
        print_arguments(sink, item);
        break;
    case ARGUS_STEP_ITEM_RETURN:
        argus_sink_printf(sink, "return to %s", target);
        break;
    case ARGUS_STEP_ITEM_SIGNAL:
        argus_sink_printf(sink, "signal %u", item->signal);
        break;
    case ARGUS_STEP_ITEM_BRANCH:
        argus_sink_printf(sink, "%s: %s%s", item->place.text ? item->place.text : "branch",
                          item->is_taken ? "to " : "not taken", item->is_taken ? target : "");
        break;
    case ARGUS_STEP_ITEM_INSTRUCTION:
        argus_sink_printf(sink, "%s", item->place.text ? item->place.text : "(bad)");
        if (item->memory)
            argus_sink_printf(sink, "  (%s)", item->memory);
        break;
    }
    if (item->has_value)
        argus_sink_printf(sink, " = 0x%llx", (unsigned long long)item->value);
}

/* Those that changed since the previous item; not the pc, which the line has. */
static void print_registers(struct writer *writer, const struct argus_step_item *item)
{
    uint64_t now[ARGUS_STEP_REGISTERS];
    enum argus_arch arch = argus_steps_about(writer->steps)->arch;
    uint32_t count = argus_step_register_count(arch);
    uint32_t pc = arch == ARGUS_ARCH_AARCH64 ? (uint32_t)ARGUS_ARM64_PC : (uint32_t)ARGUS_X86_RIP;
    bool is_any = false;
    if (!argus_steps_registers(writer->steps, item->step, now))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (i == pc || (writer->has_registers && now[i] == writer->registers[i]))
            continue;
        argus_sink_printf(writer->sink, "%s%s=0x%llx", is_any ? " " : "            ",
                          argus_step_register_name(arch, i), (unsigned long long)now[i]);
        is_any = true;
    }
    argus_sink_printf(writer->sink, "%s", is_any ? "\n" : "");
    memcpy(writer->registers, now, sizeof(now));
    writer->has_registers = true;
}

static void print_item(struct writer *writer, const struct argus_step_item *item)
{
    char place[TEXT_BYTES];
    int indent = (int)(item->depth < DEEPEST ? item->depth : DEEPEST) * 2;
    argus_sink_printf(writer->sink, "%8u  %*s", item->step, indent, "");
    print_deed(writer->sink, item);
    argus_sink_printf(writer->sink, "  [%s]\n",
                      report_place_text(&item->place, place, sizeof(place)));
    if (writer->options->registers)
        print_registers(writer, item);
}

/* --- JSON --- */

static json_t *number_json(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)number);
    return json_text(text);
}

static json_t *registers_json(struct writer *writer, const struct argus_step_item *item)
{
    uint64_t now[ARGUS_STEP_REGISTERS];
    enum argus_arch arch = argus_steps_about(writer->steps)->arch;
    if (!argus_steps_registers(writer->steps, item->step, now))
        return json_null();
    json_t *json = json_object();
    for (uint32_t i = 0; i < argus_step_register_count(arch); i++)
        json_put(json, argus_step_register_name(arch, i), number_json(now[i]));
    return json;
}

static json_t *item_json(struct writer *writer, const struct argus_step_item *item)
{
    json_t *json = json_object(), *arguments = json_array();
    bool is_call = item->kind == ARGUS_STEP_ITEM_CALL || item->kind == ARGUS_STEP_ITEM_SKIP;
    for (unsigned i = 0; is_call && i < 6; i++)
        json_add(arguments, number_json(item->arguments[i]));
    json_put(json, "step", json_integer(item->step));
    json_put(json, "kind", json_text(kind_names[item->kind]));
    json_put(json, "depth", json_integer(item->depth));
    json_put(json, "place", report_place_json(&item->place));
    json_put(json, "target", report_place_json(&item->target));
    json_put(json, "memory", json_text(item->memory));
    json_put(json, "memory_function", json_text(item->memory_in));
    json_put(json, "taken",
             item->kind == ARGUS_STEP_ITEM_BRANCH ? json_boolean(item->is_taken) : json_null());
    json_put(json, "arguments", arguments);
    json_put(json, "value", item->has_value ? number_json(item->value) : json_null());
    json_put(json, "signal",
             item->kind == ARGUS_STEP_ITEM_SIGNAL ? json_integer(item->signal) : json_null());
    if (writer->options->registers)
        json_put(json, "registers", registers_json(writer, item));
    return json;
}

static void write_json(struct writer *writer, const struct argus_step_item *item)
{
    json_t *json = json_with_format("argus-steps 1", item_json(writer, item));
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    writer->no_memory |= !text;
    if (text)
        argus_sink_printf(writer->sink, "%s\n", text);
    free(text);
}

/* --- all of it --- */

static bool take_item(void *context, const struct argus_step_item *item)
{
    struct writer *writer = context;
    if (!writer->left)
        return false;
    writer->left--;
    if (writer->options->json)
        write_json(writer, item);
    else
        print_item(writer, item);
    return !writer->no_memory &&
           !(writer->options->is_stopped && writer->options->is_stopped(writer->options->context));
}

static const char *begin_name(const struct argus_steps_about *about)
{
    return about->begin == ARGUS_STEP_BEGIN_PLACE ? about->begin_text : "wherever the thread was";
}

void argus_report_steps_about(const struct argus_sink *sink, const struct argus_steps *steps)
{
    const struct argus_steps_about *about = argus_steps_about(steps);
    const struct argus_step_event *events;
    const uint64_t *pcs;
    const char *end = argus_steps_end_text(steps);
    size_t count = argus_steps_events(steps, &events), calls = 0, skips = 0;
    for (size_t i = 0; i < count; i++) {
        calls += events[i].kind == ARGUS_STEP_CALL;
        skips += events[i].kind == ARGUS_STEP_SKIP;
    }
    argus_sink_printf(sink, "%s: an instruction trace (argus step)\n", argus_steps_path(steps));
    argus_sink_printf(sink, "thread     %s [%llu], thread %llu, of %s\n", about->comm,
                      (unsigned long long)about->pid, (unsigned long long)about->tid, about->exe);
    if (about->vertex != ARGUS_NONE)
        argus_sink_printf(sink, "vertex     v%u of %s\n", about->vertex, about->trace);
    argus_sink_printf(sink, "begin      %s\n", begin_name(about));
    argus_sink_printf(sink, "steps      %zu, %zu calls, %zu calls stepped over\n",
                      argus_steps_pcs(steps, &pcs), calls, skips);
    argus_sink_printf(sink, "end        %s\n", end[0] ? end : "the file was cut off");
}

struct argus_error *argus_report_steps(const struct argus_sink *sink, struct argus_steps *steps,
                                       const struct argus_report_steps_options *options)
{
    struct writer writer = {
        .sink = sink, .steps = steps, .options = options, .left = options->most_items};
    struct argus_error *error = argus_step_items(steps, &options->wanted, take_item, &writer);
    return error || !writer.no_memory ? error : argus_error_memory();
}

struct argus_error *argus_report_steps_about_json(const struct argus_sink *sink,
                                                  const struct argus_steps *steps)
{
    const struct argus_steps_about *about = argus_steps_about(steps);
    const struct argus_step_event *events;
    const uint64_t *pcs;
    const char *end = argus_steps_end_text(steps);
    json_t *json = json_object();
    bool is_of_vertex = about->vertex != ARGUS_NONE;
    json_put(json, "file", json_text(argus_steps_path(steps)));
    json_put(json, "trace_format", json_text("steps"));
    json_put(json, "pid", json_integer((json_int_t)about->pid));
    json_put(json, "tid", json_integer((json_int_t)about->tid));
    json_put(json, "thread", json_text(about->comm));
    json_put(json, "program", json_text(about->exe));
    json_put(json, "vertex", is_of_vertex ? json_integer(about->vertex) : json_null());
    json_put(json, "trace", is_of_vertex ? json_text(about->trace) : json_null());
    json_put(json, "begin", json_text(begin_name(about)));
    json_put(json, "steps", json_integer((json_int_t)argus_steps_pcs(steps, &pcs)));
    json_put(json, "events", json_integer((json_int_t)argus_steps_events(steps, &events)));
    json_put(json, "complete", json_boolean(argus_steps_end(steps) != ARGUS_STEP_END_NONE));
    json_put(json, "end", end[0] ? json_text(end) : json_null());
    return json_write(sink, "argus-info-steps 1", json);
}
