/* setload: sends a fixed number of sets of a fixed size to a memcached, over one or
 * several connections, and says how long each took.
 *
 *   setload -p PORT [-n COUNT] [-s SIZE] [-c CONNECTIONS] [-w WINDOW | -r RATE] [-l]
 *
 * With -w the loop is closed: a connection has at most WINDOW sets that are not yet
 * answered, so a slow server slows the sender. With -r it is open: set number i is
 * meant to be sent i/RATE seconds after the first, whatever became of those before
 * it, and its latency counts from then on. A server that pauses is charged for all
 * the sets that should have been sent meanwhile (no coordinated omission).
 *
 * It marks the phases queue (all requests are made, in memory) and complete (sent and
 * answered), and values; with -l also every latency, as an op. docs/reference/marks.md says how.
 *
 * It is not a general load generator: it only sets, each key once, from one thread,
 * to 127.0.0.1, and any answer but STORED ends it. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EXPIRES_AFTER_S = 300, MOST_CONNECTIONS = 256, SILENCE_MS = 10000 };

static const char STORED[] = "STORED\r\n";
static const size_t STORED_LENGTH = sizeof STORED - 1;
static const int64_t SECOND = 1000000000;

struct options {
    int port;
    size_t count, size, connections, window;
    double rate;            /* sets per second; 0: the loop is closed */
    bool list;
};

/* Set number i belongs to connection i % connections, as its set i / connections. */
struct connection {
    int socket;
    size_t index, sets;     /* which of the connections; how many sets are its own */
    char *bytes;            /* all of its requests, one after the other, */
    size_t *ends;           /* and where each of them ends */
    size_t bytes_sent, sent, answered;
    size_t matched;         /* bytes of an answer that came without its end */
    int64_t *began;         /* closed loop: when each set was handed to the kernel */
};

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("setload: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void *allocate(size_t number, size_t size) {
    void *memory = calloc(number ? number : 1, size);
    if (!memory) fail("no memory for %zu times %zu bytes: give a smaller -n or -s", number, size);
    return memory;
}

/* ---- the command line ---- */

static double number_of(char option, const char *text, double least, double most) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        fail("-%c takes a number from %.0f to %.0f, not %s", option, least, most, text);
    return number;
}

static struct options parse(int argc, char **argv) {
    struct options options = {.count = 300000, .size = 26, .connections = 1, .window = 1};
    for (int option; (option = getopt(argc, argv, "p:n:s:c:w:r:l")) != -1;) {
        switch (option) {
        case 'p': options.port = (int)number_of('p', optarg, 1, 65535); break;
        case 'n': options.count = (size_t)number_of('n', optarg, 1, 1e8); break;
        case 's': options.size = (size_t)number_of('s', optarg, 0, 1e9); break;
        case 'c': options.connections = (size_t)number_of('c', optarg, 1, MOST_CONNECTIONS); break;
        case 'w': options.window = (size_t)number_of('w', optarg, 1, 1e8); break;
        case 'r': options.rate = number_of('r', optarg, 1, 1e9); break;
        case 'l': options.list = true; break;
        default: exit(2);
        }
    }
    if (!options.port || optind != argc) {
        fputs("usage: setload -p PORT [-n COUNT] [-s SIZE] [-c CONNECTIONS] [-w WINDOW | -r RATE] [-l]\n", stderr);
        exit(2);
    }
    return options;
}

/* ---- the requests and the connections ---- */

static char *put(char *at, const char *text, size_t length) {
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, size_t number) {
    char digits[20];
    size_t first = sizeof digits;
    do digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    return put(at, digits + first, sizeof digits - first);
}

/* Without sprintf for each, because the time of this phase is part of the rate. */
static void make_requests(struct connection *connection, const struct options *options) {
    static const char key[] = "set k";
    char *tail = allocate(options->size + 64, 1);       /* what follows the number, the same in all requests */
    size_t tail_length = (size_t)sprintf(tail, " 0 %d %zu\r\n", EXPIRES_AFTER_S, options->size);
    memset(tail + tail_length, 'a', options->size);
    tail_length += options->size;
    tail_length = (size_t)(put(tail + tail_length, "\r\n", 2) - tail);

    connection->sets = (options->count - connection->index + options->connections - 1) / options->connections;
    connection->bytes = allocate(connection->sets, sizeof key - 1 + 20 + tail_length);
    connection->ends = allocate(connection->sets, sizeof *connection->ends);
    connection->began = allocate(connection->sets, sizeof *connection->began);
    char *at = connection->bytes;
    for (size_t i = 0; i < connection->sets; i++) {
        at = put(at, key, sizeof key - 1);
        at = put_number(at, i * options->connections + connection->index);
        at = put(at, tail, tail_length);
        connection->ends[i] = (size_t)(at - connection->bytes);
    }
    free(tail);
}

static void open_connection(struct connection *connection, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) fail("no socket: %s", strerror(errno));
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address))
        fail("127.0.0.1:%d: %s: is memcached there?", port, strerror(errno));
    int on = 1;
    if (setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) ||
        fcntl(connection->socket, F_SETFL, O_NONBLOCK))
        fail("the connection cannot be set up: %s", strerror(errno));
}

/* ---- sending and receiving ---- */

/* When a set is meant to be sent, in the open loop. */
static int64_t intended(const struct connection *connection, const struct options *options, size_t set, int64_t start) {
    size_t number = set * options->connections + connection->index;
    return start + (int64_t)((double)number / options->rate * (double)SECOND);
}

/* How many sets of a connection may have been sent by now. */
static size_t due(const struct connection *connection, const struct options *options, int64_t start, int64_t time) {
    size_t allowed = connection->sent;
    if (options->rate == 0) {
        allowed = connection->answered + options->window;
    } else {
        while (allowed < connection->sets && intended(connection, options, allowed, start) <= time) allowed++;
    }
    return allowed < connection->sets ? allowed : connection->sets;
}

static void send_due(struct connection *connection, size_t allowed) {
    if (allowed <= connection->sent) return;
    int64_t began = now();
    size_t length = connection->ends[allowed - 1] - connection->bytes_sent;
    ssize_t sent = send(connection->socket, connection->bytes + connection->bytes_sent, length, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        fail("cannot send: %s", strerror(errno));
    }
    connection->bytes_sent += (size_t)sent;
    while (connection->sent < allowed && connection->ends[connection->sent] <= connection->bytes_sent)
        connection->began[connection->sent++] = began;
}

static void __attribute__((noreturn)) refuse(const struct connection *connection, const struct options *options,
                                             const char *answer) {
    fail("set %zu was answered: %.*s%.*s", connection->answered * options->connections + connection->index,
         (int)connection->matched, STORED, (int)strcspn(answer, "\r\n"), answer);
}

/* Takes the answers that are there; the latency of each goes to its place in `latencies`. */
static bool receive(struct connection *connection, const struct options *options, int64_t start, int64_t *latencies) {
    char answers[65536 + 1];
    ssize_t received = recv(connection->socket, answers, sizeof answers - 1, 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (received < 0) fail("cannot receive: %s", strerror(errno));
    if (received == 0) fail("the server closed the connection after %zu answers", connection->answered);
    answers[received] = '\0';
    int64_t time = now();
    for (const char *at = answers; at < answers + received; at++) {
        if (*at != STORED[connection->matched] || connection->answered == connection->sent) refuse(connection, options, at);
        if (++connection->matched < STORED_LENGTH) continue;
        connection->matched = 0;
        size_t set = connection->answered++;
        int64_t began = options->rate == 0 ? connection->began[set] : intended(connection, options, set, start);
        latencies[set * options->connections + connection->index] = time - began;
    }
    return true;
}

/* Until when to wait for something to happen: until a set is due, or the server has been silent for too long. */
static void await(struct pollfd *polls, size_t number, int64_t until) {
    int64_t left = until - now();
    if (left < 0) left = 0;
    struct timespec timeout = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    if (ppoll(polls, number, &timeout, NULL) < 0 && errno != EINTR) fail("cannot wait: %s", strerror(errno));
}

static void drive(struct connection *connections, const struct options *options, int64_t start, int64_t *latencies) {
    struct pollfd polls[MOST_CONNECTIONS];
    int64_t heard = start;
    for (size_t answered = 0; answered < options->count;) {
        int64_t time = now(), next = INT64_MAX;
        bool owed = false;
        for (size_t i = 0; i < options->connections; i++) {
            struct connection *connection = &connections[i];
            size_t allowed = due(connection, options, start, time);
            send_due(connection, allowed);
            owed = owed || connection->answered < allowed;
            polls[i] = (struct pollfd){.fd = connection->socket, .events = POLLIN};
            if (connection->sent < allowed) polls[i].events |= POLLOUT;
            if (options->rate != 0 && allowed < connection->sets) {
                int64_t at = intended(connection, options, allowed, start);
                if (at < next) next = at;
            }
        }
        if (!owed) heard = time;
        int64_t patience = heard + SILENCE_MS * (SECOND / 1000);
        if (time > patience) fail("the server has been silent for %d ms", SILENCE_MS);
        await(polls, options->connections, next < patience ? next : patience + 1);
        answered = 0;
        for (size_t i = 0; i < options->connections; i++) {
            if (polls[i].revents && receive(&connections[i], options, start, latencies)) heard = now();
            answered += connections[i].answered;
        }
    }
}

/* ---- output ---- */

static int by_size(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The latency that `per_mille` of a thousand sets do not exceed: the nearest rank, over all sets. */
static double quantile(const int64_t *sorted, size_t count, size_t per_mille) {
    size_t rank = (count * per_mille + 999) / 1000;
    return (double)sorted[rank ? rank - 1 : 0] / (double)SECOND;
}

static void tell(const struct options *options, int64_t *latencies, const int64_t phases[3]) {
    static const struct { const char *name; size_t per_mille; } quantiles[] = {
        {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}};
    static const char *const names[] = {"queue", "complete", "close"};
    const char *descriptor = getenv("BAKEOFF_MARKS");
    FILE *marks = fdopen(descriptor ? atoi(descriptor) : 2, "w");
    if (!marks) fail("BAKEOFF_MARKS is no open descriptor: %s", descriptor);
    for (size_t i = 0; i < 3; i++) {
        /* Latencies belong to the phase in which they are marked. */
        for (size_t set = 0; i == 2 && options->list && set < options->count; set++)
            fprintf(marks, "op %.9f @%.9f\n", (double)latencies[set] / (double)SECOND, (double)phases[2] / (double)SECOND);
        fprintf(marks, "phase %s @%.9f\n", names[i], (double)phases[i] / (double)SECOND);
    }
    fprintf(marks, "value rate %.3f /s\n", (double)options->count * (double)SECOND / (double)(phases[2] - phases[0]));
    qsort(latencies, options->count, sizeof *latencies, by_size);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        fprintf(marks, "value latency.%s %.9f s\n", quantiles[i].name,
                quantile(latencies, options->count, quantiles[i].per_mille));
    if (fclose(marks)) fail("the marks cannot be written: %s", strerror(errno));
}

int main(int argc, char **argv) {
    struct options options = parse(argc, argv);
    struct connection *connections = allocate(options.connections, sizeof *connections);
    int64_t *latencies = allocate(options.count, sizeof *latencies);
    prctl(PR_SET_TIMERSLACK, 1UL);      /* the kernel wakes us when it is time, not 50 us later */
    for (size_t i = 0; i < options.connections; i++) open_connection(&connections[i], options.port);

    int64_t phases[3] = {now()};
    for (size_t i = 0; i < options.connections; i++) {
        connections[i].index = i;
        make_requests(&connections[i], &options);
    }
    phases[1] = now();
    drive(connections, &options, phases[1], latencies);
    phases[2] = now();

    tell(&options, latencies, phases);
    printf("%zu sets\n", options.count);
    return 0;
}
