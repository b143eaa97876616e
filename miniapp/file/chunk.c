/* Whole chunks of a dataset. */
#include "chunk.h"
#include "hdf5_error.h"

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Fletcher-32, as HDF5's filter of that name computes it ---- */

enum {
    MODULUS = 65535,
    WORDS = 256 /* a sum of so many words, each times its place, has 32 bits */
};

struct sums {
    uint64_t words;  /* the sum of the words so far */
    uint64_t totals; /* the sum of what `words` was after each of them, modulo 65535 */
};

static struct sums add_words(struct sums sums, const uint16_t *words, uint32_t count)
{
    uint32_t sum = 0, total = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += le16toh(words[i]);
        total += (count - i) * le16toh(words[i]);
    }
    return (struct sums){sums.words + sum, (sums.totals + count * sums.words + total) % MODULUS};
}

/* HDF5 takes the two bytes of a word in the other order. That multiplies a sum by 256, since 2^16
 * is 1 modulo 65535. A multiple of 65535 is 0 there only if all words are 0. */
static uint32_t reorder(uint64_t sum, bool is_zero)
{
    const uint32_t reordered = (uint32_t)(sum % MODULUS * 256 % MODULUS);
    return reordered || is_zero ? reordered : MODULUS;
}

static struct sums add_all(struct sums sums, const uint16_t *words, size_t count)
{
    for (size_t first = 0; first < count; first += WORDS) {
        const size_t left = count - first;
        sums = add_words(sums, words + first, left < WORDS ? (uint32_t)left : WORDS);
    }
    return sums;
}

static uint32_t fletcher32(struct sums sums)
{
    const bool is_zero = sums.words == 0;
    return reorder(sums.totals, is_zero) << 16 | reorder(sums.words, is_zero);
}

/* ---- chunks ---- */

/* HDF5 wants chunks under 4 GiB. A single number has no chunks. */
hid_t checked_chunks(const hsize_t *lengths, int rank)
{
    hsize_t chunk[H5S_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        const hsize_t most = 1 << 14;
        chunk[i] = i + 2 < rank ? 1 : lengths[i] < most ? lengths[i] : most;
    }
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    if (rank == 0)
        return creation;
    H5Pset_chunk(creation, rank, chunk);
    H5Pset_fletcher32(creation);
    return creation;
}

bool is_chunk(hid_t dataset, const struct box *box)
{
    hsize_t lengths[H5S_MAX_RANK];
    const hid_t creation = H5Dget_create_plist(dataset);
    const bool is_chunked = H5Pget_layout(creation) == H5D_CHUNKED;
    const int rank = is_chunked ? H5Pget_chunk(creation, H5S_MAX_RANK, lengths) : 0;
    H5Pclose(creation);
    return rank > 0 && rank == box->rank &&
           memcmp(lengths, box->count, (size_t)rank * sizeof(*lengths)) == 0;
}

static size_t elements_of(const struct box *box)
{
    size_t elements = 1;
    for (int i = 0; i < box->rank; i++)
        elements *= box->count[i];
    return elements;
}

bool chunk_make_room(struct chunk *chunk, const struct box *box)
{
    const size_t bytes = elements_of(box) * sizeof(double) + sizeof(uint32_t);
    if (chunk->room >= bytes)
        return true;
    free(chunk->bytes);
    chunk->bytes = malloc(bytes);
    chunk->room = chunk->bytes ? bytes : 0;
    return chunk->bytes;
}

/* Puts values into the chunk as the file has them, and adds up their words, in blocks that stay in
 * the caches. A block is copied as doubles and converted where it is: if the file has floats, the
 * next block begins where they end. */
static herr_t fill(struct chunk *chunk, hid_t type, const double *values, size_t elements,
                   struct sums *sums)
{
    const size_t most = 1 << 14, size = H5Tget_size(type);
    herr_t error = 0;
    for (size_t first = 0, taken; first < elements && error >= 0; first += taken) {
        char *const to = (char *)chunk->bytes + first * size;
        taken = elements - first < most ? elements - first : most;
        memcpy(to, values + first, taken * sizeof(*values));
        error = H5Tconvert(H5T_NATIVE_DOUBLE, type, taken, to, NULL, H5P_DEFAULT);
        *sums = add_all(*sums, (const uint16_t *)to, taken * size / sizeof(uint16_t));
    }
    return error;
}

static void *write_all(void *context)
{
    struct chunk *const chunk = context;
    hdf5_listen();
    chunk->error =
        H5Dwrite_chunk(chunk->dataset, H5P_DEFAULT, 0, chunk->first, chunk->size, chunk->bytes);
    H5Eclear2(H5E_DEFAULT); /* a thread's errors would be lost memory when it ends */
    return NULL;
}

/* Without a thread to be had, the caller waits. */
static void start(struct chunk *chunk)
{
    chunk->is_under_way = pthread_create(&chunk->writer, NULL, write_all, chunk) == 0;
    if (!chunk->is_under_way)
        write_all(chunk);
}

herr_t chunk_start(struct chunk *chunk, hid_t dataset, const struct box *box, const double *values)
{
    struct sums sums = {0};
    const hid_t type = H5Dget_type(dataset);
    const size_t elements = elements_of(box), bytes = elements * H5Tget_size(type);
    chunk->error = fill(chunk, type, values, elements, &sums);
    H5Tclose(type);
    if (chunk->error < 0)
        return -1;
    const uint32_t checksum = htole32(fletcher32(sums));
    memcpy((char *)chunk->bytes + bytes, &checksum, sizeof(checksum));
    memcpy(chunk->first, box->first, sizeof(chunk->first));
    chunk->dataset = dataset;
    chunk->size = bytes + sizeof(checksum);
    start(chunk);
    return chunk->is_under_way ? 0 : chunk->error;
}

herr_t chunk_finish(struct chunk *chunk)
{
    if (chunk->is_under_way)
        pthread_join(chunk->writer, NULL);
    chunk->is_under_way = false;
    return chunk->error;
}

void chunk_release(struct chunk *chunk)
{
    chunk_finish(chunk);
    free(chunk->bytes);
    *chunk = (struct chunk){0};
}
