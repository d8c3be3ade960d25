/* Loops in C++ that look at an object to which only the stack leads: one shape for each SHAPE_…, a
 * program of its own. */
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

#define SLEEP() std::this_thread::sleep_for(2ms)

enum { ROUNDS = 4 };

static std::mutex shelf;
static int requests[2];

static bool take_request()
{
    char request;
    if (read(requests[0], &request, 1) != 1)
        return false;
    std::this_thread::sleep_for(5ms);
    std::lock_guard<std::mutex> held(shelf);
    return true;
}

static void send_request(int round)
{
    if (round == ROUNDS - 1) {
        std::thread([] {
            std::lock_guard<std::mutex> held(shelf);
            std::this_thread::sleep_for(2500ms);
        }).detach();
        std::this_thread::sleep_for(3ms);
    }
    if (write(requests[1], "x", 1) != 1)
        _exit(1);
}

#if defined(SHAPE_CAPTURED)
int main()
{
    std::atomic<bool> done{false};
    if (pipe(requests))
        return 1;
    std::thread worker([&] {
        while (take_request())
            done = true;
    });
    for (int round = 0; round < ROUNDS; round++) {
        done = false;
        send_request(round);
        while (!done)
            SLEEP();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_CAPTURED_SHARED)
struct Job {
    int frames[4] = {};
    std::atomic<bool> done{false};
};

int main()
{
    auto job = std::make_shared<Job>();
    if (pipe(requests))
        return 1;
    std::thread worker([job] {
        while (take_request())
            job->done = true;
    });
    for (int round = 0; round < ROUNDS; round++) {
        job->done = false;
        send_request(round);
        while (!job->done)
            SLEEP();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_THREAD_MEMBER)
class Decoder
{
  public:
    void begin()
    {
        worker_ = std::thread(&Decoder::run, this);
    }
    void ask()
    {
        done_ = false;
    }
    __attribute__((noinline)) void wait()
    {
        while (!done_)
            SLEEP();
    }

  private:
    void run()
    {
        while (take_request())
            done_ = true;
    }
    std::thread worker_;
    std::atomic<bool> done_{false};
};

int main()
{
    Decoder decoder;
    if (pipe(requests))
        return 1;
    decoder.begin();
    for (int round = 0; round < ROUNDS; round++) {
        decoder.ask();
        send_request(round);
        decoder.wait();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_FUNCTION_PARAMETER)
static std::atomic<bool> is_done;

static void finish_work()
{
    is_done = true;
}

__attribute__((noinline)) static void poll_until(const std::function<bool()> &has_finished)
{
    while (!has_finished())
        SLEEP();
}

int main()
{
    if (pipe(requests))
        return 1;
    std::thread worker([] {
        while (take_request())
            finish_work();
    });
    for (int round = 0; round < ROUNDS; round++) {
        is_done = false;
        send_request(round);
        poll_until([] { return is_done.load(); });
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_ATOMIC_REF)
static int done;

static void finish_work()
{
    std::atomic_ref<int>(done).store(1);
}

int main()
{
    if (pipe(requests))
        return 1;
    std::thread worker([] {
        while (take_request())
            finish_work();
    });
    for (int round = 0; round < ROUNDS; round++) {
        done = 0;
        send_request(round);
        std::atomic_ref<int> seen(done);
        while (!seen.load())
            SLEEP();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#endif
