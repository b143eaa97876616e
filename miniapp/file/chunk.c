/* Whole chunks of a dataset. */
#include "chunk.h"

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

static uint32_t fletcher32(const uint16_t *words, size_t count)
{
    struct sums sums = {0};
    for (size_t first = 0; first < count; first += WORDS) {
        const size_t left = count - first;
        sums = add_words(sums, words + first, left < WORDS ? (uint32_t)left : WORDS);
    }
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
    chunk_release(chunk);
    chunk->bytes = malloc(bytes);
    chunk->room = chunk->bytes ? bytes : 0;
    return chunk->bytes;
}

herr_t write_chunk(hid_t dataset, const struct box *box, const double *values, struct chunk *chunk)
{
    const hid_t type = H5Dget_type(dataset);
    const size_t elements = elements_of(box), bytes = elements * H5Tget_size(type);
    memcpy(chunk->bytes, values, elements * sizeof(*values));
    herr_t error = H5Tconvert(H5T_NATIVE_DOUBLE, type, elements, chunk->bytes, NULL, H5P_DEFAULT);
    if (error >= 0) {
        const uint32_t checksum = htole32(fletcher32(chunk->bytes, bytes / sizeof(uint16_t)));
        memcpy((char *)chunk->bytes + bytes, &checksum, sizeof(checksum));
        error = H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, box->first, bytes + sizeof(checksum),
                               chunk->bytes);
    }
    H5Tclose(type);
    return error;
}

void chunk_release(struct chunk *chunk)
{
    free(chunk->bytes);
    *chunk = (struct chunk){0};
}
