// A queue that no system call reveals: stoker() puts loads into a ring, burner() polls it, and
// neither ever wakes the other.
// In addition, a bellman wakes a listener out of Bell::ring(), which has no purpose.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace
{
std::atomic<int> burnt;
volatile long sink;

void use_cpu(long ms)
{
    timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        sink = sink + 1;
    } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}
} // namespace

#define SEEN __attribute__((noinline, used, visibility("default")))

struct Load {
    int weight;
};

class Furnace
{
  public:
    SEEN void stoke(Load *load);
    SEEN void burn(Load *load);
    Load *next();

  private:
    std::atomic<Load *> ring_[64] = {};
    unsigned put_ = 0, taken_ = 0;
};

void Furnace::stoke(Load *load)
{
    ring_[put_++ % 64].store(load, std::memory_order_release);
}

Load *Furnace::next()
{
    Load *load = ring_[taken_ % 64].exchange(nullptr, std::memory_order_acquire);
    taken_ += load != nullptr;
    return load;
}

void Furnace::burn(Load *load)
{
    use_cpu(load->weight);
    usleep(2000); /* a unit of work may sleep */
    use_cpu(1);
    burnt++;
}

struct Bell {
    SEEN void ring();
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t rung = PTHREAD_COND_INITIALIZER;
    unsigned count = 0;
};

void Bell::ring()
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_cond_signal(&rung);
    pthread_mutex_unlock(&lock);
    sink = sink + 1; /* no tail call, so that the frame exists */
}

namespace
{
constexpr int loads = 12;
Furnace furnace;
Bell bell;

void *burner(void *)
{
    pthread_setname_np(pthread_self(), "fc-burner");
    while (burnt < loads) {
        Load *load = furnace.next();
        if (load)
            furnace.burn(load);
        else
            usleep(700);
    }
    return nullptr;
}

void *listener(void *)
{
    pthread_setname_np(pthread_self(), "fc-listener");
    pthread_mutex_lock(&bell.lock);
    while (bell.count < loads)
        pthread_cond_wait(&bell.rung, &bell.lock);
    pthread_mutex_unlock(&bell.lock);
    return nullptr;
}
} // namespace

int main()
{
    pthread_t threads[2];
    static Load all[loads];
    pthread_create(&threads[0], nullptr, burner, nullptr);
    pthread_create(&threads[1], nullptr, listener, nullptr);
    pthread_setname_np(pthread_self(), "fc-stoker");
    for (Load &load : all) {
        load.weight = 2;
        usleep(9000);
        furnace.stoke(&load);
        bell.ring();
    }
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return 0;
}
