/* Loops in C++, as c_loops.c. */
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "loop_scaffold.h"

using namespace std::chrono_literals;

#define SLEEP() std::this_thread::sleep_for(2ms)

#if defined(SHAPE_ATOMIC) || defined(SHAPE_LAMBDA) || defined(SHAPE_TIMEOUT)
static std::atomic<bool> is_done;

void prepare()
{
}

void ask()
{
    is_done = false;
}

void finish_work()
{
    is_done = true;
}
#endif

#if defined(SHAPE_ATOMIC)
void wait_until_done()
{
    while (!is_done)
        SLEEP();
}
#elif defined(SHAPE_LAMBDA)
template <class Predicate> static void poll_until(Predicate predicate)
{
    while (!predicate())
        SLEEP();
}

void wait_until_done()
{
    poll_until([] { return is_done.load(std::memory_order_acquire); });
}
#elif defined(SHAPE_TIMEOUT)
void wait_until_done()
{
    auto end = std::chrono::steady_clock::now() + 60s;
    while (!is_done && std::chrono::steady_clock::now() < end)
        SLEEP();
}
#elif defined(SHAPE_MEMBER)
class Decoder
{
  public:
    bool has_finished() const
    {
        return done_;
    }
    void begin()
    {
        done_ = false;
    }
    __attribute__((noinline)) void finish()
    {
        done_ = true;
    }

  private:
    long frames_ = 0;
    std::atomic<bool> done_{false};
};

static Decoder decoder;

void prepare()
{
}

void ask()
{
    decoder.begin();
}

void finish_work()
{
    decoder.finish();
}

void wait_until_done()
{
    while (!decoder.has_finished())
        SLEEP();
}
#elif defined(SHAPE_UNIQUE)
struct Job {
    int frames[4] = {};
    std::atomic<int> done{0};
};

static std::unique_ptr<Job> job;

void prepare()
{
    job = std::make_unique<Job>();
}

void ask()
{
    job->done = 0;
}

void finish_work()
{
    job->done = 1;
}

void wait_until_done()
{
    while (!job->done)
        SLEEP();
}
#elif defined(SHAPE_SHARED)
struct Job {
    int frames[4] = {};
    std::atomic<int> done{0};
};

static std::shared_ptr<Job> job;

void prepare()
{
    job = std::make_shared<Job>();
}

void ask()
{
    job->done = 0;
}

void finish_work()
{
    job->done = 1;
}

void wait_until_done()
{
    while (!job->done)
        SLEEP();
}
#elif defined(SHAPE_STD_FUNCTION)
static std::atomic<bool> is_done;
static std::function<bool()> has_finished;

void prepare()
{
    has_finished = [] { return is_done.load(); };
}

void ask()
{
    is_done = false;
}

void finish_work()
{
    is_done = true;
}

void wait_until_done()
{
    while (!has_finished())
        SLEEP();
}
#elif defined(SHAPE_VIRTUAL)
class Device
{
  public:
    virtual ~Device() = default;
    virtual const char *name() const
    {
        return "device";
    }
    virtual bool is_ready() const = 0;
    virtual void begin() = 0;
    virtual void finish() = 0;
};

class Scanner : public Device
{
  public:
    bool is_ready() const override
    {
        return ready_;
    }
    void begin() override
    {
        ready_ = false;
    }
    void finish() override
    {
        ready_ = true;
    }

  private:
    long pages_ = 0;
    std::atomic<bool> ready_{false};
};

static Device *device;

void prepare()
{
    device = new Scanner;
}

void ask()
{
    device->begin();
}

void finish_work()
{
    device->finish();
}

void wait_until_done()
{
    while (!device->is_ready())
        SLEEP();
}
#endif
