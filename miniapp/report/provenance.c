#include "provenance.h"
#include "build.h"
#include "digest.h"
#include "printable.h"
#include "program.h"
#include "status.h"
#include "text.h"

#include <hdf5.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A text that is cut still differs from all others. */
static void end_with_digest(char kept[PROVENANCE_TEXT], const char *text)
{
    static const char mark[] = "... of SHA-256 ";
    char *const end = kept + PROVENANCE_TEXT - SHA256_TEXT;
    snprintf(end - strlen(mark), strlen(mark) + 1, "%s", mark);
    digest_text(text, end);
}

void provenance_add(struct provenance *provenance, const char *name, const char *text)
{
    size_t place = 0;
    while (place < provenance->count && strcmp(provenance->names[place], name) != 0)
        place++;
    if (place == PROVENANCE_ITEMS)
        return;
    provenance->names[place] = name;
    provenance->count += place == provenance->count;
    char *const kept = provenance->texts[place];
    if (snprintf(kept, PROVENANCE_TEXT, "%s", text) >= PROVENANCE_TEXT)
        end_with_digest(kept, text);
}

void provenance_of_build(struct provenance *provenance)
{
    unsigned major = 0, minor = 0, release = 0;
    char hdf5[64];
    H5get_libversion(&major, &minor, &release);
    snprintf(hdf5, sizeof(hdf5), "%u.%u.%u", major, minor, release);
    provenance->count = 0;
    provenance_add(provenance, "version", BUILD_VERSION);
    provenance_add(provenance, "git_commit", BUILD_COMMIT);
    provenance_add(provenance, "build_type", BUILD_TYPE);
    provenance_add(provenance, "compiler", BUILD_COMPILER);
    provenance_add(provenance, "flags", BUILD_FLAGS);
    provenance_add(provenance, "offload_target", BUILD_OFFLOAD);
    provenance_add(provenance, "hdf5_version", hdf5);
}

void join_words(int count, char **words, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        append(text, PROVENANCE_TEXT, i ? " " : "", "%s", words[i]);
}

void provenance_of_run(struct provenance *provenance, const char *command_line, const char *input,
                       const char *sha256)
{
    char text[PROVENANCE_TEXT] = "", processor[MINIAPP_PROCESSOR];
    const time_t now = time(NULL);
    gethostname(text, sizeof(text) - 1);
    provenance_add(provenance, "host", text);
    provenance_add(provenance, "cpu", miniapp_host_processor(processor));
    provenance_add(provenance, "input", input);
    if (!sha256[0])
        warn("%s: cannot be read any more: the results carry no SHA-256 of it", input);
    provenance_add(provenance, "input_sha256", sha256);
    provenance_add(provenance, "command_line", command_line);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    provenance_add(provenance, "time", text);
}

const char *provenance_text(const struct provenance *provenance, const char *name)
{
    for (size_t i = 0; i < provenance->count; i++)
        if (strcmp(provenance->names[i], name) == 0)
            return provenance->texts[i];
    return "";
}

void print_build(FILE *stream)
{
    struct provenance provenance;
    provenance_of_build(&provenance);
    print_line(stream, "miniapp %s\n", BUILD_VERSION);
    for (size_t i = 1; i < provenance.count; i++)
        print_line(stream, "%-15s %s\n", provenance.names[i], provenance.texts[i]);
}
