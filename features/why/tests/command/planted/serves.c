/* A daemon that works when it starts, and forks a child for each connection that works, too; and its client. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;
__attribute__((noinline)) void at_start(void) { for (unsigned i = 0; i < 1000000; i++) sink += i; }
__attribute__((noinline)) void serve(void) { for (unsigned i = 0; i < SERVE; i++) sink += i; }
__attribute__((noinline)) void afterwards(void) { for (unsigned i = 0; i < 1000000; i++) sink += i; }
static void end(int number) { afterwards(); _exit(0); }

int main(int words, char **word)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(word[2])),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char byte = 'x';
    if (word[1][0] == 'c') {
        for (int i = 0; i < 3; i++) {
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            if (connect(fd, (struct sockaddr *)&address, sizeof address) || read(fd, &byte, 1) != 1)
                return 1;
            close(fd);
        }
        return 0;
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    signal(SIGTERM, end);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    at_start();
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 5))
        return 1;
    puts("listening");
    fflush(stdout);
    for (;;) {
        int connection = accept(fd, 0, 0);
        if (connection < 0)
            continue;
        pid_t child = fork();
        if (child == 0) {
            serve();
            write(connection, &byte, 1);
            _exit(0);
        }
        close(connection);
        waitpid(child, 0, 0);
    }
}
