/* Functions that a runtime looks up and does not need here. */
#include "mock.h"

#define NOT_THERE(function)                                                                        \
    API int function(void)                                                                         \
    {                                                                                              \
        complain("%s is not there", #function);                                                    \
        return NOT_SUPPORTED;                                                                      \
    }

NOT_THERE(cuCtxEnablePeerAccess)
NOT_THERE(cuLaunchKernelEx)
NOT_THERE(cuMemAllocAsync)
NOT_THERE(cuMemAllocManaged)
NOT_THERE(cuMemFreeAsync)
NOT_THERE(cuMemcpyPeerAsync)
NOT_THERE(cuMemsetD8Async)
NOT_THERE(cuMemsetD16Async)
NOT_THERE(cuMemsetD32Async)
NOT_THERE(cuMemAddressFree)
NOT_THERE(cuMemAddressReserve)
NOT_THERE(cuMemCreate)
NOT_THERE(cuMemGetAllocationGranularity)
NOT_THERE(cuMemMap)
NOT_THERE(cuMemRelease)
NOT_THERE(cuMemSetAccess)
NOT_THERE(cuMemUnmap)
