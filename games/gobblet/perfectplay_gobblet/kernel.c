#include "perfectplay.h"
extern const pp_kernel gobblet_kernel;
const pp_kernel gobblet_kernel = {.abi = PP_ABI};
