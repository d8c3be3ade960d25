/* Handlers that look again and again for one thing (a child's output, an answer, a lock's file),
 * with a short time-out between the looks.
 *
 * Such a place need not be deeper than the home (nesting.c): a program also calls its toolkit's
 * loop from deep inside, and the two stacks part in a function that is not a loop. How the thread
 * waits there shows it: its time-outs are short, nearly all of its waits end by them, and it takes
 * nothing that a home takes, or keeps it while the thread responds to what the home takes; and the
 * thread has a home where it rests and where other threads do wake it.
 *
 * A loop that follows another and has nothing to do looks the same. So a home must be visited again
 * afterwards, though not the same one (an editor has one for commands and one for text). If the
 * trace ends before that, one of these must be true:
 *   - the earlier homes were the thread's loop for longer than the search lasts, and the search is
 *     as deep as one of them;
 *   - they may have been so before the first record, and the search took input for them and kept
 *     it;
 *   - the thread asks in each turn for the end of a child.
 * In the last case, a home that it visits afterwards is enough: the trace may begin with the search.
 *
 * What the program's own commands write in the background comes to whatever loop there is, so it
 * shows nothing.
 */
#include "diagnose/hangs/nesting.h"
#include "diagnose/vertex_deeds.h"

/* A search's turns are at most so long, and at least so many: fewer are a retry, and a search that
 * lasts as long as the threshold has more. */
#define MOST_TURN_NS 100000000ull
#define LEAST_TURNS  10
/* Among so many waits of a search, another thread ends at most one: it brings what the search looks
 * for, or it does so by chance. */
#define TURNS_PER_END 10
/* Among so many such waits, at most one is ended by input for the home wait. */
#define TURNS_PER_CHANCE 20
#define TURNS_PER_LOOK   4
/* A thread responds to at least one of so many inputs that its home takes. */
#define ENDS_PER_RESPONSE 4
/* Other threads end at least so many waits of a home. */
#define LEAST_ENDS 3
/* So much input that is kept is no chance. */
#define LEAST_KEPT 2

bool asks_for_children(const struct view *view, uint32_t vertex)
{
    return vertex_calls(view, vertex, ARGUS_WAIT_CHILD);
}

bool habit_asks_for_children(const struct habit *habit)
{
    return habit->child_asks * 2 >= habit->count;
}

/* Of the waits there, those that processes ended which the thread's own process had not started. */
static uint32_t ended_by_others(const struct habit *habit)
{
    return habit->ended - habit->children;
}

bool searching_looks(const struct habits *habits, const struct habit *habit)
{
    return habit->kind == ARGUS_WAIT_POLL && habit->home && habit->count >= LEAST_TURNS &&
           habit->median_ns <= MOST_TURN_NS &&
           ended_by_others(habit) * TURNS_PER_END <= habit->count &&
           habit_is_clear(habits->graph, habit->user_stack);
}

static bool is_served(const struct habits *habits, const struct habit *habit)
{
    return habit->kind == ARGUS_WAIT_POLL && habit->home && !habit->nested &&
           (habit->ended >= LEAST_ENDS || habit->serves) && habit->longest_ns >= RESTING_NS &&
           habit_is_clear(habits->graph, habit->user_stack) && !searching_looks(habits, habit);
}

static bool is_taken_at_home(const struct habits *habits, const struct habit *search,
                             uint64_t source)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *home = &habits->items.data[i];
        if (home != search && is_served(habits, home) && habit_takes_from(home, source))
            return true;
    }
    return false;
}

/* How often the search responded to what may be input for its homes; else it got what it looks
 * for. */
static uint32_t responses_to_input(const struct habits *habits, const struct habit *search)
{
    uint32_t responses = search->responses;
    for (uint8_t i = 0; i < search->source_count && responses; i++)
        if (search->source_responses[i] && !is_taken_at_home(habits, search, search->sources[i]))
            responses -=
                search->source_responses[i] < responses ? search->source_responses[i] : responses;
    return responses;
}

/* Whether a place keeps what it takes, while the thread responds to what its homes take: it draws
 * what is typed. */
static bool keeps_input(const struct habits *habits, const struct habit *search)
{
    uint32_t ended = 0, responses = 0;
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *home = &habits->items.data[i];
        if (home == search || !is_served(habits, home))
            continue;
        ended += ended_by_others(home);
        responses += home->responses;
    }
    return responses >= LEAST_ENDS && responses * ENDS_PER_RESPONSE >= ended &&
           responses_to_input(habits, search) == 0;
}

/* At most how many waits of the search others ended by what the home takes as well. */
static uint32_t shared_ends(const struct habit *search, const struct habit *home)
{
    uint32_t shared = habits_shared_ends(search, home), most = ended_by_others(search);
    return shared < most ? shared : most;
}

/* Whether a place takes what the home takes. Of what comes once in a while, the search itself may
 * take some. */
static bool takes_the_same(const struct habit *search, const struct habit *home, bool keeps)
{
    return habits_share_set(search, home) ||
           (!keeps && shared_ends(search, home) * TURNS_PER_CHANCE > search->count);
}

/* The homes of a thread before it searched. */
struct before {
    uint64_t first_ns, last_ns;
    uint32_t depth; /* the smallest depth among them */
};

static void note_before(const struct habits *habits, const struct habit *home,
                        struct before *before)
{
    uint32_t depth = habit_depth(habits, home);
    before->first_ns = home->first_ns < before->first_ns ? home->first_ns : before->first_ns;
    before->last_ns = home->last_ns > before->last_ns ? home->last_ns : before->last_ns;
    before->depth = depth < before->depth ? depth : before->depth;
}

/* Whether the process was started before the first record. */
static bool is_older(const struct view *view, uint32_t thread)
{
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    return process->start_ns == 0 && process->exec_ns == 0;
}

static bool interrupts(const struct habits *habits, const struct habit *search, bool older)
{
    struct before before = {.first_ns = UINT64_MAX, .depth = UINT32_MAX};
    bool again = false, keeps = keeps_input(habits, search), kept = false;
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *home = &habits->items.data[i];
        if (home == search || !is_served(habits, home))
            continue;
        if (takes_the_same(search, home, keeps))
            return false;
        again |= home->last_ns > search->last_ns;
        kept |= keeps && older && shared_ends(search, home) >= LEAST_KEPT;
        if (home->first_ns < search->first_ns)
            note_before(habits, home, &before);
    }
    bool was_longer = before.last_ns - before.first_ns > search->last_ns - search->first_ns;
    bool asks = habit_asks_for_children(search), was_elsewhere = before.first_ns != UINT64_MAX;
    if (again)
        return was_elsewhere || asks;
    return was_elsewhere &&
           (asks || ((was_longer || kept) && habit_depth(habits, search) >= before.depth));
}

/* Whether the thread looked by the same kind of call, in at most one of so many turns, without
 * having to wait. A handler that lets its toolkit do what is pending does so in each turn. */
static bool looks_elsewhere(const struct view *view, uint32_t thread, const struct habit *search)
{
    const struct argus_visits *visits;
    size_t count = argus_graph_thread_visits(view->graph, thread, &visits);
    uint64_t looks = 0;
    for (size_t i = 0; i < count; i++)
        if (visits[i].syscall == search->syscall && visits[i].last_ns >= search->first_ns &&
            visits[i].first_ns <= search->last_ns)
            looks += visits[i].count;
    return looks * TURNS_PER_LOOK > search->count;
}

void searching_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *search = &habits->items.data[i];
        if (!searching_looks(habits, search) || !interrupts(habits, search, is_older(view, thread)))
            continue;
        search->nested = true;
        search->searches = !looks_elsewhere(view, thread, search);
    }
}
