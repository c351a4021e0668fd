#include "perfectplay.h"
