/* Streams, whose operations run only when something waits for them, and events. */
#define _GNU_SOURCE
#include "mock.h"

#include <stdlib.h>

struct CUstream_st {
    struct operation *first, **last;
    struct CUstream_st *next;
};
struct CUevent_st {
    struct CUstream_st *stream;
};

static struct CUstream_st null_stream = {.last = &null_stream.first};
static struct CUstream_st *streams = &null_stream;
static enum result fault; /* the first one stays */

/* ---- operations ---- */

static enum result run_launch(const struct grid *grid)
{
    const enum result result = run_grid(grid);
    memory_close();
    return result;
}

/* Of the two addresses, those that are of the host are left as they are. */
static void copy(const struct operation *o)
{
    const void *const from = o->staged ? o->staged : o->from;
    memory_open((uint64_t)(uintptr_t)o->to);
    memory_open((uint64_t)(uintptr_t)from);
    memmove(o->to, from, o->bytes);
    memory_close();
}

static enum result perform(const struct operation *o)
{
    switch (o->what) {
    case LAUNCH: return run_launch(&o->grid);
    case CALL: o->call(o->data); return OK;
    default: copy(o); return OK;
    }
}

enum result perform_now(struct operation operation)
{
    if (!fault)
        fault = perform(&operation);
    free(operation.staged);
    return fault;
}

enum result stream_add(struct CUstream_st *stream, struct operation operation)
{
    struct operation *const added = malloc(sizeof(*added));
    stream = stream ? stream : &null_stream;
    *added = operation;
    added->next = NULL;
    *stream->last = added;
    stream->last = &added->next;
    return OK;
}

enum result stream_wait(struct CUstream_st *stream)
{
    stream = stream ? stream : &null_stream;
    while (stream->first) {
        struct operation *const operation = stream->first;
        stream->first = operation->next;
        if (!stream->first)
            stream->last = &stream->first;
        perform_now(*operation);
        free(operation);
    }
    return fault;
}

enum result stream_wait_all(void)
{
    for (struct CUstream_st *stream = streams; stream; stream = stream->next)
        stream_wait(stream);
    return fault;
}

/* ---- streams ---- */

API int cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
    (void)flags;
    *stream = calloc(1, sizeof(**stream));
    (*stream)->last = &(*stream)->first;
    (*stream)->next = streams;
    streams = *stream;
    return OK;
}

API int cuStreamDestroy_v2(struct CUstream_st *stream)
{
    struct CUstream_st **link = &streams;
    const enum result result = stream_wait(stream);
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    free(stream);
    return result;
}

API int cuStreamSynchronize(struct CUstream_st *stream)
{
    return stream_wait(stream);
}

API int cuStreamQuery(struct CUstream_st *stream)
{
    return stream_wait(stream);
}

API int cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)
{
    (void)stream;
    (void)flags;
    return event->stream ? stream_wait(event->stream) : OK;
}

API int cuStreamAddCallback(struct CUstream_st *stream, void *call, void *data, unsigned flags)
{
    (void)stream;
    (void)call;
    (void)data;
    (void)flags;
    return NOT_SUPPORTED;
}

API int cuLaunchHostFunc(struct CUstream_st *stream, void (*call)(void *), void *data)
{
    return stream_add(stream, (struct operation){.what = CALL, .call = call, .data = data});
}

/* ---- events ---- */

API int cuEventCreate(struct CUevent_st **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(**event));
    return OK;
}

API int cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
    event->stream = stream ? stream : &null_stream;
    return OK;
}

API int cuEventSynchronize(struct CUevent_st *event)
{
    return event->stream ? stream_wait(event->stream) : OK;
}

API int cuEventQuery(struct CUevent_st *event)
{
    return cuEventSynchronize(event);
}

API int cuEventElapsedTime(float *milliseconds, struct CUevent_st *start, struct CUevent_st *end)
{
    (void)start;
    (void)end;
    *milliseconds = 0;
    return OK;
}

API int cuEventDestroy_v2(struct CUevent_st *event)
{
    free(event);
    return OK;
}

API int cuEventDestroy(struct CUevent_st *event)
{
    return cuEventDestroy_v2(event);
}
