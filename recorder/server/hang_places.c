#include "server/hang_places.h"

#include <string.h>

#define SURE_LOOKS    3  /* found so often at its first place, a thread is at home there */
#define SETTLED_LOOKS 20 /* the same for later places, and while a program starts: about 3 s */
#define LOOP_RETURNS  3  /* as hang_watch.c */
#define ASKED_TIMES   3
#define MOVED_NS      1000000000ull /* not seen in a place for so long, a thread waits elsewhere */
#define STARTED_NS    100000000ull /* a command may have been started before the last look at home */

void hang_places_deinit(struct hang_places *places)
{
    vec_deinit(&places->list);
}

static struct hang_dweller *find(struct hang_places *places, uint32_t pid)
{
    for (size_t i = 0; i < places->list.length; i++)
        if (places->list.data[i].pid == pid)
            return &places->list.data[i];
    return NULL;
}

/* NULL without memory. */
static struct hang_dweller *find_or_add(struct hang_places *places, uint32_t pid)
{
    const struct hang_dweller new = {.pid = pid};
    struct hang_dweller *known = find(places, pid);
    if (known || !vec_push(&places->list, new))
        return known;
    return &places->list.data[places->list.length - 1];
}

void hang_places_skip(struct hang_places *places, uint32_t pid)
{
    struct hang_dweller *dweller = find(places, pid);
    if (dweller)
        dweller->done = true;
}

/* --- its places --- */

static bool is_same(const struct proc_place *a, const struct proc_place *b)
{
    return a->number == b->number && a->sp == b->sp;
}

/* A new place takes the room of the one that was seen least. */
static struct hang_place *place_of(struct hang_dweller *dweller, const struct proc_place *at)
{
    struct hang_place *least = dweller->places;
    for (uint32_t i = 0; i < dweller->place_count; i++) {
        struct hang_place *place = &dweller->places[i];
        if (is_same(&place->at, at))
            return place;
        if (place->looks < least->looks)
            least = place;
    }
    if (dweller->place_count < HANG_PLACES)
        least = &dweller->places[dweller->place_count++];
    *least = (struct hang_place){.at = *at};
    return least;
}

/* Whether the thread is at home, where it was found now. A thread that waits for something else
 * does not get used to that. */
static bool is_at_home(struct hang_dweller *dweller, const struct proc_place *at)
{
    struct hang_place *place = place_of(dweller, at);
    uint32_t enough = dweller->known_ns || dweller->is_young ? SETTLED_LOOKS : SURE_LOOKS;
    place->looks += !dweller->since_ns;
    place->is_home |= place->looks >= enough;
    return place->is_home;
}

struct fds {
    struct hang_dweller *dweller;
    bool has_new;
};

static bool add_fd(void *context, int fd)
{
    const struct fds *fds = context;
    if (fd < HANG_PLACES_FDS)
        fds->dweller->home_fds[fd / 64] |= 1ull << fd % 64;
    return true;
}

static bool is_known_fd(void *context, int fd)
{
    struct fds *fds = context;
    fds->has_new = fd < HANG_PLACES_FDS && !(fds->dweller->home_fds[fd / 64] >> fd % 64 & 1);
    return !fds->has_new;
}

static void learn_fds(struct hang_dweller *dweller, const struct backend_poller *poller)
{
    struct fds fds = {.dweller = dweller};
    poll_set_each(&poller->handler_set, add_fd, &fds);
}

static bool polls_new_fd(struct hang_dweller *dweller, const struct backend_poller *poller)
{
    struct fds fds = {.dweller = dweller};
    poll_set_each(&poller->handler_set, is_known_fd, &fds);
    return fds.has_new;
}

/* --- hangs --- */

/* What one look works with. */
struct place_look {
    const struct hang_start_wish *wish;
    const struct hang_system *system;
    uint64_t now_ns;
    hang_reports *ret;
};

/* For which place, relative to home: so it is the same whenever the program runs. */
static uint64_t doubt_of(const struct hang_dweller *dweller)
{
    uint64_t home_sp = 0;
    for (uint32_t i = 0; i < dweller->place_count && !home_sp; i++)
        home_sp = dweller->places[i].is_home ? dweller->places[i].at.sp : 0;
    uint64_t words = (home_sp - dweller->at.sp) << 10 ^ (uint64_t)dweller->at.number;
    return words * 0x9e3779b97f4a7c15ull | 1;
}

static bool is_wanted(const struct place_look *look, const struct hang_sight *sight)
{
    return !look->wish->name[0] || strcmp(look->wish->name, sight->process) == 0;
}

static bool report(struct hang_dweller *dweller, const struct place_look *look,
                   const struct hang_sight *sight, bool ended)
{
    struct reply_hang hang = {.pid = dweller->pid,
                              .tid = dweller->pid,
                              .start_ns = dweller->since_ns,
                              .duration_ns = dweller->at_ns - dweller->since_ns,
                              .ended = ended,
                              .doubt = doubt_of(dweller)};
    if (dweller->done || !is_wanted(look, sight) || hang.duration_ns < look->wish->threshold_ns)
        return true;
    dweller->done = true;
    memcpy(hang.process, sight->process, sizeof(hang.process));
    return vec_push(look->ret, hang);
}

/* It waits for that no more. What it polls now, and the commands of now, are nothing new any more.
 */
static bool end(struct hang_dweller *dweller, const struct place_look *look,
                const struct backend_poller *poller, const struct hang_sight *sight)
{
    bool good = report(dweller, look, sight, true);
    dweller->since_ns = 0;
    dweller->done = false;
    dweller->known_ns = look->now_ns;
    learn_fds(dweller, poller);
    return good;
}

/* Since when it waits for something else; 0: it does not. */
static uint64_t waits_since(struct hang_dweller *dweller, const struct place_look *look,
                            const struct backend_poller *poller, const struct hang_sight *sight)
{
    if (sight->excused)
        return 0;
    if (polls_new_fd(dweller, poller))
        return look->now_ns;
    return look->system->command_since(dweller->pid, dweller->known_ns - STARTED_NS);
}

static bool look_elsewhere(struct hang_dweller *dweller, const struct place_look *look,
                           const struct backend_poller *poller, const struct proc_place *at,
                           const struct hang_sight *sight)
{
    uint64_t since_ns = waits_since(dweller, look, poller, sight);
    if (dweller->since_ns && !is_same(&dweller->at, at) && look->now_ns > dweller->at_ns + MOVED_NS)
        return end(dweller, look, poller, sight);
    if (!since_ns)
        return !dweller->since_ns || end(dweller, look, poller, sight);
    if (!dweller->since_ns) {
        dweller->since_ns = since_ns;
        dweller->at = *at;
    }
    if (is_same(&dweller->at, at))
        dweller->at_ns = look->now_ns;
    uint64_t most_ns = look->wish->threshold_ns + HANG_REPORT_AFTER_NS;
    return look->now_ns < dweller->since_ns + most_ns || report(dweller, look, sight, false);
}

static bool look_at(struct hang_dweller *dweller, const struct place_look *look,
                    const struct backend_poller *poller)
{
    struct hang_sight sight;
    struct proc_place at;
    if (!look->system->place(dweller->pid, dweller->pid, &at) || !at.sp)
        return true; /* it runs, or has ended */
    bool at_home = is_at_home(dweller, &at);
    if (at_home) {
        dweller->known_ns = look->now_ns;
        learn_fds(dweller, poller);
    }
    if (at_home ? !dweller->since_ns : !dweller->known_ns)
        return true;
    if (!look->system->look(dweller->pid, dweller->pid, &sight))
        return true;
    return at_home ? end(dweller, look, poller, &sight)
                   : look_elsewhere(dweller, look, poller, &at, &sight);
}

/* A program that has just been started has no window yet. */
static void find_out(struct hang_dweller *dweller, const struct hang_system *system,
                     uint64_t began_ns)
{
    struct hang_sight sight;
    dweller->asked++;
    if (!system->look(dweller->pid, dweller->pid, &sight))
        return;
    dweller->is_young = sight.started_ns > began_ns;
    dweller->is_watched = sight.in_foreground || system->has_window(dweller->pid);
}

static void forget_ended(struct hang_places *places)
{
    size_t kept = 0;
    for (size_t i = 0; i < places->list.length; i++)
        if (places->list.data[i].seen)
            places->list.data[kept++] = places->list.data[i];
    places->list.length = kept;
    for (size_t i = 0; i < kept; i++)
        places->list.data[i].seen = false;
}

bool hang_places_look(struct hang_places *places, const struct hang_start_wish *wish,
                      const struct hang_system *system, const struct backend_poller *pollers,
                      size_t count, uint64_t now_ns, hang_reports *ret)
{
    const struct place_look look = {wish, system, now_ns, ret};
    bool good = true;
    places->began_ns = places->began_ns ? places->began_ns : now_ns;
    for (size_t i = 0; i < count; i++) {
        const struct backend_poller *poller = &pollers[i];
        if (poller->tid != poller->pid || poller->pid == wish->left_out ||
            poller->returns < LOOP_RETURNS || poller->waits_for_condition)
            continue;
        struct hang_dweller *dweller = find_or_add(places, poller->pid);
        if (!dweller) {
            good = false;
            continue;
        }
        dweller->seen = true;
        if (!dweller->is_watched && dweller->asked < ASKED_TIMES)
            find_out(dweller, system, places->began_ns);
        good &= !dweller->is_watched || look_at(dweller, &look, poller);
    }
    forget_ended(places);
    return good;
}
