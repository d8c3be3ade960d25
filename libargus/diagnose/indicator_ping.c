#include "diagnose/finder.h"

bool indicator_ping(struct finder *finder)
{
    return finder != NULL;
}
