#include "plugin/darwin_contents.h"

#include "plugin/json_output.h"

static size_t names_of(const struct argus_spawn *spawn)
{
    return spawn->name_count < ARGUS_SPAWN_NAMES ? spawn->name_count : ARGUS_SPAWN_NAMES;
}

static void print_spawn(struct session *session, const struct argus_spawn *spawn)
{
    session_printf(session, "spawned    process %llu by process %llu",
                   (unsigned long long)spawn->pid, (unsigned long long)spawn->parent_pid);
    for (size_t i = 0; i < names_of(spawn); i++)
        session_printf(session, "%s%s", i ? ", then " : ": became ", spawn->names[i]);
    if (spawn->name_count > ARGUS_SPAWN_NAMES)
        session_printf(session, " and %zu more", spawn->name_count - ARGUS_SPAWN_NAMES);
    session_printf(session, "\n");
}

void darwin_contents_print(struct session *session, const struct argus_contents *contents)
{
    session_printf(session, "stacks     %llu of user code, %llu of the kernel, sampled by kperf\n",
                   (unsigned long long)contents->user_stacks,
                   (unsigned long long)contents->kernel_stacks);
    session_printf(session, "images     %llu, and %llu shared cache%s, reported by dyld\n",
                   (unsigned long long)contents->images,
                   (unsigned long long)contents->shared_caches,
                   contents->shared_caches == 1 ? "" : "s");
    for (size_t i = 0; i < contents->spawn_count; i++)
        print_spawn(session, &contents->spawns[i]);
}

static json_t *spawn_json(const struct argus_spawn *spawn)
{
    json_t *names = json_array();
    for (size_t i = 0; i < names_of(spawn); i++)
        json_array_append_new(names, json_text(spawn->names[i]));
    return json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)spawn->pid, "parent_pid",
                     (json_int_t)spawn->parent_pid, "programs", names);
}

json_t *darwin_contents_json(const struct argus_contents *contents)
{
    json_t *spawns = json_array();
    for (size_t i = 0; i < contents->spawn_count; i++)
        json_array_append_new(spawns, spawn_json(&contents->spawns[i]));
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "user_stacks", (json_int_t)contents->user_stacks,
                     "kernel_stacks", (json_int_t)contents->kernel_stacks, "images",
                     (json_int_t)contents->images, "shared_caches",
                     (json_int_t)contents->shared_caches, "spawns", spawns);
}
