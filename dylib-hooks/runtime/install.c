#include "running_hook.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_image.h"
#include "trampoline.h"

#define EXPORTED __attribute__((visibility("default")))

/* All plans ever installed. Entries are only added, so that the handler of SIGTRAP can walk the
 * list without a lock. The plan is a copy: the generated library may be unloaded. */
struct installation {
    struct installation *next;
    const struct hook_plan *plan;
    unsigned count; /* of `hooks` */
    struct argus_hook hooks[];
};

static struct installation *installations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void hook_say(const struct hook_plan *plan, const char *format, ...)
{
    const char *image = plan_at(plan, plan->image);
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "argus-hook: %s: %s\n", *image ? image : "the program", text);
}

uint64_t hook_redirect(uint64_t pc)
{
    struct installation *at = __atomic_load_n(&installations, __ATOMIC_ACQUIRE);
    for (; at; at = at->next) {
        for (unsigned i = 0; i < at->count; i++) {
            const struct argus_hook *hook = &at->hooks[i];
            uint64_t offset = pc - (hook->entry->victim + hook->slide);
            for (uint32_t k = 0; hook->code && k < hook->entry->start_count; k++)
                if (hook->entry->starts[k] == offset)
                    return (uintptr_t)hook->code + (k ? hook->entry->moved_to[k] : 0);
        }
    }
    return 0;
}

static struct installation *find(const struct hook_plan *plan)
{
    struct installation *at = installations;
    while (at && (at->plan->bytes != plan->bytes || memcmp(at->plan, plan, plan->bytes) != 0))
        at = at->next;
    return at;
}

static struct installation *create(const struct hook_plan *plan)
{
    struct installation *made = calloc(1, sizeof(*made) + plan->entry_count * sizeof(*made->hooks));
    struct hook_plan *copy = malloc(plan->bytes);
    if (!made || !copy) {
        free(made);
        free(copy);
        return NULL;
    }
    memcpy(copy, plan, plan->bytes);
    made->plan = copy;
    made->count = plan->entry_count;
    for (unsigned i = 0; i < made->count; i++)
        made->hooks[i] =
            (struct argus_hook){.shell = hook_record, .plan = copy, .entry = plan_entry(copy, i)};
    made->next = installations;
    __atomic_store_n(&installations, made, __ATOMIC_RELEASE);
    return made;
}

/* --- one hook --- */

static void refuse(const struct argus_hook *hook, const char *reason)
{
    hook_say(hook->plan, "no hook at %s: %s", argus_hook_place(hook), reason);
}

static const char *find_shell(struct argus_hook *hook)
{
    const char *name = plan_at(hook->plan, hook->entry->shell);
    const char *library = plan_at(hook->plan, hook->entry->shell_library);
    if (!hook->entry->shell || hook->user_shell)
        return NULL;
    void *handle = hook->entry->shell_library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (hook->entry->shell_library && !handle)
        return dlerror();
    hook_shell found = (hook_shell)(uintptr_t)dlsym(handle ? handle : RTLD_DEFAULT, name);
    if (!found)
        return "its shell function is not there";
    hook->user_shell = found;
    hook->shell = hook_call_user;
    hook_entry_prepare();
    return NULL;
}

static const char *check_bytes(const struct argus_hook *hook)
{
    const void *window = (const void *)(hook->entry->victim + hook->slide);
    if (memcmp(window, hook->entry->original, hook->entry->window_bytes) != 0)
        return "its code differs from the file: another tool has changed it already, for instance "
               "with a uprobe (argus record has some: skip=1 goes behind them)";
    return NULL;
}

/* Everything but the jump itself. */
static const char *prepare(struct argus_hook *hook, struct arena *arena, enum poke_way *ret_way)
{
    const char *reason = check_bytes(hook);
    if (!reason)
        reason = find_shell(hook);
    if (!reason)
        *ret_way = poke_choose(hook->entry, hook->entry->victim + hook->slide, &reason);
    if (reason)
        return reason;
    struct near_wish wish = poke_wish(hook->entry, *ret_way);
    return trampoline_make(hook, arena, &wish);
}

/* --- all hooks of a plan --- */

static void install_all(struct installation *at, uint64_t slide)
{
    struct arena arena = {0};
    enum poke_way *ways = calloc(at->count + 1u, sizeof(*ways));
    if (!ways)
        return hook_say(at->plan, "out of memory");
    for (unsigned i = 0; i < at->count; i++) {
        struct argus_hook *hook = &at->hooks[i];
        hook->slide = slide;
        const char *reason = hook->installed ? NULL : prepare(hook, &arena, &ways[i]);
        if (reason) {
            ways[i] = POKE_REFUSED;
            refuse(hook, reason);
        }
    }
    bool closed = arena_close(&arena);
    if (!closed)
        hook_say(at->plan, "the system allows no new code");
    for (unsigned i = 0; i < at->count && closed; i++) {
        struct argus_hook *hook = &at->hooks[i];
        if (hook->installed || ways[i] == POKE_REFUSED)
            continue;
        const char *reason = poke_jump(hook, ways[i]);
        hook->installed = !reason;
        if (reason)
            refuse(hook, reason);
    }
    free(ways);
}

EXPORTED void argus_hook_install(const struct hook_plan *plan)
{
    struct loaded_image image = loaded_image_find(plan);
    const char *name = plan_at(plan, plan->image);
    if (!image.found && *name == '/') /* a program started by the hooked one */
        return;
    if (!image.found)
        return hook_say(plan, "no hooks: it is not loaded");
    if (!image.is_right)
        return hook_say(plan, "no hooks: it is another version than the one that they were made "
                              "for; make them anew with argus-hook");
    pthread_mutex_lock(&lock);
    poke_begin();
    struct installation *at = find(plan);
    if (!at)
        at = create(plan);
    if (at)
        install_all(at, image.slide);
    else
        hook_say(plan, "no hooks: out of memory");
    pthread_mutex_unlock(&lock);
}

static const char *remove_one(struct argus_hook *hook)
{
    const char *reason = NULL;
    enum poke_way way = poke_choose(hook->entry, hook->entry->victim + hook->slide, &reason);
    if (!reason)
        reason = poke_original(hook, way);
    hook->installed = reason != NULL;
    return reason;
}

/* One sentence for all hooks that stay: at the end of a program that may be thousands. */
static void remove_all(struct installation *at)
{
    const char *why = NULL;
    unsigned stay = 0, first = 0;
    for (unsigned i = 0; i < at->count; i++) {
        const char *reason = at->hooks[i].installed ? remove_one(&at->hooks[i]) : NULL;
        if (reason && stay++ == 0) {
            first = i;
            why = reason;
        }
    }
    if (stay)
        hook_say(at->plan, "%u of %u hooks stay, the first of them at %s: %s", stay, at->count,
                 argus_hook_place(&at->hooks[first]), why);
}

EXPORTED void argus_hook_remove(const struct hook_plan *plan)
{
    /* An unloaded image has no hooks any more. */
    struct loaded_image image = loaded_image_find(plan);
    /* The hooks' jumps change the hash. */
    bool is_loaded = plan->id_bytes ? image.is_right : image.found;
    pthread_mutex_lock(&lock);
    poke_begin();
    struct installation *at = find(plan);
    for (unsigned i = 0; at && i < at->count; i++)
        at->hooks[i].installed &= is_loaded;
    if (at)
        remove_all(at);
    pthread_mutex_unlock(&lock);
}

EXPORTED unsigned argus_hook_count(const struct hook_plan *plan)
{
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    struct installation *at = find(plan);
    for (unsigned i = 0; at && i < at->count; i++)
        count += at->hooks[i].installed;
    pthread_mutex_unlock(&lock);
    return count;
}
