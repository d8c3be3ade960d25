#include "context/known_lives.h"

#include "base/lower_bound.h"

static uint64_t overlap_ns(struct life_span a, struct life_span b)
{
    uint64_t from_ns = a.from_ns > b.from_ns ? a.from_ns : b.from_ns;
    uint64_t to_ns = a.to_ns < b.to_ns ? a.to_ns : b.to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static struct life_span part_of(const struct life *life, bool is_later)
{
    return is_later ? (struct life_span){life->exec_ns, UINT64_MAX}
                    : (struct life_span){0, life->exec_ns};
}

static void add_unseen(struct life *life, uint64_t to_ns)
{
    struct life_span span = {life->since_ns, to_ns};
    for (int i = 0; i < 2; i++) {
        uint64_t ns = overlap_ns(span, part_of(life, i));
        uint64_t wanted_ns = life->wanted_since_ns[i] < ns ? life->wanted_since_ns[i] : ns;
        life->unseen_ns[i][life->why] += ns - wanted_ns;
        life->wanted_cpu_ns[i] += wanted_ns;
        life->wanted_since_ns[i] = 0;
    }
}

void life_wanted_cpu(struct life *life, struct life_span span)
{
    if (life->is_known)
        return;
    span.from_ns = span.from_ns > life->since_ns ? span.from_ns : life->since_ns;
    for (int i = 0; i < 2; i++)
        life->wanted_since_ns[i] += overlap_ns(span, part_of(life, i));
}

void life_begin(struct life *life, uint64_t from_ns, uint64_t exec_ns)
{
    *life = (struct life){.since_ns = from_ns, .exec_ns = exec_ns, .why = ARGUS_UNSEEN_BEFORE};
}

void life_known(struct life *life, uint64_t now_ns)
{
    if (life->is_known)
        return;
    add_unseen(life, now_ns);
    life->is_known = life->was_known = true;
}

void life_unknown(struct life *life, uint64_t last_ns, enum argus_unseen why)
{
    if (!life->is_known)
        return;
    life->is_known = false;
    life->since_ns = last_ns;
    life->why = (uint8_t)why;
}

void life_end(struct life *life, uint64_t end_ns)
{
    if (!life->was_known)
        life->why = ARGUS_UNSEEN_EVER;
    if (!life->is_known)
        add_unseen(life, end_ns);
}

static struct argus_context_program *program_of(program_vec *programs, uint32_t node)
{
    struct argus_context_program made = {.node = node, .first_ns = UINT64_MAX};
    size_t at;
    LOWER_BOUND(at, programs->length, programs->data[at].node < node);
    if (at < programs->length && programs->data[at].node == node)
        return &programs->data[at];
    if (!vec_push(programs, made))
        return NULL;
    for (size_t i = programs->length; --i > at;)
        programs->data[i] = programs->data[i - 1];
    programs->data[at] = made;
    return &programs->data[at];
}

bool life_add(program_vec *programs, const struct life *life, struct life_span span, bool is_later,
              uint32_t node)
{
    uint64_t lived_ns = overlap_ns(span, part_of(life, is_later));
    if (!lived_ns)
        return true;
    struct argus_context_program *program = program_of(programs, node);
    if (!program)
        return false;
    struct life_span part = part_of(life, is_later);
    part.from_ns = part.from_ns > span.from_ns ? part.from_ns : span.from_ns;
    part.to_ns = part.to_ns < span.to_ns ? part.to_ns : span.to_ns;
    program->first_ns = part.from_ns < program->first_ns ? part.from_ns : program->first_ns;
    program->last_ns = part.to_ns > program->last_ns ? part.to_ns : program->last_ns;
    program->threads++;
    program->thread_ns += lived_ns;
    program->wanted_cpu_ns += life->wanted_cpu_ns[is_later];
    for (int i = 0; i < ARGUS_UNSEEN_KINDS; i++)
        program->unseen_ns[i] += life->unseen_ns[is_later][i];
    return true;
}
