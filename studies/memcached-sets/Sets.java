import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import net.spy.memcached.ConnectionFactory;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.ops.ArrayOperationQueueFactory;

/**
 * Hands sets of one fixed size to spymemcached, waits until all of them are processed, and marks both parts as
 * phases. A program that fills a cache does the same: it keeps no answers, and asks for none.
 *
 * <p>It does not check that the server received the sets: a client that dropped some cannot be asked whether it did.
 * check-sets.sh asks the server. It is compiled once, for Java 8, against the oldest client of the study; every JVM and
 * every client executes the same class file.
 */
public final class Sets {
    private static final int EXPIRES_AFTER_S = 300;
    private static final int READ_BUFFER = 32_768;

    // How long we wait for the queue. The client's own patience is an argument: a set that was queued for longer is
    // dropped, without a word, and the queue is empty all the same.
    private static final int PATIENCE_S = 120;

    // What is queued beyond this blocks, and gives up after ten seconds: all sets must fit.
    private static final int SPARE_QUEUE = 50_000;

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        int size = Integer.parseInt(arguments[2]);
        long timeoutMs = Long.parseLong(arguments[3]);
        checkLevels();
        quiet();

        ConnectionFactory factory = new ConnectionFactoryBuilder()
            .setOpQueueFactory(new ArrayOperationQueueFactory(count + SPARE_QUEUE))
            .setReadBufferSize(READ_BUFFER)
            .setOpTimeout(timeoutMs)
            .setDaemon(true)    // or its thread would keep a program alive that has failed
            .build();
        MemcachedClient client =
            new MemcachedClient(factory, Collections.singletonList(new InetSocketAddress("127.0.0.1", port)));
        String value = String.join("", Collections.nCopies(size, "a"));

        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            client.set("k" + i, EXPIRES_AFTER_S, value);
        }
        long queued = System.nanoTime();
        boolean completed = client.waitForQueues(PATIENCE_S, TimeUnit.SECONDS);
        long ended = System.nanoTime();

        client.shutdown();
        if (!completed) {
            fail("the queue was not empty after " + PATIENCE_S + " s");
        }
        mark(began, queued, ended, count);
        System.out.println(count + " sets");
    }

    /** Each trial proves its own levels: a flag that does nothing is not an answer. */
    private static void checkLevels() {
        expect("the JVM", System.getenv("JVM"), System.getProperty("java.specification.version"));
        expect("assertions", System.getenv("ASSERTIONS"), MemcachedClient.class.desiredAssertionStatus() ? "-ea" : "-da");
        String version = MemcachedClient.class.getPackage().getImplementationVersion();
        expect("the client", System.getenv("CLIENT"), "spymemcached-" + version);
    }

    private static void expect(String what, String wanted, String found) {
        if (!found.equals(wanted)) {
            fail(what + " should be " + wanted + " and is " + found);
        }
    }

    private static void fail(String why) {
        System.err.println("Sets: " + why);
        System.exit(1);
    }

    /** The client tells of each connection at INFO; warnings still come through. */
    private static void quiet() {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        Logger.getLogger("net.spy").setLevel(Level.WARNING);
    }

    /** System.nanoTime is CLOCK_MONOTONIC here, so marks can be written when all is over. */
    private static void mark(long began, long queued, long ended, int count) throws IOException {
        String descriptor = System.getenv("BAKEOFF_MARKS");
        try (PrintStream marks = new PrintStream(new FileOutputStream("/dev/fd/" + (descriptor == null ? "2" : descriptor)))) {
            marks.printf(Locale.ROOT, "phase queue @%.9f%n", began / 1e9);
            marks.printf(Locale.ROOT, "phase complete @%.9f%n", queued / 1e9);
            marks.printf(Locale.ROOT, "phase close @%.9f%n", ended / 1e9);
            marks.printf(Locale.ROOT, "value rate %.3f /s%n", count / ((ended - began) / 1e9));
        }
    }
}
