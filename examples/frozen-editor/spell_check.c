#include "spell_check.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    pthread_t thread;
    int server_fd;
    struct word word;
    bool waiting, done, known, stopping; /* waiting: a word is there; done: its verdict is */
} check = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .asked = PTHREAD_COND_INITIALIZER,
    .answered = PTHREAD_COND_INITIALIZER,
};

static bool ask_spell_server(const struct word *word)
{
    struct verdict verdict = {0};
    return message_send(check.server_fd, word, sizeof(*word)) &&
           message_receive(check.server_fd, &verdict, sizeof(verdict)) && verdict.known == 1;
}

static void *spell_check_thread(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "spell-check");
    pthread_mutex_lock(&check.lock);
    for (;;) {
        while (!check.waiting && !check.stopping)
            pthread_cond_wait(&check.asked, &check.lock);
        if (check.stopping)
            break;
        struct word word = check.word;
        check.waiting = false;
        pthread_mutex_unlock(&check.lock);
        bool known = ask_spell_server(&word);
        pthread_mutex_lock(&check.lock);
        check.known = known;
        check.done = true;
        pthread_cond_signal(&check.answered);
    }
    pthread_mutex_unlock(&check.lock);
    return NULL;
}

void spell_check_start(int server_fd)
{
    check.server_fd = server_fd;
    pthread_create(&check.thread, NULL, spell_check_thread, NULL);
}

bool spell_check_word(const struct word *word)
{
    pthread_mutex_lock(&check.lock);
    check.word = *word;
    check.waiting = true;
    check.done = false;
    pthread_cond_signal(&check.asked);
    while (!check.done)
        pthread_cond_wait(&check.answered, &check.lock);
    bool known = check.known;
    pthread_mutex_unlock(&check.lock);
    return known;
}

void spell_check_stop(void)
{
    pthread_mutex_lock(&check.lock);
    check.stopping = true;
    pthread_cond_signal(&check.asked);
    pthread_mutex_unlock(&check.lock);
    pthread_join(check.thread, NULL);
}
