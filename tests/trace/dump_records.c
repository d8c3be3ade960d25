/* dump_records FILE: prints everything that the reader returns, one item per line. decode.py prints
 * the same, written from the format's description alone. Texts are in hexadecimal, because names
 * may contain any bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/trace.h"

static const char *hex(const void *data, size_t length, char *to)
{
    for (size_t i = 0; i < length; i++)
        snprintf(to + 2 * i, 3, "%02x", ((const unsigned char *)data)[i]);
    to[2 * length] = '\0';
    return to;
}

static void put_text(const char *text)
{
    for (; *text; text++)
        printf("%02x", (unsigned char)*text);
}

static void dump_header(const struct argus_trace_header *h)
{
    char boot[33];
    printf("header %u.%u %u %u %u/%u %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 " %s ",
           h->version_major, h->version_minor, h->os, h->arch, h->timebase_numer, h->timebase_denom,
           h->anchor_ticks, h->anchor_wall_ns, h->page_bytes, h->cpu_count, h->ring_bytes,
           hex(h->boot_id, sizeof(h->boot_id), boot));
    put_text(h->host);
    putchar('\n');
}

static void dump_record(const struct argus_record *r)
{
    printf("record %" PRIu64 " %" PRIu64 " %08x %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           "\n",
           r->timestamp, r->tid, r->debugid, r->cpu, r->arg[0], r->arg[1], r->arg[2], r->arg[3]);
}

static void dump_chunk(const struct argus_trace *trace, const struct argus_chunk *c)
{
    printf("chunk %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->sequence,
           c->offset_bytes, c->cpu, c->count, c->lost, c->first_ticks, c->last_ticks);
    struct argus_record *records = malloc((c->count + 1) * sizeof(*records));
    struct argus_error *error = records ? argus_trace_read_chunk(trace, c, records) : NULL;
    if (error)
        printf("damaged-chunk %" PRIu64 "\n", c->offset_bytes);
    for (uint32_t i = 0; records && !error && i < c->count; i++)
        dump_record(&records[i]);
    argus_error_destroy(error);
    free(records);
}

static void dump_chunks(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++)
        dump_chunk(trace, &chunks[i]);
}

static void dump_threads(const struct argus_trace *trace)
{
    const struct argus_thread_entry *threads;
    size_t count = argus_trace_threads(trace, &threads);
    for (const struct argus_thread_entry *t = threads; t < threads + count; t++) {
        printf("thread %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " ", t->tid, t->pid,
               t->parent_pid, t->kernel, t->seen_ticks);
        put_text(t->name);
        putchar('\n');
    }
}

static void dump_images(const struct argus_trace *trace)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images);
    for (const struct argus_image_entry *i = images; i < images + count; i++) {
        char build_id[41];
        printf("image %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
               " %u %u %s ",
               i->pid, i->start, i->end, i->file_offset, i->mapped_ticks, i->inode, i->dev_major,
               i->dev_minor, hex(i->build_id, i->build_id_bytes, build_id));
        put_text(i->path);
        putchar('\n');
    }
}

static void dump_stacks(const struct argus_trace *trace)
{
    for (size_t i = 0; i < argus_trace_stack_count(trace); i++) {
        uint64_t id;
        const uint64_t *frames, *found;
        size_t count = argus_trace_stack_at(trace, i, &id, &frames);
        bool same = argus_trace_stack(trace, id, &found) == count && found == frames;
        printf("stack%s %" PRIu64, same ? "" : "-not-found", id);
        for (size_t k = 0; k < count; k++)
            printf(" %" PRIu64, frames[k]);
        putchar('\n');
    }
}

static void dump_snapshot(const struct argus_snapshot *snapshot)
{
    printf("snapshot %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d ", snapshot->id,
           snapshot->pid, snapshot->tid, snapshot->ticks, (int)snapshot->end);
    for (uint32_t i = 0; i < snapshot->register_count; i++)
        printf("%s%" PRIu64, i ? "," : "", snapshot->registers[i]);
    putchar(' ');
    for (uint32_t i = 0; i < snapshot->stack_bytes; i++)
        printf("%02x", snapshot->stack[i]);
    putchar('\n');
}

/* TEST_KEY of decode.py, which random_trace.c uses. */
static void give_key(struct argus_trace *trace)
{
    struct argus_snapshot_key key;
    for (int i = 0; i < ARGUS_SNAPSHOT_KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(i + 1);
    argus_trace_give_key(trace, &key);
}

/* A damaged chunk was listed as damage when the trace was opened. */
static void dump_snapshots(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_snapshot_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++) {
        struct argus_snapshots snapshots;
        argus_error_destroy(argus_trace_read_snapshots(trace, &chunks[i], &snapshots));
        for (size_t k = 0; k < snapshots.count; k++)
            dump_snapshot(&snapshots.entries[k]);
        argus_snapshots_deinit(&snapshots);
    }
}

static void dump_symbols(const struct argus_trace *trace)
{
    const struct argus_kernel_symbol *symbols;
    size_t count = argus_trace_kernel_symbols(trace, &symbols);
    for (size_t i = 0; i < count; i++) {
        printf("symbol %" PRIu64 " ", symbols[i].address);
        put_text(symbols[i].name);
        putchar(' ');
        put_text(symbols[i].module);
        putchar('\n');
    }
}

static void dump_probes(const struct argus_trace *trace)
{
    const struct argus_probe_entry *probes;
    size_t count = argus_trace_probes(trace, &probes);
    for (const struct argus_probe_entry *p = probes; p < probes + count; p++) {
        printf("probe %u %u %u %" PRIu64 " ", p->number, p->shape, p->space, p->file_offset);
        put_text(p->library);
        putchar(' ');
        put_text(p->symbol);
        putchar(' ');
        put_text(p->label);
        putchar('\n');
    }
}

static void dump_flags(const struct argus_trace *trace)
{
    const struct argus_flag_entry *flags;
    size_t count = argus_trace_flags(trace, &flags);
    for (const struct argus_flag_entry *f = flags; f < flags + count; f++) {
        printf("flag %u %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " ", f->number, f->pid,
               f->address, f->bytes, f->semantics, f->since_ticks, f->value);
        put_text(f->label);
        putchar('\n');
    }
}

static void dump_code(const struct argus_trace *trace)
{
    const struct argus_code_entry *code;
    size_t count = argus_trace_code(trace, &code);
    for (const struct argus_code_entry *c = code; c < code + count; c++) {
        printf("code %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u ", c->pid, c->start,
               c->bytes, c->seen_ticks, c->line);
        put_text(c->function);
        putchar(' ');
        put_text(c->source);
        putchar(' ');
        for (uint32_t i = 0; i < c->table_bytes; i++)
            printf("%02x", c->table[i]);
        putchar('\n');
    }
}

static void dump_names(const struct argus_trace *trace)
{
    for (size_t i = 0; i < argus_trace_name_count(trace); i++) {
        struct argus_name_entry name = argus_trace_name_at(trace, i);
        if (name.file && name.file->build_id_bytes) {
            char build_id[41];
            printf("name build %s", hex(name.file->build_id, name.file->build_id_bytes, build_id));
        } else if (name.file) {
            printf("name file %" PRIu64 " %u %u ", name.file->inode, name.file->dev_major,
                   name.file->dev_minor);
            put_text(name.file->path);
        } else {
            printf("name process %" PRIu64, name.pid);
        }
        printf(" %" PRIu64 " %u %" PRIu64 " ", name.place, name.level, name.since_ticks);
        put_text(name.function);
        putchar(' ');
        put_text(name.source);
        printf(" %u %" PRIu64 " %u ", name.line, name.distance + name.has_start, name.lack);
        put_text(name.called);
        putchar('\n');
    }
}

static void dump_notes(const struct argus_trace *trace)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    for (size_t i = 0; i < count; i++) {
        printf("note ");
        put_text(notes[i]);
        putchar('\n');
    }
    const struct argus_counter *counters;
    count = argus_trace_counters(trace, &counters);
    for (size_t i = 0; i < count; i++) {
        printf("counter ");
        put_text(counters[i].name);
        printf(" %" PRIu64 "\n", counters[i].value);
    }
}

static void dump_damage(const struct argus_trace *trace)
{
    const struct argus_damage *damage;
    size_t count = argus_trace_damage(trace, &damage);
    for (size_t i = 0; i < count; i++)
        printf("damage %" PRIu64 " %" PRIu64 "\n", damage[i].offset_bytes, damage[i].length_bytes);
    const struct argus_loss *losses;
    count = argus_trace_losses(trace, &losses);
    for (size_t i = 0; i < count; i++)
        printf("loss %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", losses[i].cpu, losses[i].count,
               losses[i].from_ticks, losses[i].to_ticks);
}

static void dump_totals(const struct argus_trace *trace)
{
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    printf("total %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
           argus_trace_record_count(trace), argus_trace_lost_count(trace), start_ns, end_ns,
           argus_trace_complete(trace) ? "complete" : "cut");
}

int main(int argc, char **argv)
{
    static void (*const dumps[])(const struct argus_trace *) = {
        dump_chunks,  dump_threads, dump_images, dump_stacks, dump_snapshots,
        dump_symbols, dump_probes,  dump_flags,  dump_code,   dump_names,
        dump_notes,   dump_damage,  dump_totals,
    };
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(argc > 1 ? argv[1] : "", &trace);
    if (error) {
        printf("error %s\n", error->message);
        argus_error_destroy(error);
        return 0;
    }
    give_key(trace);
    dump_header(argus_trace_header(trace));
    for (size_t i = 0; i < sizeof(dumps) / sizeof(*dumps); i++)
        dumps[i](trace);
    argus_trace_close(trace);
    return 0;
}
