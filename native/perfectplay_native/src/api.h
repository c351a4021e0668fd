/* What Python calls. cffi reads the part between the marks. */
#ifndef PP_API_H
#define PP_API_H
#include "perfectplay.h"
/* cdef */
uint32_t pp_abi(void);
/* end cdef */
#endif
