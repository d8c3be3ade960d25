#include "display_library.h"

volatile int display_did_reconfigure;
