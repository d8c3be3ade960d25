/* A Qt program that runs its event loop by hand until a worker has set a variable. */
#include <QCoreApplication>
#include <QThread>
#include <atomic>

#include "loop_scaffold.h"

static std::atomic<bool> is_done;

void prepare()
{
    static int count = 1;
    static char name[] = "event_loop_qt", *arguments[] = {name, nullptr};
    new QCoreApplication(count, arguments);
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
    while (!is_done) {
        QCoreApplication::processEvents();
        QThread::msleep(2);
    }
}
