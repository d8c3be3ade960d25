#include "diagnose/finder.h"

bool indicator_flag(struct finder *finder)
{
    return finder != NULL;
}
