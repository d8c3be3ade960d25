/* Reads every chunk of the file and reports what is invalid: checks more than opening the file
 * does. */
#include "plugin/command.h"

#include <jansson.h>
#include <stdlib.h>

#include "plugin/json_output.h"
#include "plugin/session_trace.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* Adds a finding: an offset in the file, how many bytes, and a sentence. */
static struct argus_error *add_finding(json_t *findings, uint64_t offset, uint64_t length,
                                       const char *reason)
{
    json_t *finding = json_pack("{s:I, s:I, s:o}", "offset", (json_int_t)offset, "bytes",
                                (json_int_t)length, "reason", json_text(reason));
    return json_array_append_new(findings, finding) ? argus_error_memory() : NULL;
}

/* What is wrong with a chunk's records; NULL: nothing. */
static const char *judge_records(const struct argus_trace *trace, const struct argus_chunk *chunk,
                                 const struct argus_record *records)
{
    uint32_t cpus = argus_trace_header(trace)->cpu_count;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (records[i].timestamp < chunk->first_ticks || records[i].timestamp > chunk->last_ticks)
            return "a record's time lies outside the chunk's";
        if (records[i].cpu >= cpus)
            return "a record's cpu is not one of the machine's";
    }
    return NULL;
}

static struct argus_error *check_chunk(const struct argus_trace *trace,
                                       const struct argus_chunk *chunk,
                                       struct argus_record *records, json_t *findings)
{
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    const char *reason = error ? error->message : judge_records(trace, chunk, records);
    if (error && error->code == ARGUS_ERROR_MEMORY)
        return error;
    struct argus_error *failed =
        reason ? add_finding(findings, chunk->offset_bytes, chunk->stored_bytes, reason) : NULL;
    argus_error_destroy(error);
    return failed;
}

static struct argus_error *check_chunks(struct session *session, const struct argus_trace *trace,
                                        json_t *findings)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = NULL;
    if (!records)
        return argus_error_memory();
    for (size_t i = 0; i < count && !error; i++) {
        session_progress(session, "checking chunks", i, count);
        error = session_interrupted(session) ? session_interrupt_error()
                                             : check_chunk(trace, &chunks[i], records, findings);
    }
    free(records);
    return error;
}

static struct argus_error *list_damage(const struct argus_trace *trace, json_t *findings)
{
    const struct argus_damage *damage;
    size_t count = argus_trace_damage(trace, &damage);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++)
        error =
            add_finding(findings, damage[i].offset_bytes, damage[i].length_bytes, damage[i].reason);
    if (!error && !argus_trace_complete(trace))
        error = add_finding(findings, argus_trace_file_bytes(trace), 0,
                            "no end: cut off, or the recorder was killed");
    return error;
}

static void print_text(struct session *session, const struct argus_trace *trace,
                       const json_t *findings)
{
    const struct argus_chunk *chunks;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        session_printf(session, "offset %lld, %lld bytes: %s\n",
                       (long long)json_integer_value(json_object_get(finding, "offset")),
                       (long long)json_integer_value(json_object_get(finding, "bytes")),
                       json_string_value(json_object_get(finding, "reason")));
    }
    session_printf(session, "%s: %zu record chunks, %llu records, %llu lost: %s\n",
                   argus_trace_name(trace), argus_trace_chunks(trace, &chunks),
                   (unsigned long long)argus_trace_record_count(trace),
                   (unsigned long long)argus_trace_lost_count(trace),
                   json_array_size(findings) ? "damaged" : "sound");
}

static struct argus_error *print(struct session *session, const struct arguments *arguments,
                                 const struct argus_trace *trace, json_t *findings)
{
    if (!arguments_has(arguments, "json")) {
        print_text(session, trace, findings);
        return NULL;
    }
    return json_output(session, "argus-verify 1",
                       json_pack("{s:o, s:I, s:I, s:b, s:O}", "file",
                                 json_text(argus_trace_name(trace)), "records",
                                 (json_int_t)argus_trace_record_count(trace), "lost",
                                 (json_int_t)argus_trace_lost_count(trace), "sound",
                                 json_array_size(findings) == 0, "findings", findings));
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    size_t next;
    struct session_trace *trace;
    struct argus_error *error = session_trace_get(session, arguments, &next, &trace);
    if (!error)
        error = arguments_expect(arguments, next, next);
    if (error)
        return error;
    json_t *findings = json_array();
    error = list_damage(trace->trace, findings);
    if (!error)
        error = check_chunks(session, trace->trace, findings);
    if (!error)
        error = print(session, arguments, trace->trace, findings);
    if (json_array_size(findings))
        session->damage_seen = true;
    json_decref(findings);
    return error;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "check every byte of a trace",
    .details = "Reads every chunk, checks its checksum and that its records fit what the\n"
               "chunk's header says, and lists what does not. Exit code 4 when there is\n"
               "anything to list.",
    .example = "argus verify freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
