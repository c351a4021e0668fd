#include "api.h"
uint32_t pp_abi(void) { return PP_ABI; }
