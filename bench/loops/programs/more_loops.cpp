/* Loops in C++ whose writers only an object leads to, and conditions with predicates: one shape for
 * each SHAPE_…, a program of its own. */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
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

#if defined(SHAPE_FUNCTION_WRITER)
/* The worker calls what it was given; that sets a variable of main(). */
static std::mutex jobs_lock;
static std::queue<std::function<void()>> jobs;

static void be_worker()
{
    while (take_request()) {
        std::function<void()> job;
        {
            std::lock_guard<std::mutex> held(jobs_lock);
            job = std::move(jobs.front());
            jobs.pop();
        }
        job();
    }
}

int main()
{
    if (pipe(requests))
        return 1;
    std::thread worker(be_worker);
    for (int round = 0; round < ROUNDS; round++) {
        std::atomic<bool> done{false};
        {
            std::lock_guard<std::mutex> held(jobs_lock);
            jobs.push([&done] { done = true; });
        }
        send_request(round);
        while (!done)
            SLEEP();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_SHARED_WRITER)
/* Both threads have an object by shared_ptr; the worker calls a method of it. */
class Job
{
  public:
    bool done() const
    {
        return done_;
    }
    void begin()
    {
        done_ = false;
    }
    __attribute__((noinline)) void finish()
    {
        count_++;
        done_ = true;
    }

  private:
    long count_ = 0;
    std::atomic<bool> done_{false};
};

static void be_worker(std::shared_ptr<Job> job)
{
    while (take_request())
        job->finish();
}

__attribute__((noinline)) static void wait_for(const std::shared_ptr<Job> &job)
{
    while (!job->done())
        SLEEP();
}

int main()
{
    auto job = std::make_shared<Job>();
    if (pipe(requests))
        return 1;
    std::thread worker(be_worker, job);
    for (int round = 0; round < ROUNDS; round++) {
        job->begin();
        send_request(round);
        wait_for(job);
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#elif defined(SHAPE_WAIT_PREDICATE) || defined(SHAPE_WAIT_FOR_PREDICATE)
/* cond.wait(lock, predicate): the loop is the library's. */
static std::mutex lock;
static std::condition_variable cond;
static bool is_ready;

static void finish_work()
{
    std::lock_guard<std::mutex> held(lock);
    is_ready = true;
    cond.notify_one();
}

static void wait_until_done()
{
    std::unique_lock<std::mutex> held(lock);
#ifdef SHAPE_WAIT_PREDICATE
    cond.wait(held, [] { return is_ready; });
#else
    while (!cond.wait_for(held, 2ms, [] { return is_ready; }))
        ;
#endif
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
        {
            std::lock_guard<std::mutex> held(lock);
            is_ready = false;
        }
        send_request(round);
        wait_until_done();
        std::this_thread::sleep_for(60ms);
    }
    _exit(0);
}
#endif
